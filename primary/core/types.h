// primary/core/types.h: ids, time and settings of the dispatcher core.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "proto/message.h"

namespace shortq::core {

using Time = std::chrono::nanoseconds;      // Since an arbitrary start; always passed in.
using Duration = std::chrono::nanoseconds;  // Zero means "none" wherever a setting says so.
using proto::Mode;
using proto::Priority;

// Ids are handed out by the core and never reused while the process lives: the low 32 bits are the
// slot in a table (the shell keeps its own data in a vector at that index), the high 32 bits count
// the slot's lives. 0 is nobody.
enum class RequestId : std::uint64_t {};
enum class ClientId : std::uint64_t {};
enum class WorkerId : std::uint64_t {};

template <class Id>
[[nodiscard]] constexpr std::uint32_t slot_of(Id id) noexcept {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(id));
}

// The primary's own engine, which evaluates sync requests in order of arrival. It is always ready,
// takes any number ahead, is never lost and never killed. Slot 0 of the worker table.
inline constexpr WorkerId kSyncWorker{std::uint64_t{1} << 32};

enum class Policy : std::uint8_t { kShortestQueue, kRoundRobin, kRandom };

// A window of predicted time in place of a number: see the README, "Who gets it".
inline constexpr std::uint32_t kWindowAuto = 0xffffffff;

struct Options {
    std::uint32_t workers = 1;  // Seats, counted from 1 in everything people see.
    std::uint32_t window = 1;   // Requests a worker may hold; 0: no bound; or kWindowAuto.
    // kWindowAuto: a worker is given more while what it has is predicted to take less, up to a
    // number.
    Duration ahead = std::chrono::milliseconds(1);
    std::uint32_t ahead_max = 64;
    Policy policy = Policy::kShortestQueue;
    std::uint64_t seed = 1;               // For Policy::kRandom.
    std::uint32_t pending_max = 100'000;  // Unanswered requests, all clients.
    std::uint32_t pending_per_client_max = 10'000;
    std::uint64_t pending_bytes_max = std::uint64_t{256} << 20;
    // Flow control (PROTOCOL.md#flow-control): not yet taken, of one reply, and of one client.
    std::uint64_t reply_window_bytes = proto::kReplyWindowBytes;
    std::uint64_t client_window_bytes = proto::kClientWindowBytes;
    Duration stall = std::chrono::seconds(30);  // A reader that takes nothing this long.
    Duration timeout{0};  // Upper bound for every request's budget; zero: none.
    Duration grace = std::chrono::seconds(2);  // From an interrupt to the kill.
    Duration drain = std::chrono::seconds(30);
    Duration load_timeout = std::chrono::seconds(600);
    Duration unavailable_after = std::chrono::seconds(10);    // No worker able to answer this long.
    Duration worker_silence_max = std::chrono::seconds(5);    // Missed heartbeats: sick.
    Duration client_silence_max = std::chrono::seconds(4);    // Network silent: gone.
    Duration ping_interval = std::chrono::milliseconds(400);  // Clients with requests under way.
    Duration backoff_first = std::chrono::milliseconds(100);  // After the second quick death.
    Duration backoff_max = std::chrono::seconds(10);
    Duration stable_after = std::chrono::seconds(10);  // A worker this old ends its seat's backoff.
    std::uint32_t lives = 2;  // Charged this often, a request is not tried again.
    bool writable = false;    // Nothing is retried.
};

// Why a request ended in an error; the shell turns it into a message for people.
enum class Reason : std::uint8_t {
    kQueueFull,        // overloaded: pending_max
    kClientQueueFull,  // overloaded: pending_per_client_max
    kBytesFull,        // overloaded: pending_bytes_max
    kDuplicateId,      // bad_request: the client has an unanswered request of that id
    kDraining,         // unavailable: the primary is shutting down
    kNoWorker,         // unavailable: no worker able to answer for `unavailable_after`
    kTimedOutQueued,   // timeout, before it was given to a worker
    kTimedOutRunning,  // timeout, at a worker
    kCancelled,        // cancelled
    kPoison,           // worker_lost: was running when `lives` workers died; not retryable
    kLostNotRetried,   // worker_lost with --writable; retryable is false
    kLostMidStream,    // worker_lost: a streaming reader already has chunks; retryable
    kStalled,          // timeout: its reader took nothing for `stall`; retryable
    kInterrupted,      // cancelled: the engine stopped it without anybody's order here
};
[[nodiscard]] ErrorCode code_of(Reason reason) noexcept;
[[nodiscard]] bool retryable(Reason reason) noexcept;

}  // namespace shortq::core
