// worker/engine/wakeup.h: how one thread wakes another one's poll.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "worker/engine/unique_fd.h"

namespace shortq {

// An eventfd. Threads: any.
class Wakeup {
public:
    Wakeup() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (!fd_) throw std::system_error(errno, std::system_category(), "eventfd");
    }
    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    void notify() noexcept {
        // Fails only when a wake-up is pending already.
        [[maybe_unused]] const auto written = ::write(fd_.get(), &kOne, sizeof kOne);
    }
    void clear() noexcept {
        std::uint64_t count = 0;
        [[maybe_unused]] const auto got = ::read(fd_.get(), &count, sizeof count);
    }

private:
    static constexpr std::uint64_t kOne = 1;
    UniqueFd fd_;
};

}  // namespace shortq
