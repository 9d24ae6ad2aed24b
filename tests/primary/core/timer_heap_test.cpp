// tests/primary/core/timer_heap_test.cpp: timers come out in order, however they were moved.
#include "primary/core/timer_heap.h"

#include <gmock/gmock.h>

#include <map>

#include "primary/core/random.h"

namespace shortq::core {
namespace {

// Goal: set, move and clear keep the order. Method: random operations against a std::map.
TEST(TimerHeapTest, AgreesWithASortedMap) {
    TimerHeap heap;
    std::map<std::pair<TimerKind, std::uint32_t>, Time> model;
    SplitMix64 random(1);
    for (int i = 0; i < 20'000; ++i) {
        const auto kind = static_cast<TimerKind>(random.below(kTimerKinds));
        const auto slot = static_cast<std::uint32_t>(random.below(50));
        if (random.below(3) == 0) {
            heap.clear(kind, slot);
            model.erase({kind, slot});
        } else {
            const Time when{static_cast<std::int64_t>(random.below(1000))};
            heap.set(kind, slot, when);
            model[{kind, slot}] = when;
        }
        ASSERT_EQ(heap.size(), model.size());
        if (i % 100 == 0) {
            ASSERT_TRUE(heap.consistent());
        }
        if (model.empty()) continue;
        auto earliest = Time::max();
        for (const auto& [key, when] : model) earliest = std::min(earliest, when);
        ASSERT_EQ(heap.top().when, earliest);
    }
}

}  // namespace
}  // namespace shortq::core
