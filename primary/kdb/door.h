// primary/kdb/door.h: the kdb+ front door: a listening socket, its connections, and the thread that
// serves them. Protocol: proto/kdb; rules: README.md beside this file.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "primary/kdb/door_options.h"

namespace shortq::primary {

// Threads: the dispatch thread; the listener is called on the door's own.
class KdbDoor {
public:
    // Listens. Errors: throws std::runtime_error with a text for people.
    KdbDoor(KdbDoorOptions options, KdbListener listener);
    ~KdbDoor();  // As stop().
    KdbDoor(const KdbDoor&) = delete;
    KdbDoor& operator=(const KdbDoor&) = delete;

    [[nodiscard]] const std::string& endpoint() const noexcept { return endpoint_; }

    // A piece of a reply under the connection's own id; `bodies` are moved from. A connection or a
    // request that is gone is ignored.
    void send(KdbConnectionId connection, const proto::Reply& reply,
              std::span<zmq::message_t> bodies);
    void send(KdbConnectionId connection, std::uint64_t id, std::string error_text);
    void close(KdbConnectionId connection);

    // Nobody comes in any more. What is finished is sent, for a second at most, and every
    // connection closed.
    void stop();

private:
    class Loop;
    std::unique_ptr<Loop> loop_;
    std::string endpoint_;
};

}  // namespace shortq::primary
