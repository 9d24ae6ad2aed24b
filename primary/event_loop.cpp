// primary/event_loop.cpp: one epoll descriptor.
#include "primary/event_loop.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <span>
#include <system_error>

namespace shortq::primary {
namespace {

using std::chrono::nanoseconds;

timespec timespec_of(nanoseconds duration) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(duration);
    return {static_cast<std::time_t>(seconds.count()),
            static_cast<long>((duration - seconds).count())};
}

// What is due in less than a millisecond would be late by a clock of milliseconds; kernels before
// 5.11 have no other.
int wait_for(int epoll, std::span<epoll_event> events, std::optional<nanoseconds> left) {
    const auto count = static_cast<int>(events.size());
    const auto timeout = timespec_of(left.value_or(nanoseconds{0}));
    const int ready = epoll_pwait2(epoll, events.data(), count, left ? &timeout : nullptr, nullptr);
    if (ready >= 0 || errno != ENOSYS) return ready;
    if (!left) return epoll_wait(epoll, events.data(), count, -1);
    constexpr std::chrono::hours kLongest{1};  // In an int of milliseconds.
    const auto coarse =
        std::chrono::ceil<std::chrono::milliseconds>(std::min<nanoseconds>(*left, kLongest));
    return epoll_wait(epoll, events.data(), count, static_cast<int>(coarse.count()));
}

}  // namespace

EventLoop::EventLoop() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (!epoll_) throw std::system_error(errno, std::generic_category(), "epoll_create1");
}

void EventLoop::watch(int fd, std::function<void()> ready) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
        throw std::system_error(errno, std::generic_category(), "epoll_ctl");
    watched_[fd] = std::move(ready);
}

void EventLoop::unwatch(int fd) {
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    watched_.erase(fd);
}

void EventLoop::wait(std::optional<std::chrono::steady_clock::time_point> wake) {
    std::optional<nanoseconds> left;
    if (wake) left = std::max(nanoseconds{0}, *wake - std::chrono::steady_clock::now());
    std::array<epoll_event, 64> events{};
    const int count = wait_for(epoll_.get(), events, left);
    if (count < 0 && errno != EINTR)
        throw std::system_error(errno, std::generic_category(), "epoll_wait");
    for (int i = 0; i < count; ++i) {
        // An earlier callback may have unwatched it; a callback may also unwatch itself.
        const auto found = watched_.find(events[static_cast<std::size_t>(i)].data.fd);
        if (found == watched_.end()) continue;
        const auto ready = found->second;
        ready();
    }
}

}  // namespace shortq::primary
