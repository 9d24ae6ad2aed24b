// client/transport.h: the client's socket: a DEALER that is replaced whole, never reconnected under
// a session that it does not know, and its monitor. No zmq outside transport.cpp.
// Threads: one; the connection's thread makes, uses and destroys it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/columnar.h"
#include "proto/error.h"

namespace shortq::detail {

class Transport {
public:
    // `server_key`: empty, or 40 characters of Z85, and all is encrypted.
    explicit Transport(std::string server_key = {});
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;
    // Gives what was sent a bounded time to leave.
    ~Transport();

    // Whether `endpoint` is one that open() can take. Errors: kBadRequest.
    [[nodiscard]] static Result<void> check(const std::string& endpoint);

    void open(const std::string& endpoint);
    // With `bundled`, a small message waits for others until flush(). They keep their order.
    void send(const std::vector<Buffer>& frames, bool bundled = false);
    void flush();
    // The next message, if one is there; its frames own their bytes.
    [[nodiscard]] std::optional<std::vector<Buffer>> receive();

    // How the two ends failed to come together at all.
    enum class Handshake : std::uint8_t {
        kFine,
        kClosed,    // The other end hung up: it does not say why.
        kMismatch,  // One end encrypts, the other does not; or it speaks no ZeroMQ.
    };
    // What has happened to the connection since the last call.
    struct Changes {
        bool disconnected = false;
        bool refused = false;
        Handshake handshake = Handshake::kFine;
    };
    [[nodiscard]] Changes changes();

    // Waits until there may be a message or a change, `wake_descriptor` is readable, or the time is
    // over; negative: no end. True if the descriptor is readable.
    [[nodiscard]] bool wait(int wake_descriptor, std::chrono::milliseconds longest);

private:
    class Sockets;
    std::unique_ptr<Sockets> sockets_;
};

}  // namespace shortq::detail
