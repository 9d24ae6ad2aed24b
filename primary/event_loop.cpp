// primary/event_loop.cpp: zmq_poll over the sockets and one epoll descriptor.
#include "primary/event_loop.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace shortq::primary {

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

void EventLoop::wait(std::vector<zmq::pollitem_t>& sockets,
                     std::optional<std::chrono::steady_clock::time_point> wake) {
    using std::chrono::milliseconds;
    milliseconds timeout{-1};
    if (wake) {
        const auto left = *wake - std::chrono::steady_clock::now();
        timeout = std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(left));
    }
    sockets.push_back({nullptr, epoll_.get(), ZMQ_POLLIN, 0});
    try {
        zmq::poll(sockets.data(), sockets.size(), timeout);
    } catch (const zmq::error_t& error) {
        if (error.num() != EINTR) throw;
    }
    const bool ready = (sockets.back().revents & ZMQ_POLLIN) != 0;
    sockets.pop_back();
    if (ready) call_ready();
}

void EventLoop::call_ready() {
    std::array<epoll_event, 64> events{};
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) {
        // An earlier callback may have unwatched it; a callback may also unwatch itself.
        const auto found = watched_.find(events[static_cast<std::size_t>(i)].data.fd);
        if (found == watched_.end()) continue;
        const auto ready = found->second;
        ready();
    }
}

}  // namespace shortq::primary
