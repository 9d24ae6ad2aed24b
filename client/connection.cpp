#include "client/connection.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <utility>
#include <vector>

namespace shortq::detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMessagesPerRound = 64;  // Between two looks at the clock and the callers.

// Signals belong to the program's own threads.
void block_signals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

std::uint64_t key(RequestNumber number) { return static_cast<std::uint64_t>(number); }

}  // namespace

Connection::Connection(ConnectOptions options)
    : connect_timeout_(options.connect_timeout),
      server_key_(options.server_key),
      session_(std::move(options), static_cast<std::uint64_t>(::getpid())) {
    session_.start(Clock::now());
    thread_ = std::thread([this] { run(); });
}

Connection::~Connection() {
    close();
    thread_.join();
}

void Connection::close() {
    {
        const std::lock_guard lock(mutex_);
        session_.stop();
        stopping_ = true;
        wake();
    }
}

Result<void> Connection::wait_until_open() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, connect_timeout_,
                      [&] { return session_.phase() != Session::Phase::kGreeting; });
    if (session_.phase() == Session::Phase::kOpen) return {};
    return tl::unexpected(session_.connect_error());
}

// ---- Requests ----

Submitted Connection::submit(proto::Mode mode, std::string_view text, const Parameters& parameters,
                             const QueryOptions& options) {
    std::promise<Result<Table>> promise;
    Submitted submitted{{}, promise.get_future()};
    {
        const std::lock_guard lock(mutex_);
        auto number = session_.submit(Clock::now(), {mode, text, &parameters, &options, false});
        if (!number) {
            promise.set_value(tl::unexpected(std::move(number.error())));
            return submitted;
        }
        submitted.number = *number;
        promises_.emplace(key(*number), std::move(promise));
        wake();
    }
    return submitted;
}

Result<RequestNumber> Connection::async(std::string_view text, const Parameters& parameters,
                                        const QueryOptions& options) {
    const std::lock_guard lock(mutex_);
    auto number =
        session_.submit(Clock::now(), {proto::Mode::kDeferred, text, &parameters, &options, false});
    if (number) {
        async_.insert(key(*number));
        wake();
    }
    return number;
}

Result<Arrived> Connection::wait(std::optional<std::chrono::milliseconds> limit) {
    std::unique_lock lock(mutex_);
    const auto over = [&] { return !inbox_.empty() || async_.empty(); };
    if (!limit) {
        changed_.wait(lock, over);
    } else if (!changed_.wait_for(lock, *limit, over)) {
        return fail(ErrorCode::kTimeout, "no reply arrived in the time given to wait_for()");
    }
    if (inbox_.empty()) return fail(ErrorCode::kNotFound, "no async request is under way");
    auto arrived = std::move(inbox_.front());
    inbox_.pop_front();
    return arrived;
}

void Connection::cancel(RequestNumber number) {
    {
        const std::lock_guard lock(mutex_);
        session_.cancel(number);
        wake();
    }
}

ServerInfo Connection::server() const {
    const std::lock_guard lock(mutex_);
    return session_.server();
}

// ---- Streams ----

Result<RequestNumber> Connection::begin_stream(std::string_view text, const Parameters& parameters,
                                               const QueryOptions& options) {
    const std::lock_guard lock(mutex_);
    auto number =
        session_.submit(Clock::now(), {proto::Mode::kDeferred, text, &parameters, &options, true});
    if (number) {
        readings_.try_emplace(key(*number));
        wake();
    }
    return number;
}

Connection::Rows Connection::next(RequestNumber stream) {
    std::unique_lock lock(mutex_);
    auto& reading = readings_.at(key(stream));
    changed_.wait(lock, [&] { return !reading.pieces.empty() || reading.end; });
    if (reading.pieces.empty()) return {*reading.end, 0, true};
    auto piece = std::move(reading.pieces.front());
    reading.pieces.pop_front();
    return {std::move(piece.rows), piece.bytes, false};
}

void Connection::took(RequestNumber stream, std::uint64_t bytes) {
    {
        const std::lock_guard lock(mutex_);
        session_.took(stream, bytes);
        wake();
    }
}

void Connection::forget(RequestNumber stream) {
    {
        const std::lock_guard lock(mutex_);
        const auto found = readings_.find(key(stream));
        if (!found->second.end) session_.cancel(stream);
        readings_.erase(found);
        wake();
    }
}

// ---- The thread ----

