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

// Callers change the session and ring; only the thread touches the socket, and only it fulfils
// promises. A request's answer goes to whoever waits for it in that way: a promise, wait(), or the
// reader of a stream.
// Threads: safe to share.
class Connection {
public:
    explicit Connection(ConnectOptions options);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection();

    [[nodiscard]] Result<void> wait_until_open();
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

    // ---- The thread.
    void run();
    void serve();
    void give_up(const std::string& why);
    [[nodiscard]] std::chrono::milliseconds until_wake() const;
    void read(Transport& transport);
    [[nodiscard]] bool carry_out(Transport& transport);
    void wake();
    void deliver(Piece piece);
    void deliver(Answer answer);

    const std::chrono::milliseconds connect_timeout_;
    const std::string server_key_;
    mutable std::mutex mutex_;  // Guards all below but the thread and what wakes it.
    std::condition_variable changed_;
    Session session_;
    Session::Phase told_phase_ = Session::Phase::kGreeting;  // When callers were woken last.
    std::unordered_map<std::uint64_t, std::promise<Result<Table>>> promises_;
    std::unordered_map<std::uint64_t, Reading> readings_;
    std::unordered_set<std::uint64_t> async_;  // Unanswered.
    std::deque<Arrived> inbox_;                // Answers for wait().
    bool asleep_ = false;                      // The thread, or about to be.
    bool stopping_ = false;
    Wakeup wakeup_;
    std::thread thread_;
};

}  // namespace shortq::detail
