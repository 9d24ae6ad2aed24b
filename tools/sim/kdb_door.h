// tools/sim/kdb_door.h: the simulated primary's door for kdb+ clients: whole replies only, in the
// order of the requests (primary/core/in_order.h, as in the real one).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "primary/core/in_order.h"
#include "tools/sim/messages.h"

namespace shortq::sim {

// A sync request's reply does not wait for deferred ones: each has a line of its own.
[[nodiscard]] inline std::size_t line_of(core::Mode mode) {
    return mode == core::Mode::kSync ? 1 : 0;
}
inline constexpr std::size_t kLines = 2;

class KdbDoor {
public:
    void open(ConnectionId connection) { connections_[connection]; }
    void close(ConnectionId connection) { connections_.erase(connection); }
    [[nodiscard]] bool has(ConnectionId connection) const {
        return connections_.contains(connection);
    }

    void expect(ConnectionId connection, const core::RequestArrived& request) {
        auto& at = connections_.at(connection);
        at.lines[line_of(request.mode)].expect(request.client_request);
        at.modes[request.client_request] = request.mode;
    }

    // A reply's last piece. The replies whose turn it is, each with the line that it leaves on.
    [[nodiscard]] std::vector<ToClient> finish(ConnectionId connection, const ToClient& message) {
        auto& at = connections_.at(connection);
        const auto id = message.receipt.client_request;
        const auto mode = at.modes.find(id);
        if (mode == at.modes.end()) return {};
        auto& line = at.lines[line_of(mode->second)];
        auto in_turn = message;
        in_turn.line = line_of(mode->second);
        at.modes.erase(mode);
        static_cast<void>(line.finish(id, in_turn));
        std::vector<ToClient> ready;
        while (auto reply = line.take()) ready.push_back(std::move(*reply));
        return ready;
    }

private:
    struct Connection {
        std::array<core::InOrder<ToClient>, kLines> lines;
        std::map<std::uint64_t, core::Mode> modes;  // Of unanswered requests.
    };
    std::map<ConnectionId, Connection> connections_;
};

}  // namespace shortq::sim
