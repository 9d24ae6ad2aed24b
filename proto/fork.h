// proto/fork.h: what the primary and a fork server say to each other, as packets of bytes.
// Layout: PROTOCOL.md#fork-servers. Pure code, as everything in proto/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "proto/error.h"

namespace shortq {

// ---- Primary -> fork server

// "Fork one worker". The board's descriptor goes with it.
struct ForkOrder {
    std::uint64_t worker = 0;  // The primary's id of the worker to be; comes back in the answer.
    std::uint32_t seat = 0;
    std::string temp_directory;  // Spill folder of this worker alone.
    bool operator==(const ForkOrder&) const = default;
};

// ---- Fork server -> primary

struct BaseLoaded {  // Once, and then it takes orders.
    std::uint64_t load_us = 0;
    std::uint64_t base_bytes = 0;  // What the engine holds of the data; shared by the workers.
    bool operator==(const BaseLoaded&) const = default;
};
struct BaseFailed {  // Instead: the source does not load. The server leaves.
    Error error;
    bool operator==(const BaseFailed&) const = default;
};
struct CannotFork {  // Instead: it loads, but not so that it can be forked. The server leaves.
    std::string reason;
    bool operator==(const CannotFork&) const = default;
};
struct Forked {  // The process runs, and is or soon becomes a child of the primary.
    std::uint64_t worker = 0;
    std::int64_t pid = 0;
    bool operator==(const Forked&) const = default;
};
struct ForkFailed {  // No process came of the order.
    std::uint64_t worker = 0;
    std::string reason;
    bool operator==(const ForkFailed&) const = default;
};
using ForkReport = std::variant<BaseLoaded, BaseFailed, CannotFork, Forked, ForkFailed>;

namespace proto {

inline constexpr std::size_t kForkPacketBytesMax = std::size_t{128} << 10;

// Texts of reports are cut to fit. Pre: an order's folder is a path the system knows.
[[nodiscard]] std::vector<std::byte> encode(const ForkOrder& order);
[[nodiscard]] std::vector<std::byte> encode(const ForkReport& report);

// Errors: kBadRequest.
[[nodiscard]] Result<ForkOrder> decode_fork_order(std::span<const std::byte> packet);
[[nodiscard]] Result<ForkReport> decode_fork_report(std::span<const std::byte> packet);

}  // namespace proto
}  // namespace shortq
