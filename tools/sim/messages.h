// tools/sim/messages.h: what simulated clients, primary and workers send each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "primary/core/events.h"

namespace shortq::sim {

// The text of a request, as far as the simulation cares: how it behaves at its worker. `words` is
// different for every request ever sent, and a reply must carry those of its request.
struct Payload {
    std::uint64_t words = 0;
    core::Duration service{0};
    int pieces = 1;
    std::uint64_t piece_bytes = 0;
    bool error = false;
    bool poison = false;
    bool deaf = false;  // To interrupts.
    bool hang = false;
};

// A connection's number; a client that connects again has a new one.
enum class ConnectionId : std::uint32_t {};

// From a client. The primary fills in which client it is.
struct FromClient {
    ConnectionId connection{};
    core::Event event;
    Payload payload;
    bool kdb = false;  // Through the in-order door.
};

// From a worker, or about its process. `words` as in the request that a reply is to.
struct FromWorker {
    core::Event event;
    std::uint64_t words = 0;
};

struct ToClient {
    enum class Kind : std::uint8_t { kWelcome, kUnknownSession, kPing, kReply };
    Kind kind = Kind::kReply;
    core::Receipt receipt;  // The rest: of kReply.
    bool last = true;
    std::optional<core::Reason> error;  // Of the primary's own making.
    bool engine_error = false;
    std::uint64_t words = 0;  // Of a result or an engine's error.
    std::uint64_t bytes = 0;
    std::size_t line = 0;  // To kdb+ clients, who know no ids: deferred or sync.
};

}  // namespace shortq::sim
