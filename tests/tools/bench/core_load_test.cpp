// tests/tools/bench/core_load_test.cpp. Goal: the core is measured under the load that is named.
// Method: loads of every shape, and what the core says of itself.
#include "tools/bench/core_load.h"

#include <gtest/gtest.h>

namespace shortq::bench {
namespace {

// Goal: the load is steady: as many queued and at workers after many steps as before, and a request
// answered in each. Method: with and without queued requests, for one and several workers, with
// each window.
TEST(CoreLoadTest, StaysAsItIs) {
    for (const std::uint32_t workers : {1U, 2U, 16U}) {
        for (const std::uint32_t queued : {0U, 100U}) {
            for (const std::uint32_t window : {core::kWindowAuto, 1U}) {
                CoreLoad load({.workers = workers, .queued = queued, .window = window});
                for (int i = 0; i < 10'000; ++i) load.step();  // Windows of time widen at first.
                const auto before = load.core().totals();
                for (int i = 0; i < 10'000; ++i) load.step();
                const auto& after = load.core().totals();
                EXPECT_EQ(after.answered - before.answered, 10'000U);
                EXPECT_EQ(after.at_workers, before.at_workers);
                EXPECT_EQ(after.queued, before.queued);
                EXPECT_EQ(after.failed + after.retried + after.refused, 0U);
                if (queued == 0) {
                    EXPECT_EQ(after.queued, 0U);
                    EXPECT_EQ(after.at_workers, workers / 2);
                } else if (window == 1) {
                    EXPECT_EQ(after.queued, queued);
                    EXPECT_EQ(after.at_workers, workers);
                } else {
                    EXPECT_GT(after.at_workers, workers);  // Something was given ahead.
                }
                load.core().check_invariants();
            }
        }
    }
}

}  // namespace
}  // namespace shortq::bench
