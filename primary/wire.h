// primary/wire.h: multipart messages over cppzmq, with its exceptions turned into values.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <zmq.hpp>

#include "proto/message.h"

namespace shortq::primary {

// The frames of one message as a ROUTER gives them: the sender's identity, frame 0, bodies.
struct Incoming {
    zmq::message_t identity;
    zmq::message_t header;
    std::vector<zmq::message_t> bodies;

    [[nodiscard]] std::string_view sender() const {
        return {static_cast<const char*>(identity.data()), identity.size()};
    }
    [[nodiscard]] std::span<const std::byte> header_bytes() const {
        return {static_cast<const std::byte*>(header.data()), header.size()};
    }
};

enum class Received : std::uint8_t { kMessage, kNothing };

// Takes one message without waiting. `in` is reused. A message of fewer than two frames comes with
// an empty header, which no decoder accepts. Errors: throws zmq::error_t (the context is gone).
[[nodiscard]] Received receive(zmq::socket_t& socket, Incoming& in);

enum class Sent : std::uint8_t {
    kYes,
    kNoPeer,  // The connection is gone.
    kFull,    // Its send queue is full. Cannot happen while SNDHWM is 0.
};

// Sends [identity][header][bodies...] without waiting; `bodies` are moved from on success.
[[nodiscard]] Sent send(zmq::socket_t& socket, std::string_view identity,
                        const proto::Message& header, std::span<zmq::message_t> bodies = {});

[[nodiscard]] zmq::message_t frame_of(std::string_view text);
[[nodiscard]] std::string text_of(const zmq::message_t& frame);

}  // namespace shortq::primary
