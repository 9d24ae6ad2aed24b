// primary/inbox.h: how other threads talk to the dispatch thread: a queue behind an eventfd.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "worker/engine/wakeup.h"

namespace shortq::primary {

// Threads: put() from any; fd() and take() from the dispatch thread.
template <class Item>
class Inbox {
public:
    void put(Item item) {
        {
            const std::lock_guard lock(mutex_);
            items_.push_back(std::move(item));
        }
        wakeup_.notify();
    }

    [[nodiscard]] int fd() const noexcept { return wakeup_.fd(); }

    // Everything that was put since the last call, in order.
    [[nodiscard]] std::vector<Item> take() {
        wakeup_.clear();
        const std::lock_guard lock(mutex_);
        return std::exchange(items_, {});
    }

private:
    Wakeup wakeup_;
    std::mutex mutex_;
    std::vector<Item> items_;
};

}  // namespace shortq::primary
