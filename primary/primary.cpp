// primary/primary.cpp: the loop: wait, read in bounded batches, keep time.
#include "primary/primary.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "primary/curve_keys.h"

namespace shortq::primary {
namespace {

using Clock = std::chrono::steady_clock;

// Errors: throws std::runtime_error.
template <class T>
T or_throw(Result<T> result) {
    if (!result) throw std::runtime_error(one_line(result.error()));
    return std::move(*result);
}

std::string endpoint_of(const Options& options) {
    if (is_ipc(options.listen)) return options.listen;
    const bool ipv6 = options.listen.find(':') != std::string::npos;
    const bool bare = ipv6 && !options.listen.starts_with('[');
    return fmt::format("tcp://{}{}{}:{}", bare ? "[" : "", options.listen, bare ? "]" : "",
                       options.port);
}

std::string secret_key_of(const Options& options) {
    return options.curve_keys.empty() ? std::string()
                                      : or_throw(read_secret_key(options.curve_keys));
}

ClientDoor open_client_door(zmq::context_t& context, const Options& options) {
    const auto endpoint = endpoint_of(options);
    try {
        return ClientDoor(context, {.endpoint = endpoint,
                                    .query_bytes_max = options.query_bytes_max,
                                    .result_bytes_max = options.result_bytes_max,
                                    .pending_per_client_max = options.pending_per_client_max,
                                    .stall = options.stall,
                                    .secret_key = secret_key_of(options)});
    } catch (const zmq::error_t& error) {
        const bool taken = error.num() == EADDRINUSE;
        const bool port = taken && !is_ipc(endpoint);
        throw std::runtime_error(fmt::format("cannot listen on {}: {}; choose another {}", endpoint,
                                             taken ? "address already in use" : error.what(),
                                             port ? "with --port" : "--listen address"));
    }
}

}  // namespace

Primary::Primary(zmq::context_t& context, const Options& options, SignalFd& signals)
    : options_(options),
      signals_(signals),
      begun_(now()),
      dispatcher_(core_options(options)),
      socket_directory_(socket_base(), "shortq-run"),
      spill_directory_(spill_base(), "shortq-spill"),
      clients_(open_client_door(context, options)),
      workers_(context, socket_directory_.path(),
               [this](std::string_view token) { return supervisor_.by_token(token); }),
      supervisor_(
          options,
          {.program = or_throw(find_worker_program()),
           .endpoint = workers_.endpoint(),
           .spill_directory = spill_directory_.path()},
          {.watch = [this](int fd,
                           std::function<void()> ready) { loop_.watch(fd, std::move(ready)); },
           .unwatch = [this](int fd) { loop_.unwatch(fd); },
           .ended = [this](core::WorkerId worker) { on_worker_ended(worker); },
           .load_failed = [this](std::uint32_t generation, core::WorkerId worker,
                                 const Error& error) { load_failed(generation, worker, error); }}),
      startup_(begun_, options.workers),
      sync_([this](SyncReply reply) { inbox_.put(std::move(reply)); },
            [this](Question question) { inbox_.put(std::move(question)); }) {
    if (const auto started = sync_.start(); !started)
        throw std::runtime_error("the primary's own engine: " + one_line(started.error()));
    guard_doors();
    open_kdb_door();
    loop_.watch(signals_.fd(), [this] { read_signals(); });
    loop_.watch(inbox_.fd(), [this] { read_inbox(); });
    loop_.watch(clients_.router().descriptor(), [this] { clients_.router().on_readable(); });
    loop_.watch(workers_.router().descriptor(), [this] { workers_.router().on_readable(); });
}

Primary::~Primary() = default;

void Primary::guard_doors() {
    if (options_.users.empty()) return;
    authenticator_ =
        std::make_unique<auth::Authenticator>(or_throw(auth::read_users(options_.users)));
    clients_.guard(*authenticator_, [this](HelloJudged hello) { inbox_.put(std::move(hello)); });
}

// Who is in stays in. A file with a mistake changes nothing.
Result<void> Primary::reload_users() {
    if (!authenticator_) return {};
    auto users = auth::read_users(options_.users);
    if (!users) {
        spdlog::error("the old users stay: {}", one_line(users.error()));
        return tl::unexpected(std::move(users.error()));
    }
    authenticator_->replace(std::move(*users));
    return {};
}

core::Time Primary::now() const {
    return std::chrono::duration_cast<core::Time>(Clock::now().time_since_epoch());
}

int Primary::run() {
    step(core::Started{});
    while (!exit_status_) round();
    answer_reloads(fail(ErrorCode::kUnavailable, "the primary is leaving", "primary"));
    if (kdb_door_) kdb_door_->stop();  // Its clients hear how their requests ended.
    if (!sync_.stop(stop_requested_ ? std::chrono::nanoseconds{0} : options_.grace)) {
        // A query that ignores interruption holds its thread, and a process cannot end around it.
        // Destructors would wait for it, so they are left out, and their visible work done here.
        spdlog::warn("a sync query does not obey its interrupt; leaving without it");
        std::error_code ignored;
        std::filesystem::remove_all(socket_directory_.path(), ignored);
        std::filesystem::remove_all(spill_directory_.path(), ignored);
        std::cout.flush();
        std::_Exit(*exit_status_);
    }
    return *exit_status_;
}

void Primary::round() {
    loop_.wait(next_wake());
    keep_time(read_sockets());
    flush_doors();
}

// A loss may fill the bundles again.
void Primary::flush_doors() {
    while (!workers_.router().flushed() || !clients_.router().flushed()) {
        for (const auto worker : workers_.flush()) step(core::WorkerUnreachable{worker});
        for (const auto client : clients_.flush()) step(core::ClientLost{client});
    }
}

// To send may swallow the sign that there is something to read, so whoever was sent something is
// read once more. Batches and passes bound how long anything else waits.
bool Primary::read_sockets() {
    constexpr int kBatch = 64;
    constexpr int kPasses = 8;
    auto& workers = workers_.router();
    auto& clients = clients_.router();
    bool everything_read = true;
    for (int pass = 0; pass < kPasses && !(workers.drained() && clients.drained()); ++pass) {
        // Replies first: they make room for requests.
        const bool workers_read = workers.drained() || read_workers(kBatch);
        const bool clients_read = clients.drained() || read_clients();
        everything_read = workers_read && clients_read;
        flush_doors();
    }
    return everything_read;
}

std::optional<Clock::time_point> Primary::next_wake() {
    auto wake = next_heartbeat_;
    if (const auto due = time_due()) wake = std::min(wake, *due);
    if (const auto due = startup_.due()) wake = std::min(wake, *due);
    if (sync_.interrupting()) wake = std::min(wake, now() + SyncExecutor::kInterruptEvery);
    if (!clients_.router().drained() || !workers_.router().drained()) wake = now();
    return Clock::time_point(std::chrono::duration_cast<Clock::duration>(wake));
}

// When the core may be told the time: none, nothing is due. A late heartbeat is judged only after
// the sockets were drained: a primary that was paused finds everybody's heartbeats there. Its IO
// threads were paused as well and need a moment to bring them.
std::optional<core::Time> Primary::time_due() {
    constexpr std::chrono::milliseconds kPause{500};
    constexpr std::chrono::milliseconds kAfterPause{300};
    const auto due = dispatcher_.next_wake();
    if (!due) return std::nullopt;
    const auto time = now();
    if (time - *due > kPause && !hold_until_) hold_until_ = time + kAfterPause;
    return std::max(*due, hold_until_.value_or(*due));
}

void Primary::keep_time(bool drained) {
    // Under a load that never lets the sockets drain, deadlines still come.
    constexpr std::chrono::milliseconds kOverdueMax{200};
    const auto due = time_due();
    const auto time = now();
    if (due && *due <= time && (drained || time - *due > kOverdueMax)) {
        hold_until_.reset();
        step(core::TimeReached{});
    }
    if (time >= next_heartbeat_) {
        next_heartbeat_ = time + proto::kHeartbeatInterval;
        workers_.heartbeat_all();
    }
    if (sync_.interrupting()) sync_.repeat_interrupts();
    print_ready_line();
}

void Primary::print_ready_line() {
    const auto line = startup_.line(now(), clients_.endpoint(), serving_generation_);
    if (line) std::cout << *line << std::endl;
}

void Primary::step(const core::Event& event) {
    if (stepping_) {  // The outer call gets to it: actions never call back into the core.
        follow_ups_.push_back(event);
        return;
    }
    stepping_ = true;
    step_one(event);
    while (!follow_ups_.empty()) {
        const auto next = follow_ups_.front();
        follow_ups_.pop_front();
        step_one(next);
    }
    stepping_ = false;
}

void Primary::step_one(const core::Event& event) {
    actions_.clear();
    dispatcher_.step(now(), event, actions_);
    // By index: carrying one out may only append events, never actions.
    for (const auto& action : actions_) carry_out(action);
}

}  // namespace shortq::primary
