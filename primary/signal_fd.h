// primary/signal_fd.h: signals as something to poll for.
#pragma once

#include <initializer_list>
#include <optional>

#include "worker/engine/unique_fd.h"

namespace shortq::primary {

// Blocks the signals in the calling thread, and so in every thread and child that it starts later.
class SignalFd {
public:
    explicit SignalFd(std::initializer_list<int> signals);  // Throws std::system_error.
    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    // The next signal that has arrived, if any. Never blocks.
    [[nodiscard]] std::optional<int> take();

private:
    UniqueFd fd_;
};

}  // namespace shortq::primary
