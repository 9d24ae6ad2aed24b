// client/wakeup.h: wakes the connection's thread out of poll(), from any thread.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace shortq::detail {

class Wakeup {
public:
    Wakeup() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    }
    Wakeup(const Wakeup&) = delete;
    Wakeup& operator=(const Wakeup&) = delete;
    ~Wakeup() { ::close(descriptor_); }

    // Writes only if no wake-up is due: callers in a row then cost one system call, not one each.
    void ring() noexcept {
        if (due_.exchange(true)) return;
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(descriptor_, &one, sizeof one);
    }
    // Look for what the callers have left after this, not before.
    void clear() noexcept {
        std::uint64_t count = 0;
        [[maybe_unused]] const auto got = ::read(descriptor_, &count, sizeof count);
        due_ = false;
    }
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

private:
    std::atomic<bool> due_ = false;
    int descriptor_;
};

}  // namespace shortq::detail
