#include "primary/fork_servers.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>
#include <variant>

namespace shortq::primary {
namespace {

// So many orders fit into a channel with room to spare: to send one never waits.
constexpr std::size_t kSentMax = 16;
// A fork of 400 GB takes five seconds.
constexpr std::chrono::seconds kAnswerPatience{10};
// For the answer to an order that was withdrawn: somebody waits for its end.
constexpr std::chrono::seconds kWithdrawnPatience{1};

// Whether it was there, and no longer is.
bool remove(std::vector<core::WorkerId>& from, core::WorkerId worker) {
    return std::erase(from, worker) > 0;
}

bool contains(const std::vector<std::uint32_t>& generations, std::uint32_t generation) {
    return std::ranges::find(generations, generation) != generations.end();
}

void note_no_successor(std::uint32_t generation, const Error& error) {
    spdlog::warn(
        "the fork server of generation {} cannot load again: {}{}{}; its workers serve on, and the "
        "next one that has to be replaced has it tried once more",
        generation, error.where, error.where.empty() ? "" : ": ", error.message);
}

}  // namespace

ForkServers::ForkServers(Callbacks callbacks)
    : callbacks_(std::move(callbacks)),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
    if (!timer_) throw std::system_error(errno, std::system_category(), "timerfd");
    callbacks_.watch(timer_.get(), [this] { judge(); });
}

ForkServers::~ForkServers() {
    callbacks_.unwatch(timer_.get());
    for (const auto& server : servers_) {
        callbacks_.unwatch(server.process.channel_fd());
        callbacks_.unwatch(server.process.pidfd());
    }
}

bool ForkServers::cannot_fork(std::uint32_t generation) const {
    return contains(cannot_fork_, generation);
}

bool ForkServers::has(pid_t pid) const {
    return std::ranges::any_of(servers_,
                               [pid](const Server& server) { return server.process.pid() == pid; });
}

ForkServers::Server* ForkServers::find(std::uint32_t generation) {
    const auto found = std::ranges::find_if(
        servers_, [&](const Server& server) { return server.process.generation() == generation; });
    return found == servers_.end() ? nullptr : &*found;
}

Result<ForkServers::Server*> ForkServers::start(std::uint32_t generation) {
    auto process = ForkServer::start(generation, callbacks_.program(generation));
    if (!process) return tl::unexpected(process.error());
    spdlog::debug("fork server of generation {} (pid {}) is loading", generation, process->pid());
    callbacks_.watch(process->channel_fd(), [this, generation] { read(generation); });
    callbacks_.watch(process->pidfd(), [this, generation] { ended(generation); });
    return &servers_.emplace_back(Server{std::move(*process)});
}

Result<void> ForkServers::ask(std::uint32_t generation, core::WorkerId worker) {
    auto* server = find(generation);
    if (server == nullptr) {
        auto started = start(generation);
        if (!started) return tl::unexpected(started.error());
        server = *started;
    }
    server->waiting.push_back(worker);
    if (server->process.loaded()) send_waiting(*server);
    return {};
}

void ForkServers::send_waiting(Server& server) {
    while (server.sent.size() < kSentMax && !server.waiting.empty()) {
        const auto worker = server.waiting.front();
        server.waiting.erase(server.waiting.begin());
        const auto ordered = callbacks_.order(server.process, worker);
        if (!ordered && ordered.error().code != ErrorCode::kUnavailable) {
            callbacks_.failed(worker, ordered.error().message);
            continue;
        }
        // Or the server is gone. Its pidfd will tell, and the order is asked again.
        server.sent.push_back(worker);
        if (server.sent.size() > 1) continue;
        server.due = Clock::now() + kAnswerPatience;
        tick(true);
    }
}

bool ForkServers::withdraw(core::WorkerId worker) {
    for (auto& server : servers_) {
        if (!remove(server.waiting, worker)) continue;
        if (server.waiting.empty() && !server.process.loaded()) {
            server.unneeded = true;
            server.process.kill();
        }
        return true;
    }
    for (auto& server : servers_) {
        if (std::ranges::find(server.sent, worker) == server.sent.end()) continue;
        server.withdrawn.push_back(worker);
        server.due = std::min(server.due, Clock::now() + kWithdrawnPatience);
    }
    return false;
}

void ForkServers::born(core::WorkerId worker) {
    for (auto& server : servers_) {
        if (!answered(server, worker)) remove(server.waiting, worker);
    }
}

void ForkServers::retire(std::uint32_t generation) {
    over_.push_back(generation);
    if (auto* server = find(generation)) server->process.kill();
}

void ForkServers::retire_before(std::uint32_t generation) {
    first_ = generation;
    const auto earlier = [&](std::uint32_t number) { return number < generation; };
    std::erase_if(over_, earlier);
    std::erase_if(cannot_fork_, earlier);
    for (auto& server : servers_) {
        if (earlier(server.process.generation())) server.process.kill();
    }
}

// ---- Reports

void ForkServers::read_all() {
    std::vector<std::uint32_t> generations;
    for (const auto& server : servers_) generations.push_back(server.process.generation());
    for (const auto generation : generations) read(generation);
}

void ForkServers::read(std::uint32_t generation) {
    // One at a time: what a report leads to may end the server.
    while (auto* server = find(generation)) {
        const auto report = server->process.next_report();
        if (!report) return;
        std::visit([&](const auto& one) { on(*server, one); }, *report);
    }
}

void ForkServers::on(Server& server, const BaseLoaded& loaded) {
    spdlog::info("generation {} is loaded: {:.1f} MB in {:.2f} s, shared by its workers",
                 server.process.generation(), static_cast<double>(loaded.base_bytes) / 1e6,
                 static_cast<double>(loaded.load_us) / 1e6);
    server.process.set_loaded();
    send_waiting(server);
}

