// tools/sim/timeline.h: the virtual clock, and what happens when.
#pragma once

#include <functional>
#include <optional>
#include <queue>

#include "primary/core/types.h"

namespace shortq::sim {

// What is planned for one moment happens in the order in which it was planned.
class Timeline {
public:
    using What = std::function<void()>;

    [[nodiscard]] core::Time now() const { return now_; }
    // Pre: `when` is not in the past.
    void at(core::Time when, What what);
    void after(core::Duration delay, What what) { at(now_ + delay, std::move(what)); }
    // When something happens next; Time::max() if nothing is planned.
    [[nodiscard]] core::Time next() const;
    void advance(core::Time to) { now_ = to; }
    // Pre: next() has come.
    void run_next();

private:
    struct Planned {
        core::Time when{0};
        std::uint64_t order = 0;
        What what;
        bool operator<(const Planned& other) const {  // The earliest on top.
            return when != other.when ? when > other.when : order > other.order;
        }
    };

    core::Time now_{0};
    std::priority_queue<Planned> planned_;
    std::uint64_t order_ = 0;
};

}  // namespace shortq::sim
