#include "worker/io_loop.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

namespace shortq::worker {
namespace {

constexpr std::chrono::milliseconds kInterruptInterval{10};
// A heartbeat tells how far a query is: people watch. Most queries end before the first of these.
constexpr std::chrono::milliseconds kFirstProgress{500};
constexpr std::chrono::milliseconds kProgressInterval{200};
constexpr std::chrono::milliseconds kLinger{1000};
// How long a failed worker waits to be sent away. Its exit may overtake its last message, and then
// nobody learns why the load failed; the primary's answer shows that it has arrived.
constexpr std::chrono::seconds kFailedLoadPatience{5};
// A primary that was only stopped is waited for.
constexpr std::chrono::seconds kWelcomePatience{60};
// A look at what queries have done to the memory is a system call, which a short query feels.
constexpr std::chrono::milliseconds kWearInterval{100};
constexpr std::chrono::microseconds kLookInterval{500};
constexpr int kReceiveBatch = 64;  // Then the other side's news are looked at.
// Messages of about a megabyte that may wait for a primary that does not read. Beyond, the query
// is held up.
constexpr int kSendHighWater = 64;

std::uint64_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::uint64_t size = 0;
    std::uint64_t resident = 0;
    statm >> size >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

LoadOptions load_options(const Options& options, std::unique_ptr<engine::Engine> forked,
                         std::uint64_t result_bytes_max) {
    return LoadOptions{.engine = options.engine,
                       .forked = std::move(forked),
                       .engine_options = options.engine_options,
                       .source = options.source,
                       .seat = options.seat,
                       .generation = options.generation,
                       .result_bytes_max = result_bytes_max};
}

}  // namespace

IoLoop::IoLoop(const Options& options, BoardMapping& board, zmq::context_t& context,
               std::unique_ptr<engine::Engine> forked, std::uint64_t base_bytes)
    : options_(options),
      forked_(std::move(forked)),
      query_thread_(board, wakeup_, *this),
      socket_(context, zmq::socket_type::dealer),
      descriptor_(socket_.get(zmq::sockopt::fd)),
      next_heartbeat_(Clock::now() + proto::kHeartbeatInterval) {
    if (forked_) {
        const auto& engine = options.engine_options;
        const auto limit = engine.memory_limit_bytes;
        wear_.emplace(engine.temp_directory, limit > base_bytes ? limit - base_bytes : 0);
    }
    socket_.set(zmq::sockopt::immediate, true);
    socket_.set(zmq::sockopt::linger, static_cast<int>(kLinger.count()));
    socket_.set(zmq::sockopt::rcvhwm, 0);  // The primary bounds what it gives.
    socket_.set(zmq::sockopt::sndhwm, kSendHighWater);
    socket_.connect(options.endpoint);
    Frames hello;
    hello.push_back(header_frame(proto::Hello{.role = proto::Role::kWorker,
                                              .version_max = proto::kVersionMax,
                                              .pid = static_cast<std::uint64_t>(::getpid()),
                                              .agent = "shortq-worker",
                                              .user = {},
                                              .token = board.token()}));
    send(std::move(hello));
}

int IoLoop::run() {
    while (!exit_status_ && !failure_) {
        round();
        if (!may_lend()) continue;
        query_thread_.lend_socket();
        answers_due_ = true;
    }
    query_thread_.stop();
    if (failure_) std::rethrow_exception(failure_);
    socket_.close();
    return *exit_status_;
}

void IoLoop::round() {
    wait();
    receive();
    repeat_interrupts();
    collect();
    flush();
    check_wear(Clock::now());
    heartbeat();
    check_leaving();
}

bool IoLoop::may_lend() const {
    return welcomed_ && !draining_ && !exit_status_ && !load_failed_ && backlog_.empty();
}

bool IoLoop::wait_and_serve() noexcept try {
    round();
    return may_lend();
} catch (...) {
    failure_ = std::current_exception();
    return false;
}

// Between two queries of a row, now and then a look at what else the primary says.
bool IoLoop::deliver() noexcept try {
    answers_due_ = true;
    collect();
    if (Clock::now() < last_look_ + kLookInterval) return may_lend();
    drained_ = false;  // So that it does not wait.
    round();
    return may_lend();
} catch (...) {
    failure_ = std::current_exception();
    return false;
}

std::chrono::milliseconds IoLoop::time_to_wait() const {
    auto until = next_heartbeat_;
    if (interrupting_ != 0 || draining_) until = std::min(until, next_interrupt_);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    return std::max(left, std::chrono::milliseconds(0));
}

// By descriptors: a round of zmq_poll costs a dozen system calls. The socket's tells of a change of
// state only, also of room to send, and whatever is done with the socket may swallow that: so it is
// waited for only if the last thing done was to find nothing. zmq_getsockopt(3), "ZMQ_FD".
void IoLoop::wait() {
    if (!unpacker_.done() || (!drained_ && may_go_on())) return;
    std::array<pollfd, 2> ready{{{descriptor_, POLLIN, 0}, {wakeup_.fd(), POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), static_cast<int>(time_to_wait().count())) < 0) {
        if (errno == EINTR) return;
        throw std::system_error(errno, std::generic_category(), "poll");
    }
    drained_ = ready[0].revents == 0;
    if (ready[1].revents != 0) {
        wakeup_.clear();
        answers_due_ = true;
    }
}

// Trying to send may have swallowed a sign, too, and a message that waits for room is tried again
// and again: then the socket is asked.
bool IoLoop::may_go_on() {
    if (backlog_.empty()) return true;
    return (socket_.get(zmq::sockopt::events) & (ZMQ_POLLIN | ZMQ_POLLOUT)) != 0;
}

void IoLoop::receive() {
    last_look_ = Clock::now();
    for (int count = 0; count < kReceiveBatch && receive_one(); ++count) handle();
}

bool IoLoop::receive_one() {
    if (!unpacker_.done()) return next_of_bundle();
    if (drained_) return false;
    incoming_.clear();
    do {
        zmq::message_t frame;
        // The parts of a message arrive together: only the first can be missing.
        drained_ = !socket_.recv(frame, zmq::recv_flags::dontwait);
        if (drained_) return false;
        incoming_.push_back(std::move(frame));
    } while (incoming_.back().more());
    if (incoming_.size() != 2 || !proto::is_bundle(bytes_of(incoming_.front()))) return true;
    unpacking_ = std::move(incoming_[1]);
    unpacker_ = proto::BundleReader(bytes_of(unpacking_));
    return next_of_bundle();
}

bool IoLoop::next_of_bundle() {
    incoming_.clear();
    if (const auto read = unpacker_.next(parts_); !read) {
        spdlog::warn("ignored the rest of a bundle: {}", read.error().message);
        return receive_one();
    }
    for (const auto part : parts_) incoming_.push_back(copy_frame(part));
    return true;
}

void IoLoop::handle() {
    const auto message = proto::decode(bytes_of(incoming_.front()));
    if (!message) {
        spdlog::warn("ignored a malformed message: {}", message.error().message);
        return;
    }
    const auto bodies = Bodies(incoming_).subspan(1);
    std::visit([&](const auto& decoded) { on(decoded, bodies); }, *message);
}

void IoLoop::on(const proto::Welcome& welcome, Bodies /*bodies*/) {
    if (std::exchange(welcomed_, true)) return;
    bundles_ = welcome.version >= proto::kVersionBundles;
    query_thread_.start(load_options(options_, std::move(forked_), welcome.result_bytes_max));
}

void IoLoop::on(const proto::ErrorReply& error, Bodies bodies) {
    spdlog::error("the primary refused this worker: {}: {}", name_of(error.code),
                  bodies.empty() ? std::string_view{} : bodies[0].to_string_view());
    exit_status_ = 1;
}

void IoLoop::on(const proto::Request& request, Bodies bodies) {
    if (bodies.empty() || bodies.size() > 2) {
        send(error_frames(
            {.id = request.id, .facts = {}},
            Error{ErrorCode::kBadRequest, "a request has one or two bodies", {}, false}));
        return;
    }
    Job job{.id = request.id,
            .text = std::move(bodies[0]),
            .parameters = {},
            .more = !unpacker_.done()};
    if (bodies.size() == 2) job.parameters = std::move(bodies[1]);
    query_thread_.submit(std::move(job));
    next_heartbeat_ = std::min(next_heartbeat_, Clock::now() + kFirstProgress);
}

void IoLoop::on(const proto::Recall& recall, Bodies /*bodies*/) {
    if (!query_thread_.take_back(recall.id)) return;  // It has started: its reply will come.
    Frames recalled;
    recalled.push_back(header_frame(proto::Recalled{recall.id}));
    send(std::move(recalled));
}

void IoLoop::on(const proto::Interrupt& interrupt, Bodies bodies) {
    on(proto::Recall{interrupt.id}, bodies);
    if (!query_thread_.interrupt(interrupt.id)) return;
    interrupting_ = interrupt.id;
    next_interrupt_ = Clock::now() + kInterruptInterval;
}

void IoLoop::on(const proto::Credit& credit, Bodies /*bodies*/) {
    query_thread_.grant(credit.id, credit.bytes);
}

void IoLoop::on(const proto::Drain& /*drain*/, Bodies /*bodies*/) { draining_ = true; }

void IoLoop::on(const proto::Heartbeat& /*heartbeat*/, Bodies /*bodies*/) {}

template <class Other>
void IoLoop::on(const Other& /*other*/, Bodies /*bodies*/) {
    spdlog::warn("ignored a message that is not for workers");
}

void IoLoop::repeat_interrupts() {
    if (Clock::now() < next_interrupt_) return;
    next_interrupt_ = Clock::now() + kInterruptInterval;
    if (interrupting_ != 0 && !query_thread_.interrupt(interrupting_)) interrupting_ = 0;
    if (draining_) query_thread_.interrupt_load();
}

void IoLoop::heartbeat() {
    if (Clock::now() < next_heartbeat_) return;
    const auto running = query_thread_.running();
    const auto interval = running == 0 ? proto::kHeartbeatInterval : kProgressInterval;
    next_heartbeat_ = Clock::now() + interval;
    if (!backlog_.empty()) return;  // The primary is not reading; it needs no more of these.
    Frames frames;
    frames.push_back(header_frame(proto::Heartbeat{.running = running,
                                                   .progress_ppm = query_thread_.progress_ppm(),
                                                   .rss_bytes = resident_bytes()}));
    send(std::move(frames));
}

// After a query: what it has done to the memory is known then.
void IoLoop::check_wear(Clock::time_point now) {
    if (!wear_ || !wear_due_ || now < next_wear_) return;
    wear_due_ = false;
    next_wear_ = now + kWearInterval;
    const auto why = wear_->sign(now);
    if (!why) return;
    Frames frames;
    frames.push_back(header_frame(proto::WornOut{*why}));
    send(std::move(frames));
}

void IoLoop::collect() {
    if (!answers_due_) return;      // The query thread needs the lock more.
    if (!backlog_.empty()) return;  // What is not collected holds the query up.
    answers_due_ = false;
    query_thread_.collect(outgoing_);
    for (auto& outgoing : outgoing_) {
        if (outgoing.event == Outgoing::Event::kLoadFailed && !draining_) {
            load_failed_ = Clock::now();
        }
        if (outgoing.event == Outgoing::Event::kLoaded) spdlog::info("ready");
        wear_due_ = wear_due_ || outgoing.event == Outgoing::Event::kFinal;
        send_bundled(std::move(outgoing.frames));
    }
    flush_bundle();
    outgoing_.clear();
}

void IoLoop::check_leaving() {
    if (exit_status_) return;
    if (!welcomed_ && Clock::now() >= begun_ + kWelcomePatience) {
        spdlog::warn("no answer to this worker's hello; leaving");
        exit_status_ = 1;
        return;
    }
    const bool unheard = load_failed_ && Clock::now() >= *load_failed_ + kFailedLoadPatience;
    const bool done = draining_ && query_thread_.idle() && backlog_.empty();
    if (unheard || done) exit_status_ = load_failed_ ? 1 : 0;
}

void IoLoop::send(Frames frames) {
    if (!backlog_.empty() || !try_send(frames)) backlog_.push_back(std::move(frames));
}

// Small ones that come together go together.
void IoLoop::send_bundled(Frames frames) {
    if (frames.empty()) return;
    std::size_t bytes = 0;
    for (const auto& frame : frames) bytes += frame.size();
    if (!bundles_ || !proto::BundleWriter::is_small(bytes, frames.size())) {
        flush_bundle();
        return send(std::move(frames));
    }
    if (!bundle_.has_room(bytes, frames.size())) flush_bundle();
    bundle_.begin(frames.size());
    for (const auto& frame : frames) bundle_.frame(bytes_of(frame));
}

void IoLoop::flush_bundle() {
    if (bundle_.empty()) return;
    bundle_.frames_to_send(parts_);
    Frames frames;
    frames.reserve(parts_.size());
    for (const auto part : parts_) frames.push_back(copy_frame(part));
    bundle_.clear();
    send(std::move(frames));
}

void IoLoop::flush() {
    while (!backlog_.empty() && try_send(backlog_.front())) backlog_.pop_front();
}

// False if there is no room; the message is whole then. The parts of one message go together, so
// only the first can be refused.
bool IoLoop::try_send(Frames& frames) {
    for (auto& frame : frames) {
        const bool last = &frame == &frames.back();
        const auto flags =
            zmq::send_flags::dontwait | (last ? zmq::send_flags::none : zmq::send_flags::sndmore);
        drained_ = false;
        if (!socket_.send(frame, flags)) return false;
    }
    return true;
}

}  // namespace shortq::worker