void ForkServers::on(Server& server, const BaseFailed& failed) { give_up(server, failed.error); }

void ForkServers::on(Server& server, const CannotFork& cannot) {
    const auto generation = server.process.generation();
    spdlog::warn("generation {}: each worker loads for itself, as with --spawn exec: {}",
                 generation, cannot.reason);
    cannot_fork_.push_back(generation);
    auto waiting = std::exchange(server.waiting, {});
    server.unneeded = true;
    server.process.kill();
    for (const auto worker : waiting) callbacks_.alone(worker);
}

void ForkServers::on(Server& server, const Forked& forked) {
    const core::WorkerId worker{forked.worker};
    if (answered(server, worker)) callbacks_.forked(worker, static_cast<pid_t>(forked.pid));
}

void ForkServers::on(Server& server, const ForkFailed& failed) {
    const core::WorkerId worker{failed.worker};
    if (answered(server, worker)) callbacks_.failed(worker, failed.reason);
}

// Whether the answer was waited for.
bool ForkServers::answered(Server& server, core::WorkerId worker) {
    if (!remove(server.sent, worker)) return false;
    remove(server.withdrawn, worker);
    send_waiting(server);
    server.due = Clock::now() + (server.withdrawn.empty() ? kAnswerPatience : kWithdrawnPatience);
    return true;
}

// ---- Servers that do not answer

void ForkServers::tick(bool on) {
    if (std::exchange(ticking_, on) == on) return;  // To start it again would put off the next one.
    const timespec interval{.tv_sec = on ? 1 : 0, .tv_nsec = 0};
    const itimerspec ticks{.it_interval = interval, .it_value = interval};
    ::timerfd_settime(timer_.get(), 0, &ticks, nullptr);
}

void ForkServers::judge() {
    std::uint64_t ticks = 0;
    [[maybe_unused]] const auto got = ::read(timer_.get(), &ticks, sizeof ticks);
    read_all();  // A primary that was paused finds the answers there.
    if (std::ranges::all_of(servers_, [](const Server& server) { return server.sent.empty(); }))
        return tick(false);
    for (auto& server : servers_) {
        if (server.sent.empty() || Clock::now() < server.due) continue;
        spdlog::warn("the fork server of generation {} (pid {}) does not answer: it is killed",
                     server.process.generation(), server.process.pid());
        server.process.kill();
    }
}

// The load failed: for whoever waits, and for whoever will ask before the server is gone.
void ForkServers::give_up(Server& server, const Error& error) {
    const auto generation = server.process.generation();
    auto waiting = std::exchange(server.waiting, {});
    server.failure = error;
    server.process.kill();
    if (waiting.empty()) return note_no_successor(generation, error);
    callbacks_.load_failed(generation, waiting.front(), error);
    for (const auto worker : waiting) callbacks_.failed(worker, error.message);
}

// ---- Ends

ForkServers::Server ForkServers::take(std::uint32_t generation) {
    const auto place = servers_.begin() + (find(generation) - servers_.data());
    auto server = std::move(*place);
    servers_.erase(place);
    return server;
}

void ForkServers::ended(std::uint32_t generation) {
    read(generation);  // Its last words.
    auto* server = find(generation);
    if (server == nullptr) return;
    const auto status = server->process.reap();
    if (!status) return;
    callbacks_.unwatch(server->process.channel_fd());
    callbacks_.unwatch(server->process.pidfd());
    bury(take(generation), *status);
    callbacks_.ended();
}

// What becomes of its orders.
void ForkServers::bury(Server dead, const ExitStatus& status) {
    const auto generation = dead.process.generation();
    for (const auto worker : dead.withdrawn) {
        remove(dead.sent, worker);
        callbacks_.failed(worker, "stopped before it was forked");
    }
    const bool over = generation < first_ || contains(over_, generation);
    if (dead.process.loaded() && !over) {
        spdlog::warn(
            "the fork server of generation {} (pid {}) died: {}; its workers serve on, another one "
            "is loading",
            generation, dead.process.pid(), describe(status));
        return replace(std::move(dead));
    }
    // Somebody asked after all, before it was gone.
    if (dead.unneeded && !dead.waiting.empty() && !over) return replace(std::move(dead));
    if (!dead.process.loaded() && !dead.unneeded && !over) note_failed_load(dead, status);
    for (const auto* orders : {&dead.sent, &dead.waiting}) {
        for (const auto worker : *orders) callbacks_.failed(worker, "its fork server is gone");
    }
}

void ForkServers::note_failed_load(const Server& dead, const ExitStatus& status) {
    const auto generation = dead.process.generation();
    const auto error = dead.failure.value_or(
        Error{ErrorCode::kInternal,
              fmt::format("the fork server ended while loading: {}", describe(status)),
              fmt::format("generation {}", generation), false});
    if (!dead.waiting.empty()) {
        callbacks_.load_failed(generation, dead.waiting.front(), error);
    } else if (!dead.failure) {  // Else it was told when it failed.
        note_no_successor(generation, error);
    }
}

void ForkServers::replace(Server dead) {
    // Whether what was sent had been forked is not known. A process that was tells so by its hello,
    // or comes too late for that, and finds that nobody knows its token.
    auto orders = std::move(dead.sent);
    orders.insert(orders.end(), dead.waiting.begin(), dead.waiting.end());
    const auto started = start(dead.process.generation());
    if (started) {
        (*started)->waiting = std::move(orders);
        return;
    }
    spdlog::error("no new fork server: {}", started.error().message);
    for (const auto worker : orders) callbacks_.failed(worker, started.error().message);
}

}  // namespace shortq::primary
