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
// A request may wait so long for others that follow, while there are replies to be taken.
constexpr std::chrono::microseconds kBundlingTime{100};

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

Result<Table> Connection::ask(proto::Mode mode, std::string_view text, const Parameters& parameters,
                              const QueryOptions& options) {
    Lock lock(mutex_);
    auto number = session_.submit(Clock::now(), {mode, text, &parameters, &options, false});
    if (!number) return tl::unexpected(std::move(number.error()));
    std::optional<Result<Table>> reply;
    asked_.emplace(key(*number), &reply);
    if (server_ != Server::kNobody) wake();
    wait_until(lock, std::nullopt, [&] { return reply.has_value(); });
    return *std::move(reply);
}

Result<RequestNumber> Connection::async(std::string_view text, const Parameters& parameters,
                                        const QueryOptions& options) {
    Lock lock(mutex_);
    const auto now = Clock::now();
    auto number =
        session_.submit(now, {proto::Mode::kDeferred, text, &parameters, &options, false});
    if (!number) return number;
    async_.insert(key(*number));
    if (server_ == Server::kNobody) {
        send_here(lock, now);
    } else {
        wake();
    }
    return number;
}

Result<Arrived> Connection::wait(std::optional<std::chrono::milliseconds> limit) {
    Lock lock(mutex_);
    const auto over = [&] { return !inbox_.empty() || async_.empty(); };
    Until until;
    if (limit) until = Clock::now() + *limit;
    wait_until(lock, until, over);
    if (!over())
        return fail(ErrorCode::kTimeout, "no reply arrived in the time given to wait_for()");
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

// ---- Callers that wait ----

bool Connection::others_wait(unsigned mine) const {
    return waiting_ > mine || !promises_.empty() || !readings_.empty();
}

template <class Over>
void Connection::wait_until(Lock& lock, Until until, const Over& over) {
    ++waiting_;
    while (!over()) {
        if (server_ == Server::kNobody) {
            serve_here(lock, until, over);
        } else if (server_ == Server::kThread && !wanted_ && !others_wait(1)) {
            wanted_ = true;
            wake();
        }
        if (until && Clock::now() >= *until) break;
        if (over() || server_ == Server::kNobody) continue;
        if (until) {
            changed_.wait_until(lock, *until);
        } else {
            changed_.wait(lock);
        }
    }
    --waiting_;
}

template <class Over>
void Connection::serve_here(Lock& lock, Until until, const Over& over) {
    server_ = Server::kCaller;
    ++uses_;
    try {
        for (bool looked = false;; looked = true) {
            lock.unlock();
            const bool goes_on = carry_out();
            lock.lock();
            if (!goes_on || over() || (looked && until && Clock::now() >= *until)) break;
            lock.unlock();
            wait_and_read(until);
            lock.lock();
        }
    } catch (const std::exception& error) {
        if (lock.owns_lock()) lock.unlock();
        give_up(error.what());
        lock.lock();
    }
    leave(1);
}

// A row of requests goes together, if the caller has replies to take before it waits again.
void Connection::send_here(Lock& lock, Time now) {
    ++uses_;
    if (!inbox_.empty() && now < carried_out_ + kBundlingTime &&
        ++unsent_ < proto::kBundleMessagesUsual)
        return;
    server_ = Server::kCaller;
    lock.unlock();
    try {
        static_cast<void>(carry_out());
    } catch (const std::exception& error) {
        give_up(error.what());
    }
    lock.lock();
    leave(0);
}

// `mine`: how many of those that wait are the caller.
void Connection::leave(unsigned mine) {
    const bool back = stopping_ || others_wait(mine);
    server_ = back ? Server::kThread : Server::kNobody;
    if (back || looks_seldom_) returned_.notify_one();
}

// Pre: locked. Who serves and is awake looks at everything before it sleeps again, so a row of
// requests costs one wake-up.
void Connection::wake() {
    if (server_ == Server::kNobody) {
        server_ = Server::kThread;
        returned_.notify_one();
    } else if (std::exchange(asleep_, false)) {
        wakeup_.ring();
    }
}

// ---- The thread ----

void Connection::run() {
    block_signals();
    try {
        serve();
    } catch (const std::exception& error) {
        give_up(error.what());
    }
}

void Connection::serve() {
    transport_.emplace(server_key_);
    while (carry_out()) {
        if (!lend()) wait_and_read(std::nullopt);
    }
}

// If a caller wants it, until nobody has used it for a while. False: nobody does.
bool Connection::lend() {
    constexpr std::chrono::milliseconds kMoment{10};
    constexpr std::chrono::seconds kLongMoment{1};
    constexpr unsigned kMoments = 5;  // Of one and the same use, then it is a long one.
    Lock lock(mutex_);
    if (!std::exchange(wanted_, false) || stopping_) return false;
    server_ = Server::kNobody;
    changed_.notify_all();
    auto uses = uses_;
    for (unsigned moments = 0; server_ != Server::kThread; ++moments) {
        looks_seldom_ = moments > kMoments;
        const Time::duration moment = looks_seldom_ ? Time::duration(kLongMoment) : kMoment;
        returned_.wait_for(lock, moment, [&] {
            return server_ == Server::kThread || (looks_seldom_ && server_ == Server::kNobody);
        });
        if (std::exchange(uses, uses_) != uses_) {
            moments = 0;
        } else if (server_ == Server::kNobody) {
            server_ = Server::kThread;
        }
    }
    looks_seldom_ = false;
    return true;
}

// ---- Whoever serves ----

// Out of descriptors or memory: nobody may wait for a socket that is gone. Goes by who waits, not
// by the session: an answer may have been under way when it failed.
void Connection::give_up(const std::string& why) {
    const Error error{ErrorCode::kInternal, "the client's connection failed: " + why, {}};
    const std::lock_guard lock(mutex_);
    session_.abandon(error);
    static_cast<void>(session_.take_actions());
    for (const auto number : async_) {
        inbox_.push_back({RequestNumber{number}, tl::unexpected(error)});
    }
    async_.clear();
    for (auto& [number, reply] : asked_) *reply = tl::unexpected(error);
    asked_.clear();
    for (auto& [number, promise] : promises_) promise.set_value(tl::unexpected(error));
    promises_.clear();
    for (auto& [number, reading] : readings_) {
        if (!reading.end) reading.end = tl::unexpected(error);
    }
    changed_.notify_all();
}

void Connection::wait_and_read(Until until) {
    using std::chrono::milliseconds;
    auto wake = until.value_or(Time::max());
    {
        const std::lock_guard lock(mutex_);
        wake = std::min(wake, session_.next_wake());
    }
    auto longest = milliseconds(-1);
    if (wake != Time::max())
        longest = std::max(std::chrono::ceil<milliseconds>(wake - Clock::now()), milliseconds(0));
    if (transport_->wait(wakeup_.descriptor(), longest)) wakeup_.clear();
    read();
}

void Connection::read() {
    const auto changes = transport_->changes();
    bool drained = false;
    for (int i = 0; i < kMessagesPerRound && !drained; ++i) {
        const auto frames = transport_->receive();
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
bool Connection::carry_out() {
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
        unsent_ = 0;
        carried_out_ = Clock::now();
    }
    for (auto& action : actions) {
        if (auto* open = std::get_if<Open>(&action)) transport_->open(open->endpoint);
        if (auto* send = std::get_if<Send>(&action)) transport_->send(send->frames, send->bundled);
        if (auto* told = std::get_if<Progressed>(&action)) told->tell(told->progress);
        if (auto* piece = std::get_if<Piece>(&action)) deliver(std::move(*piece));
        if (auto* answer = std::get_if<Answer>(&action)) deliver(std::move(*answer));
    }
    transport_->flush();
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
    if (const auto asked = asked_.extract(key(answer.number))) {
        *asked.mapped() = std::move(answer.reply);
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
