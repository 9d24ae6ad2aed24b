// tools/sim/timeline.cpp: the heap of plans.
#include "tools/sim/timeline.h"

#include <utility>

namespace shortq::sim {

void Timeline::at(core::Time when, What what) {
    planned_.push({.when = when, .order = ++order_, .what = std::move(what)});
}

core::Time Timeline::next() const {
    return planned_.empty() ? core::Time::max() : planned_.top().when;
}

void Timeline::run_next() {
    // The queue gives only const access; what is moved out is popped before it is looked at again.
    auto what = std::move(const_cast<Planned&>(planned_.top()).what);
    planned_.pop();
    what();
}

}  // namespace shortq::sim
