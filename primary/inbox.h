// primary/inbox.h: how other threads talk to the dispatch thread: a queue behind an eventfd.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "worker/engine/unique_fd.h"

namespace shortq::primary {

// Threads: put() from any; fd() and take() from the dispatch thread.
template <class Item>
class Inbox {
public:
    Inbox() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (!event_) throw std::system_error(errno, std::generic_category(), "eventfd");
    }

    void put(Item item) {
        {
            const std::lock_guard lock(mutex_);
            items_.push_back(std::move(item));
        }
        const std::uint64_t one = 1;
        // Fails only when the counter is full, and then it is readable anyway.
        [[maybe_unused]] const auto written = write(event_.get(), &one, sizeof one);
    }

    [[nodiscard]] int fd() const noexcept { return event_.get(); }

    // Everything that was put since the last call, in order.
    [[nodiscard]] std::vector<Item> take() {
        std::uint64_t count = 0;
        [[maybe_unused]] const auto bytes = read(event_.get(), &count, sizeof count);
        const std::lock_guard lock(mutex_);
        return std::exchange(items_, {});
    }

private:
    UniqueFd event_;
    std::mutex mutex_;
    std::vector<Item> items_;
};

}  // namespace shortq::primary
