// tools/bench/dealer.h: a client's socket, the same for every target.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "proto/error.h"

namespace shortq::bench {

[[nodiscard]] inline zmq::const_buffer buffer_of(std::span<const std::byte> bytes) {
    return zmq::buffer(bytes.data(), bytes.size());
}

class Dealer {
public:
    explicit Dealer(const std::vector<std::string>& endpoints);

    // Sends frames as one message; false if the socket cannot take it now.
    [[nodiscard]] bool send(std::initializer_list<zmq::const_buffer> frames);

    // The frames of the next message, valid until the next call. Errors: kTimeout.
    [[nodiscard]] Result<const std::vector<zmq::message_t>*> receive(
        std::chrono::milliseconds limit = std::chrono::seconds(10));

private:
    zmq::context_t context_{1};
    zmq::socket_t socket_{context_, zmq::socket_type::dealer};
    std::vector<zmq::message_t> frames_;
};

}  // namespace shortq::bench
