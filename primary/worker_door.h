// primary/worker_door.h: the workers' side: an ipc endpoint in a private folder. Who proves with
// its token that this primary started it, is heard.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>
#include <zmq.hpp>

#include "primary/bad_messages.h"
#include "primary/core/types.h"
#include "primary/wire.h"
#include "proto/message.h"

namespace shortq::primary {

// Threads: the dispatch thread. Errors: the constructor throws zmq::error_t.
class WorkerDoor {
public:
    // Which worker was started with this token; none: nobody.
    using Identify = std::function<std::optional<core::WorkerId>(std::string_view token)>;

    WorkerDoor(zmq::context_t& context, const std::filesystem::path& directory, Identify identify);

    [[nodiscard]] Router& router() noexcept { return router_; }
    [[nodiscard]] const std::string& endpoint() const noexcept { return endpoint_; }

    // Listens again if the socket's file is gone: connections live on without it, but nobody new
    // could come. Errors: throws zmq::error_t.
    void renew();

    // Takes one message, if there is one.
    [[nodiscard]] bool receive();
    // The message just received, decoded: views point into it. None: not from a worker of ours, or
    // malformed. A hello was answered already.
    struct WorkerSays {
        core::WorkerId worker{};
        proto::Message message;
    };
    [[nodiscard]] std::optional<WorkerSays> interpret();
    [[nodiscard]] std::vector<zmq::message_t>& bodies() noexcept { return in_.bodies; }

    // False: it has not connected (yet), or is gone.
    [[nodiscard]] bool send(core::WorkerId worker, const proto::Message& header,
                            std::span<zmq::message_t> bodies = {},
                            Bundling bundling = Bundling::kNo);
    // Sends what waits in bundles; those it could not be sent to are gone.
    [[nodiscard]] std::vector<core::WorkerId> flush();
    [[nodiscard]] bool connected(core::WorkerId worker) const;
    void forget(core::WorkerId worker);
    void heartbeat_all();

    // Malformed, or not from a worker of ours.
    [[nodiscard]] std::uint64_t malformed() const noexcept { return malformed_.count(); }

private:
    [[nodiscard]] std::optional<core::WorkerId> on_hello(const proto::Hello& hello);
    void turn_away();

    struct Peer {
        core::WorkerId worker{};
        std::string identity;
        bool bundles = false;  // It understands them.
    };
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>{}(text);
        }
    };

    Identify identify_;
    Router router_;
    std::filesystem::path file_;  // Of the socket.
    std::string endpoint_;
    Incoming in_;
    std::vector<Peer> peers_;  // By slot.
    std::unordered_map<std::string, core::WorkerId, TextHash, std::equal_to<>> by_identity_;
    BadMessages malformed_{"the workers' socket"};
};

}  // namespace shortq::primary
