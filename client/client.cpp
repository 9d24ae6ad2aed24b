#include "shortq/client.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "client/session.h"
#include "client/transport.h"
#include "client/wakeup.h"

namespace shortq {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMessagesPerRound = 64;  // Between two looks at the clock and the callers.

}  // namespace

// The session under a mutex, and the thread that carries out its actions. Callers change the
// session and ring; only the thread touches the socket, and only it fulfils promises.
class Client::Impl {
public:
    explicit Impl(ConnectOptions options)
        : connect_timeout_(options.connect_timeout),
          session_(std::move(options), static_cast<std::uint64_t>(::getpid())) {
        session_.start(Clock::now());
        thread_ = std::thread([this] { run(); });
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() {
        {
            const std::lock_guard lock(mutex_);
            session_.stop();
            stopping_ = true;
        }
        wakeup_.ring();
        thread_.join();
    }

    Result<void> wait_until_open() {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, connect_timeout_,
                          [&] { return session_.phase() != detail::Session::Phase::kGreeting; });
        if (session_.phase() == detail::Session::Phase::kOpen) return {};
        return tl::unexpected(session_.connect_error());
    }

    Submitted submit(proto::Mode mode, std::string_view text, const Parameters& parameters,
                     const QueryOptions& options) {
        std::promise<Result<Table>> promise;
        Submitted submitted{{}, promise.get_future()};
        {
            const std::lock_guard lock(mutex_);
            auto number = session_.submit(Clock::now(), {mode, text, &parameters, &options});
            if (!number) {
                promise.set_value(tl::unexpected(std::move(number.error())));
                return submitted;
            }
            submitted.number = *number;
            promises_.emplace(static_cast<std::uint64_t>(*number), std::move(promise));
        }
        wakeup_.ring();
        return submitted;
    }

    Result<RequestNumber> async(std::string_view text, const Parameters& parameters,
                                const QueryOptions& options) {
        const std::lock_guard lock(mutex_);
        auto number =
            session_.submit(Clock::now(), {proto::Mode::kDeferred, text, &parameters, &options});
        if (number) {
            ++async_open_;
            wakeup_.ring();
        }
        return number;
    }

