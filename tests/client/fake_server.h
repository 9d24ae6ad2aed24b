// tests/client/fake_server.h: a ROUTER on a free port, whose answers the test writes.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <zmq.hpp>

#include "tests/client/frames.h"

namespace shortq::test {

// A message from a client. The decoded header points into `frames`.
struct Heard {
    std::string identity;
    Frames frames;
    proto::Message header;

    template <class T>
    [[nodiscard]] const T& as() const {
        return std::get<T>(header);
    }
};

class FakeServer {
public:
    // Throws zmq::error_t if the machine has no such address.
    explicit FakeServer(const std::string& endpoint = "tcp://127.0.0.1:*");

    [[nodiscard]] const std::string& endpoint() const { return endpoint_; }

    // Closes the socket as a dying server would, and binds the same port anew.
    void stop();
    void restart();

    // Those that next() has passed over.
    [[nodiscard]] unsigned heartbeats() const noexcept { return heartbeats_; }
    // Bundles that came so far.
    [[nodiscard]] unsigned bundles() const noexcept { return bundles_; }
    // The next message that is not a heartbeat, also out of a bundle; nothing within 10 s fails the
    // caller's value().
    [[nodiscard]] std::optional<Heard> next(
        std::chrono::milliseconds limit = std::chrono::seconds(10));
    void send(const std::string& identity, const Frames& frames);
    // `malformed` follows the messages.
    void send_bundle(const std::string& identity, const std::vector<Frames>& messages,
                     std::string_view malformed = {});

    // Answers the next message, a hello, with a welcome. The client's identity.
    std::string welcome(std::uint64_t session = 1, std::uint32_t workers = 2,
                        std::uint16_t version = proto::kVersionMin);

    // Of the client that was welcomed last.
    [[nodiscard]] std::uint64_t client_pid() const { return client_pid_; }

private:
    void bind(const std::string& endpoint);
    [[nodiscard]] bool receive(std::chrono::milliseconds limit);

    zmq::context_t context_;
    zmq::socket_t router_;
    std::string endpoint_;
    std::uint64_t client_pid_ = 0;
    unsigned heartbeats_ = 0;
    unsigned bundles_ = 0;
    std::deque<Heard> heard_;  // Without the header.
};

}  // namespace shortq::test