// Pre: locked. A thread that is awake looks at everything before it sleeps again, so a row of
// requests costs one wake-up.
void Connection::wake() {
    if (std::exchange(asleep_, false)) wakeup_.ring();
}

void Connection::run() {
    block_signals();
    try {
        serve();
    } catch (const std::exception& error) {
        give_up(error.what());
    }
}

void Connection::serve() {
    Transport transport(server_key_);
    while (carry_out(transport)) {
        if (transport.wait(wakeup_.descriptor(), until_wake())) wakeup_.clear();
        read(transport);
    }
}

// Out of descriptors or memory: nobody may wait for a thread that is gone. Goes by who waits, not
// by the session: an answer may have been under way when the thread failed.
void Connection::give_up(const std::string& why) {
    const Error error{ErrorCode::kInternal, "the client's connection failed: " + why, {}};
    const std::lock_guard lock(mutex_);
    session_.abandon(error);
    static_cast<void>(session_.take_actions());
    for (const auto number : async_) {
        inbox_.push_back({RequestNumber{number}, tl::unexpected(error)});
    }
    async_.clear();
    for (auto& [number, promise] : promises_) promise.set_value(tl::unexpected(error));
    promises_.clear();
    for (auto& [number, reading] : readings_) {
        if (!reading.end) reading.end = tl::unexpected(error);
    }
    changed_.notify_all();
}

std::chrono::milliseconds Connection::until_wake() const {
    using std::chrono::milliseconds;
    const std::lock_guard lock(mutex_);
    const auto wake = session_.next_wake();
    if (wake == Time::max()) return milliseconds(-1);
    return std::max(std::chrono::ceil<milliseconds>(wake - Clock::now()), milliseconds(0));
}

void Connection::read(Transport& transport) {
    const auto changes = transport.changes();
    bool drained = false;
    for (int i = 0; i < kMessagesPerRound && !drained; ++i) {
        const auto frames = transport.receive();
        drained = !frames;
        if (!frames) continue;
        const std::lock_guard lock(mutex_);
        session_.receive(Clock::now(), *frames);
    }
    if (!drained) return;  // Silence is judged only once everything that came was heard.
    const std::lock_guard lock(mutex_);
    if (changes.disconnected) session_.disconnected(Clock::now());
    if (changes.handshake != Transport::Handshake::kFine) {
        session_.handshake_failed(Clock::now(),
                                  changes.handshake == Transport::Handshake::kMismatch);
    }
    if (changes.refused) session_.refused(Clock::now());
    session_.tick(Clock::now());
}

// False once the client is closing and everything has been told.
bool Connection::carry_out(Transport& transport) {
    std::vector<Action> actions;
    bool goes_on = true;
    bool news = false;  // For callers that wait.
    {
        const std::lock_guard lock(mutex_);
        actions = session_.take_actions();
        goes_on = !stopping_;
        news = !actions.empty() || !goes_on || session_.phase() != told_phase_;
        told_phase_ = session_.phase();
        asleep_ = true;  // Soon: from here on what is new needs a ring.
    }
    for (auto& action : actions) {
        if (auto* open = std::get_if<Open>(&action)) transport.open(open->endpoint);
        if (auto* send = std::get_if<Send>(&action)) transport.send(send->frames, send->bundled);
        if (auto* told = std::get_if<Progressed>(&action)) told->tell(told->progress);
        if (auto* piece = std::get_if<Piece>(&action)) deliver(std::move(*piece));
        if (auto* answer = std::get_if<Answer>(&action)) deliver(std::move(*answer));
    }
    transport.flush();
    if (news) changed_.notify_all();
    return goes_on;
}

void Connection::deliver(Piece piece) {
    const std::lock_guard lock(mutex_);
    const auto reading = readings_.find(key(piece.number));
    if (reading == readings_.end()) return;  // Forgotten.
    reading->second.pieces.push_back({std::move(piece.rows), piece.bytes});
}

void Connection::deliver(Answer answer) {
    std::unique_lock lock(mutex_);
    const auto reading = readings_.find(key(answer.number));
    if (reading != readings_.end()) {
        reading->second.end = std::move(answer.reply);
        return;
    }
    if (async_.erase(key(answer.number)) > 0) {
        inbox_.push_back({answer.number, std::move(answer.reply)});
        return;
    }
    const auto found = promises_.find(key(answer.number));
    if (found == promises_.end()) return;  // A stream that was forgotten.
    auto promise = std::move(found->second);
    promises_.erase(found);
    lock.unlock();
    promise.set_value(std::move(answer.reply));
}

}  // namespace shortq::detail
