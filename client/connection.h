// client/connection.h: the session under a mutex, and the thread that carries out its actions.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "client/session.h"
#include "client/transport.h"
#include "client/wakeup.h"
#include "shortq/client.h"

namespace shortq::detail {

// Callers change the session and ring; whoever serves the socket carries out what follows: sends,
// and hands answers to who waits for them in that way: a caller of ask() or wait(), a promise, the
// reader of a stream.
//
// That is the thread, unless a caller that would only wait does it: from thread to thread is two
// wake-ups more than many a query takes. It mostly comes back at once, so it leaves the socket to
// nobody if nobody else has anything under way. The thread looks now and then, and takes what is
// left lying.
//
//   kThread --a caller wants it, lend()--> kNobody <--> kCaller
//      ^------- others have something under way, or nobody came back ------'
//
// Threads: safe to share.
class Connection {
public:
    explicit Connection(ConnectOptions options);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection();

    [[nodiscard]] Result<void> wait_until_open();
    // Waits for the reply.
    [[nodiscard]] Result<Table> ask(proto::Mode mode, std::string_view text,
                                    const Parameters& parameters, const QueryOptions& options);
    // Says goodbye; every request ends with kCancelled.
    void close();

    [[nodiscard]] Submitted submit(proto::Mode mode, std::string_view text,
                                   const Parameters& parameters, const QueryOptions& options);
    [[nodiscard]] Result<RequestNumber> async(std::string_view text, const Parameters& parameters,
                                              const QueryOptions& options);
    [[nodiscard]] Result<Arrived> wait(std::optional<std::chrono::milliseconds> limit);
    void cancel(RequestNumber number);
    [[nodiscard]] ServerInfo server() const;

    // ---- Streams: every one that was begun is forgotten once.
    [[nodiscard]] Result<RequestNumber> begin_stream(std::string_view text,
                                                     const Parameters& parameters,
                                                     const QueryOptions& options);
    struct Rows {
        Result<Table> rows;
        std::uint64_t bytes = 0;  // For took().
        bool last = false;        // Nothing comes any more. Always with an error.
    };
    // Waits for what comes next. Pre: the last rows have not been given out.
    [[nodiscard]] Rows next(RequestNumber stream);
    void took(RequestNumber stream, std::uint64_t bytes);
    void forget(RequestNumber stream);

private:
    struct Reading {
        struct Waiting {
            Table rows;
            std::uint64_t bytes = 0;
        };
        std::deque<Waiting> pieces;
        std::optional<Result<Table>> end;  // With the last rows.
    };

    enum class Server : std::uint8_t { kThread, kCaller, kNobody };
    using Lock = std::unique_lock<std::mutex>;
    using Until = std::optional<Time>;  // None: for ever.

    // ---- The thread.
    void run();
    void serve();
    [[nodiscard]] bool lend();

    // ---- Callers that wait. Pre: locked, and so they return.
    template <class Over>
    void wait_until(Lock& lock, Until until, const Over& over);
    template <class Over>
    void serve_here(Lock& lock, Until until, const Over& over);
    void send_here(Lock& lock, Time now);
    void leave(unsigned mine);
    [[nodiscard]] bool others_wait(unsigned mine) const;

    // ---- Whoever serves.
    void wait_and_read(Until until);
    void read();
    [[nodiscard]] bool carry_out();
    void deliver(Piece piece);
    void deliver(Answer answer);
    void give_up(const std::string& why);

    void wake();

    const std::chrono::milliseconds connect_timeout_;
    const std::string server_key_;
    std::optional<Transport> transport_;  // Whoever serves uses it.
    mutable std::mutex mutex_;            // Guards all below but the thread and what wakes it.
    std::condition_variable changed_;
    Session session_;
    Session::Phase told_phase_ = Session::Phase::kGreeting;  // When callers were woken last.
    std::unordered_map<std::uint64_t, std::promise<Result<Table>>> promises_;
    std::unordered_map<std::uint64_t, std::optional<Result<Table>>*> asked_;  // By who waits.
    std::unordered_map<std::uint64_t, Reading> readings_;
    std::unordered_set<std::uint64_t> async_;  // Unanswered.
    std::deque<Arrived> inbox_;                // Answers for wait().
    bool asleep_ = false;                      // Who serves, or about to be.
    bool stopping_ = false;
    Server server_ = Server::kThread;
    bool wanted_ = false;               // By a caller, from the thread.
    std::condition_variable returned_;  // What the thread has lent.
    bool looks_seldom_ = false;         // The thread, so it has to be told.
    std::uint64_t uses_ = 0;            // Of what was lent.
    unsigned waiting_ = 0;              // Callers of ask() and wait().
    Time carried_out_{};                // When it was done last.
    unsigned unsent_ = 0;  // Requests, for a moment, so that they go with what follows.
    Wakeup wakeup_;
    std::thread thread_;
};

}  // namespace shortq::detail
