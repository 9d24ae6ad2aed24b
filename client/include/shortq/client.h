// shortq/client.h: the C++ client: hopen, sync and deferred sync, for shortq servers.
// Protocol: proto/PROTOCOL.md. This header and those it includes are the whole public API.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/error.h"
#include "proto/value.h"
#include "shortq/table.h"

namespace shortq {

namespace detail {
class Connection;
}

enum class RequestPriority : std::uint8_t { kHigh = 0, kNormal = 1, kLow = 2 };

struct ConnectOptions {
    std::vector<std::string> endpoints{"tcp://127.0.0.1:5001"};  // More than one: failover.
    // Until the first welcome. 0: 5 s, or 10 s with a password, for a server takes its time after
    // wrong ones.
    std::chrono::milliseconds connect_timeout{0};
    // Keep trying within connect_timeout until a worker can answer, not only the primary.
    bool wait_until_ready = false;
    std::string agent{};  // Program and version, in shortq.clients. Empty: the library's own.
    std::string user{};
    // For a server that was started with --users; kept for reconnecting. Empty: none.
    std::string password{};
    // Public key of a server that was started with --curve-keys: its 40 characters, or the name of
    // the file that --make-keys wrote. All is encrypted then. Empty: nothing is.
    std::string server_key{};
};

// How far a request is, as far as is known.
struct Progress {
    double fraction = -1;     // Done, in [0, 1]; negative: the engine does not know, or is silent.
    std::uint64_t rows = 0;   // Arrived so far.
    std::uint64_t bytes = 0;  // Of them, on the wire.
};
using ProgressCallback = std::function<void(const Progress&)>;

struct QueryOptions {
    std::chrono::milliseconds timeout{0};  // Whole budget, queueing and delivery included; 0: none.
    RequestPriority priority = RequestPriority::kNormal;
    std::uint32_t min_generation = 0;
    std::string service{};  // Empty: the default service.
    // Called some times a second while the query runs for longer than half a second, and with each
    // piece of a large result. On the client's own thread, or one that waits for a reply in it: it
    // must return soon, must not throw, and must not call this client.
    ProgressCallback progress{};
};

struct ServerInfo {
    std::string endpoint;
    std::string server;  // Program and version.
    std::uint32_t workers = 0;
    std::uint32_t generation = 0;
    std::uint64_t query_bytes_max = 0;
    std::uint32_t pending_max = 0;
};

// A request's number on this client, for cancel() and wait(). Never reused.
enum class RequestNumber : std::uint64_t {};

// A request under way, as a future.
struct Submitted {
    RequestNumber number{};
    std::future<Result<Table>> reply;
};

// What wait() returns: the next reply to an async() request.
struct Arrived {
    RequestNumber number{};
    Result<Table> reply;
};

// A result that is read while it arrives: any size, in bounded memory. While its reader takes its
// time, so does the server, which at last (--stall) gives up. It holds its worker until it ends or
// is destroyed: read several of them on a thread each, or one after the other, not in turns.
// Threads: one at a time. Destroying it before its end cancels the query; so does destroying the
// client, after which it gives what had arrived, then kCancelled.
class Stream {
public:
    Stream(Stream&&) noexcept;
    Stream& operator=(Stream&&) noexcept;
    ~Stream();

    // The next rows, about a megabyte of them, in the engine's order; none: that was all. Blocks.
    // The rows before were used: the server may send as much again.
    // Errors: as deferred(); in the middle of a result also kWorkerLost and kConnection, both with
    // `retryable`: the rows read so far are right, but not all. After an error, the same again.
    [[nodiscard]] Result<std::optional<Table>> next();

    // Names and types; waits for the first rows. Errors: as next().
    [[nodiscard]] Result<Schema> schema();
    // Complete once next() has given none.
    [[nodiscard]] const ReplyFacts& facts() const noexcept;
    [[nodiscard]] RequestNumber number() const noexcept;

private:
    friend class Client;
    class Impl;
    Stream(std::shared_ptr<detail::Connection> connection, RequestNumber number);
    std::unique_ptr<Impl> impl_;
};

// A connection to a primary. Reconnects by itself: deferred requests are sent again, sync requests
// end with kConnection, since they may have changed state. One that is denied then (its user has
// gone, or has another password) is finished, and each of its calls says so: connect anew.
// Threads: safe to share. A background thread serves the socket and sends heartbeats, but a call
// that waits for a reply does so itself meanwhile, unless others are under way.
class Client {
public:
    // Errors: kConnection if no endpoint answered in time; kDenied; kBadRequest for a malformed
    // endpoint or a server that speaks another protocol version.
    [[nodiscard]] static Result<Client> connect(ConnectOptions options = {});

    Client(Client&&) noexcept;
    Client& operator=(Client&&) noexcept;
    ~Client();  // Says goodbye: requests under way are cancelled.

    // Evaluates `text` in the primary's own engine, in order of arrival (kdb+: h "text").
    [[nodiscard]] Result<Table> sync(std::string_view text, const Parameters& parameters = {},
                                     const QueryOptions& options = {});

    // Runs `text` on the least-busy worker and waits for the result (kdb+: (neg h) q; h[]).
    [[nodiscard]] Result<Table> deferred(std::string_view text, const Parameters& parameters = {},
                                         const QueryOptions& options = {});

    // Sends a deferred request and returns at once; its reply comes out of wait().
    [[nodiscard]] Result<RequestNumber> async(std::string_view text,
                                              const Parameters& parameters = {},
                                              const QueryOptions& options = {});

    // The next reply to any async() request, in order of arrival. kNotFound if none is under way.
    [[nodiscard]] Result<Arrived> wait();
    [[nodiscard]] Result<Arrived> wait_for(std::chrono::milliseconds limit);  // kTimeout.

    // Sends a deferred request; the future becomes ready with its reply.
    [[nodiscard]] Submitted submit(std::string_view text, const Parameters& parameters = {},
                                   const QueryOptions& options = {});
    [[nodiscard]] Submitted submit_sync(std::string_view text, const Parameters& parameters = {},
                                        const QueryOptions& options = {});

    // Runs `text` on the least-busy worker and hands out the rows as they come.
    // Errors: as deferred() for what is wrong before it is sent; later ones come from next().
    [[nodiscard]] Result<Stream> stream(std::string_view text, const Parameters& parameters = {},
                                        const QueryOptions& options = {});

    // Asks for a request to be stopped. Its reply still comes: the result, or kCancelled.
    void cancel(RequestNumber number);

    [[nodiscard]] ServerInfo server() const;

private:
    explicit Client(std::shared_ptr<detail::Connection> connection);
    std::shared_ptr<detail::Connection> connection_;
};

// "0.1.0".
[[nodiscard]] std::string_view version() noexcept;

}  // namespace shortq
