// tests/end-to-end/raw_peer.h: a peer without a library: sends what it likes, sees all that comes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "proto/message.h"

namespace shortq::test {

// The bytes of frame 0.
[[nodiscard]] std::string encoded(const proto::Message& message);

// The endpoint of the workers' door, from a worker's command line; empty: none.
[[nodiscard]] std::string workers_endpoint(pid_t worker);

// Leaves without a word: what was sent before still goes out.
class RawPeer {
public:
    explicit RawPeer(const std::string& endpoint);
    RawPeer(zmq::context_t& context, const std::string& endpoint);  // Many may share a context.

    void send(const std::vector<std::string>& frames);
    // The next message that can be decoded, its bodies in bodies(). None: nothing came.
    [[nodiscard]] std::optional<proto::Message> next();
    // The same, but waits no longer than this.
    [[nodiscard]] std::optional<proto::Message> next(std::chrono::milliseconds patience);
    [[nodiscard]] const std::vector<std::string>& bodies() const noexcept { return bodies_; }
    // The next one of a kind, skipping others.
    template <class Kind>
    [[nodiscard]] std::optional<Kind> next_of() {
        while (const auto message = next()) {
            if (const auto* found = std::get_if<Kind>(&*message)) return *found;
        }
        return std::nullopt;
    }
    // Says hello and returns the session.
    [[nodiscard]] std::uint64_t hello();

private:
    std::optional<zmq::context_t> own_context_;
    zmq::socket_t socket_;
    zmq::message_t header_;  // Messages have views into it.
    std::vector<std::string> bodies_;
};

}  // namespace shortq::test
