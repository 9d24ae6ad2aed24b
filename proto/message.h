// proto/message.h: frame 0 of every message between client, primary and worker.
// Layout: PROTOCOL.md#header. Pure code: no sockets, clocks, globals or logging.
//
// A message is a ZeroMQ multipart message. Frame 0 is a msgpack array [version, kind, fields...];
// the frames after it are bodies, which only the two ends look into. The structs below are frame 0,
// decoded; their string_views point into the frame they were decoded from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "proto/error.h"
#include "proto/limits.h"

namespace shortq::proto {

enum class Kind : std::uint8_t {  // On the wire: append only, never renumber or reuse.
    kHello = 1,                   // client, worker -> primary
    kWelcome = 2,                 // primary -> client, worker
    kRequest = 3,                 // client -> primary -> worker; bodies: text [, parameters]
    kCancel = 4,                  // client -> primary
    kReply = 5,                   // worker -> primary -> client; bodies: [schema,] batches
    kError = 6,                   // worker -> primary -> client; bodies: message, where
    kReady = 7,                   // worker -> primary
    kHeartbeat = 8,               // every way
    kPing = 9,                    // primary -> client; needs no answer
    kRecall = 10,                 // primary -> worker: give it back unless it has started
    kRecalled = 11,               // worker -> primary: it had not started, and will not
    kInterrupt = 12,              // primary -> worker: stop it; as kRecall if it has not started
    kDrain = 13,                  // primary -> worker: nothing more will come; finish, then leave
    kGoodbye = 14,                // client -> primary: drop me and my requests
    kCredit = 15,                 // client -> primary -> worker: so much has been taken
    kWornOut = 16,                // worker -> primary: replace me when I am idle
    kProgress = 17,               // primary -> client: how far a running request is
};

enum class Role : std::uint8_t { kClient = 0, kWorker = 1 };
enum class Mode : std::uint8_t { kDeferred = 0, kSync = 1 };
enum class Priority : std::uint8_t { kHigh = 0, kNormal = 1, kLow = 2 };
inline constexpr std::size_t kPriorities = 3;

// First message of a connection. The primary picks the highest version both sides speak.
struct Hello {
    Role role = Role::kClient;
    std::uint16_t version_min = kVersionMin;
    std::uint16_t version_max = kVersionMin;
    std::uint64_t pid = 0;
    std::string_view agent{};  // Program and version, for the clients view.
    std::string_view user{};   // Empty: anonymous.
    std::string_view token{};  // Workers only: kTokenBytes raw bytes.
    bool operator==(const Hello&) const = default;
};

// The primary's answer: the session, and the limits that the peer must keep.
struct Welcome {
    std::uint16_t version = kVersionMin;
    std::uint64_t session = 0;
    std::uint32_t workers = 0;
    std::uint32_t generation = 0;  // Serving now; 0 while the first one loads.
    std::uint64_t query_bytes_max = 0;
    std::uint64_t result_bytes_max = 0;  // 0: no limit.
    std::uint32_t pending_max = 0;       // Unanswered requests of one client.
    std::uint32_t heartbeat_ms = 0;      // Send one at least this often.
    std::string_view server{};           // Program and version.
    bool operator==(const Welcome&) const = default;
};

struct Request {
    std::uint64_t id = 0;  // Client: chosen by it, unique among its unanswered ones. Worker: the
                           // primary's own number.
    std::uint64_t session = 0;  // From the welcome. 0 towards workers.
    Mode mode = Mode::kDeferred;
    Priority priority = Priority::kNormal;
    bool streaming = false;            // The reader takes rows before the last chunk is known.
    std::uint32_t timeout_ms = 0;      // Budget left at the sender; 0 means none.
    std::uint32_t min_generation = 0;  // Wait for a worker with at least this generation.
    std::string_view service{};        // Empty means the default service.
    bool operator==(const Request&) const = default;
};

struct Cancel {
    std::uint64_t id = 0;
    std::uint64_t session = 0;
    bool operator==(const Cancel&) const = default;
};

// Who answered, and what it cost. A worker fills run_us, rows and bytes; the primary the others.
struct Facts {
    std::uint32_t worker = 0;      // Seat, counted from 1; 0 is the primary itself.
    std::uint32_t generation = 0;  // 0: the primary itself, or no worker was reached.
    std::uint64_t queued_us = 0;
    std::uint64_t run_us = 0;
    std::uint64_t rows = 0;   // In all, so far.
    std::uint64_t bytes = 0;  // Body bytes in all, so far.
    bool operator==(const Facts&) const = default;
};

// One piece of a result. Pieces of one attempt have sequence 0, 1, 2, ...; sequence 0 carries the
// schema frame. A higher attempt starts again from sequence 0: drop what came before.
struct Reply {
    std::uint64_t id = 0;
    std::uint32_t attempt = 0;
    std::uint32_t sequence = 0;
    std::uint32_t batches = 0;  // Record batches in the bodies of this message.
    bool last = false;          // The final reply.
    Facts facts{};              // Complete when `last`.
    bool operator==(const Reply&) const = default;
};

// A final reply that is an error; or with id 0, about the connection. Bodies: message, where.
struct ErrorReply {
    std::uint64_t id = 0;
    ErrorCode code = ErrorCode::kInternal;
    bool retryable = false;
    bool sick = false;  // Workers only: the engine is no longer to be trusted; replace me.
    Facts facts{};
    bool operator==(const ErrorReply&) const = default;
};

// A worker has loaded and can answer. After a failed load it sends an ErrorReply with id 0 instead.
struct Ready {
    std::uint32_t generation = 0;
    std::uint64_t load_us = 0;
    bool operator==(const Ready&) const = default;
};

struct Heartbeat {
    std::uint64_t session = 0;       // Clients only.
    std::uint64_t running = 0;       // Workers only: the request under way, 0 if none.
    std::int32_t progress_ppm = -1;  // Workers only: of the running query; -1 unknown.
    std::uint64_t rss_bytes = 0;     // Workers only.
    bool operator==(const Heartbeat&) const = default;
};

struct Ping {
    bool operator==(const Ping&) const = default;
};
struct Recall {
    std::uint64_t id = 0;
    bool operator==(const Recall&) const = default;
};
struct Recalled {
    std::uint64_t id = 0;
    bool operator==(const Recalled&) const = default;
};
struct Interrupt {
    std::uint64_t id = 0;
    bool operator==(const Interrupt&) const = default;
};
struct Drain {
    bool operator==(const Drain&) const = default;
};
// The worker still answers, but a fresh one would share more memory with its siblings.
struct WornOut {
    std::string_view why;  // For the log.
    bool operator==(const WornOut&) const = default;
};
// Flow control. From a client: how many body bytes of replies it has taken, in all; of one attempt
// of a request, or with id 0 of everything that this session brought it. To a worker: how many body
// bytes of the request's reply it may send, in all.
struct Credit {
    std::uint64_t id = 0;
    std::uint64_t session = 0;  // Clients only.
    std::uint32_t attempt = 0;  // Clients only; 0 with id 0.
    std::uint64_t bytes = 0;
    bool operator==(const Credit&) const = default;
};
// A request is under way at a worker.
struct Progress {
    std::uint64_t id = 0;
    std::int32_t progress_ppm = -1;  // Millionths done; -1: the engine does not know.
    bool operator==(const Progress&) const = default;
};
struct Goodbye {
    std::uint64_t session = 0;
    bool operator==(const Goodbye&) const = default;
};

using Message =
    std::variant<Hello, Welcome, Request, Cancel, Reply, ErrorReply, Ready, Heartbeat, Ping, Recall,
                 Recalled, Interrupt, Drain, Goodbye, WornOut, Credit, Progress>;

// Decodes frame 0 as a peer sent it. Allocates nothing on success.
// Pre:     nothing. `frame` is untrusted; every byte string is a legal argument.
// Post:    on success all of `frame` was used, and encoding the result decodes to an equal message.
// Errors:  kBadRequest if malformed, truncated, of an unknown kind or version, or followed by spare
//          bytes; kTooLarge over a limit. A hello is decoded whatever version its array names.
// Owns:    string_views point into `frame`, which must outlive the message.     Threads: any.
[[nodiscard]] Result<Message> decode(std::span<const std::byte> frame);

// Room for one encoded frame 0; reuse it. No allocation.
using HeaderBuffer = std::array<std::byte, kHeaderBytesMax>;

// Encodes `message` into `buffer`; the result is the used part of it.
// Pre: strings within their limits. Asserted: a longer one is our bug, not a peer's.
[[nodiscard]] std::span<const std::byte> encode(const Message& message, HeaderBuffer& buffer);

}  // namespace shortq::proto
