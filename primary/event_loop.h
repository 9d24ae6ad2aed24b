// primary/event_loop.h: waits for descriptors and the clock at once. Knows nobody's meaning.
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

// A round costs one system call however many descriptors there are. Threads: one.
class EventLoop {
public:
    EventLoop();  // Throws std::system_error.

    // `ready` is called in each round in which the descriptor is readable.
    void watch(int fd, std::function<void()> ready);
    void unwatch(int fd);

    // Waits until a descriptor is readable, or until `wake`; the callbacks of readable ones run.
    void wait(std::optional<std::chrono::steady_clock::time_point> wake);

private:
    UniqueFd epoll_;
    std::unordered_map<int, std::function<void()>> watched_;
};

}  // namespace shortq::primary
