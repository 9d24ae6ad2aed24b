// worker/fork_channel.h: what the primary and a fork server say to each other, over the two ends of
// a socket pair. The fork server may hold no ZeroMQ context, so this is a channel of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "proto/error.h"
#include "worker/engine/unique_fd.h"

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

// One end. Messages are packets: each arrives whole or not at all. Threads: one.
class ForkChannel {
public:
    explicit ForkChannel(UniqueFd socket) : socket_(std::move(socket)) {}

    // Both ends of a new channel, closed on exec. Errors: kInternal (out of descriptors).
    [[nodiscard]] static Result<std::pair<ForkChannel, ForkChannel>> make();

    // Errors: kUnavailable if the other end is gone. The order's descriptor stays the caller's.
    [[nodiscard]] Result<void> send(const ForkOrder& order, int board_fd);
    [[nodiscard]] Result<void> send(const ForkReport& report);

    struct Order {
        ForkOrder order;
        UniqueFd board;
    };
    // Waits for an order. Errors: kUnavailable if the other end is gone; kBadRequest for bytes that
    // are no order.
    [[nodiscard]] Result<Order> receive_order();
    // Never waits; nullopt: nothing is there now. Errors: as above.
    [[nodiscard]] Result<std::optional<ForkReport>> receive_report();

    void close() noexcept { socket_.close(); }
    [[nodiscard]] int fd() const noexcept { return socket_.get(); }

private:
    UniqueFd socket_;
};

}  // namespace shortq