    Result<Arrived> wait(std::optional<std::chrono::milliseconds> limit) {
        std::unique_lock lock(mutex_);
        const auto over = [&] { return !inbox_.empty() || async_open_ == 0; };
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

    void cancel(RequestNumber number) {
        {
            const std::lock_guard lock(mutex_);
            session_.cancel(number);
        }
        wakeup_.ring();
    }

    ServerInfo server() const {
        const std::lock_guard lock(mutex_);
        return session_.server();
    }

private:
    // ---- the thread ----

    void run() {
        block_signals();
        try {
            serve();
        } catch (const std::exception& error) {
            give_up(error.what());
        }
    }

    void serve() {
        detail::Transport transport;
        while (carry_out(transport)) {
            transport.wait(wakeup_.descriptor(), until_wake());
            wakeup_.clear();
            read(transport);
        }
    }

    // Out of descriptors or memory: nobody may wait for a thread that is gone. Goes by the
    // promises, not by the session: an answer may have been under way when the thread failed.
    void give_up(const std::string& why) {
        const Error error{ErrorCode::kInternal, "the client's connection failed: " + why, {}};
        const std::lock_guard lock(mutex_);
        session_.abandon(error);
        for (auto& action : session_.take_actions()) {
            auto* answer = std::get_if<detail::Answer>(&action);
            if (answer == nullptr || promises_.contains(static_cast<std::uint64_t>(answer->number)))
                continue;
            inbox_.push_back({answer->number, std::move(answer->reply)});
        }
        for (auto& [number, promise] : promises_) promise.set_value(tl::unexpected(error));
        promises_.clear();
        async_open_ = 0;
        changed_.notify_all();
    }

    // Signals belong to the program's own threads.
    static void block_signals() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, nullptr);
    }

    std::chrono::milliseconds until_wake() const {
        using std::chrono::milliseconds;
        const std::lock_guard lock(mutex_);
        const auto wake = session_.next_wake();
        if (wake == detail::Time::max()) return milliseconds(-1);
        return std::max(std::chrono::ceil<milliseconds>(wake - Clock::now()), milliseconds(0));
    }

    void read(detail::Transport& transport) {
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
        if (changes.refused) session_.refused(Clock::now());
        session_.tick(Clock::now());
    }

    // False once the client is closing and everything has been told.
    bool carry_out(detail::Transport& transport) {
        std::vector<detail::Action> actions;
        bool goes_on = true;
        {
            const std::lock_guard lock(mutex_);
            actions = session_.take_actions();
            goes_on = !stopping_;
        }
        for (auto& action : actions) {
            if (auto* open = std::get_if<detail::Open>(&action)) transport.open(open->endpoint);
            if (auto* send = std::get_if<detail::Send>(&action)) transport.send(send->frames);
            if (auto* answer = std::get_if<detail::Answer>(&action)) deliver(std::move(*answer));
        }
        changed_.notify_all();
        return goes_on;
    }

    void deliver(detail::Answer answer) {
        std::unique_lock lock(mutex_);
        const auto found = promises_.find(static_cast<std::uint64_t>(answer.number));
        if (found == promises_.end()) {
            --async_open_;
            inbox_.push_back({answer.number, std::move(answer.reply)});
            return;
        }
        auto promise = std::move(found->second);
        promises_.erase(found);
        lock.unlock();
        promise.set_value(std::move(answer.reply));
    }

    const std::chrono::milliseconds connect_timeout_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    detail::Session session_;
    std::unordered_map<std::uint64_t, std::promise<Result<Table>>> promises_;
    std::deque<Arrived> inbox_;   // Replies to async() requests.
    std::size_t async_open_ = 0;  // Those without a reply yet.
    bool stopping_ = false;
    detail::Wakeup wakeup_;
    std::thread thread_;
};

Result<Client> Client::connect(ConnectOptions options) {
    if (options.endpoints.empty()) return fail(ErrorCode::kBadRequest, "no endpoint given");
    for (const auto& endpoint : options.endpoints) {
        if (auto checked = detail::Transport::check(endpoint); !checked) {
            return tl::unexpected(std::move(checked.error()));
        }
    }
    auto impl = std::make_shared<Impl>(std::move(options));
    if (auto open = impl->wait_until_open(); !open) return tl::unexpected(std::move(open.error()));
    return Client(std::move(impl));
}

Client::Client(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Result<Table> Client::sync(std::string_view text, const Parameters& parameters,
                           const QueryOptions& options) {
    return submit_sync(text, parameters, options).reply.get();
}

Result<Table> Client::deferred(std::string_view text, const Parameters& parameters,
                               const QueryOptions& options) {
    return submit(text, parameters, options).reply.get();
}

Result<RequestNumber> Client::async(std::string_view text, const Parameters& parameters,
                                    const QueryOptions& options) {
    return impl_->async(text, parameters, options);
}

Result<Arrived> Client::wait() { return impl_->wait(std::nullopt); }
Result<Arrived> Client::wait_for(std::chrono::milliseconds limit) { return impl_->wait(limit); }

Submitted Client::submit(std::string_view text, const Parameters& parameters,
                         const QueryOptions& options) {
    return impl_->submit(proto::Mode::kDeferred, text, parameters, options);
}

Submitted Client::submit_sync(std::string_view text, const Parameters& parameters,
                              const QueryOptions& options) {
    return impl_->submit(proto::Mode::kSync, text, parameters, options);
}

void Client::cancel(RequestNumber number) { impl_->cancel(number); }
ServerInfo Client::server() const { return impl_->server(); }

std::string_view version() noexcept { return SHORTQ_VERSION; }

}  // namespace shortq
