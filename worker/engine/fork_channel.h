// worker/engine/fork_channel.h: the channel between the primary and a fork server, over the two
// ends of a socket pair. The fork server may hold no ZeroMQ context, so this is a channel of its
// own. The messages are proto/fork.h's.
#pragma once

#include <optional>
#include <utility>

#include "proto/error.h"
#include "proto/fork.h"
#include "worker/engine/unique_fd.h"

namespace shortq {

// One end. Messages are packets: each arrives whole or not at all. Threads: one.
class ForkChannel {
public:
    explicit ForkChannel(UniqueFd socket) : socket_(std::move(socket)) {}

    // Both ends of a new channel, closed on exec. Errors: kInternal (out of descriptors).
    [[nodiscard]] static Result<std::pair<ForkChannel, ForkChannel>> make();

    // Errors: kUnavailable if the other end is gone, kInternal if the system has no room for it.
    // The order's descriptor stays the caller's.
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
