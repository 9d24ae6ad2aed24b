// primary/event_loop.h: waits for sockets, descriptors and the clock at once. Knows nobody's
// meaning.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>
#include <zmq.hpp>

#include "worker/engine/unique_fd.h"

namespace shortq::primary {

// Descriptors sit in an epoll set, so a round costs three poll entries however many workers there
// are. Threads: one.
class EventLoop {
public:
    EventLoop();  // Throws std::system_error.

    // `ready` is called in each round in which the descriptor is readable.
    void watch(int fd, std::function<void()> ready);
    void unwatch(int fd);

    // Waits until a socket or descriptor is readable, or until `wake`. Descriptors' callbacks run;
    // sockets are the caller's to read.
    void wait(std::vector<zmq::pollitem_t>& sockets,
              std::optional<std::chrono::steady_clock::time_point> wake);

private:
    void call_ready();

    UniqueFd epoll_;
    std::unordered_map<int, std::function<void()>> watched_;
};

}  // namespace shortq::primary
