// worker/engine/wakeup.h: how one thread wakes another one's poll.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
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
    // Writes only if no wake-up is due: several in a row then cost one system call, not one each.
    void notify() noexcept {
        if (due_.exchange(true)) return;
        [[maybe_unused]] const auto written = ::write(fd_.get(), &kOne, sizeof kOne);
    }
    // Look for what was left after this, not before.
    void clear() noexcept {
        std::uint64_t count = 0;
        [[maybe_unused]] const auto got = ::read(fd_.get(), &count, sizeof count);
        due_ = false;
    }

private:
    static constexpr std::uint64_t kOne = 1;
    std::atomic<bool> due_ = false;
    UniqueFd fd_;
};

}  // namespace shortq
