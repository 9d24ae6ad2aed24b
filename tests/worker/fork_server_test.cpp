// tests/worker/fork_server_test.cpp: how workers of one fork server share the memory.
#include "worker/fork_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace shortq::worker {
namespace {

// Goal: the workers' own parts and the base make up the budget, and no more. Method: budgets above,
// at and below the base, one worker and many.
TEST(MemoryShareTest, IsTheBaseAndAnEqualPartOfTheRest) {
    EXPECT_EQ(memory_share(1000, 400, 1), 1000U);
    EXPECT_EQ(memory_share(1000, 400, 4), 550U);
    EXPECT_EQ(memory_share(1000, 0, 4), 250U);
    EXPECT_EQ(memory_share(1000, 400, 0), 1000U);
    EXPECT_EQ(memory_share(400, 400, 4), 400U);
    EXPECT_EQ(memory_share(UINT64_MAX, 1, 2), 1 + (UINT64_MAX - 1) / 2);
    for (std::uint32_t workers = 1; workers <= 64; ++workers) {
        const auto share = memory_share(1'000'003, 300'000, workers);
        EXPECT_LE(300'000 + workers * (share - 300'000), 1'000'003U);
        EXPECT_GT(300'000 + workers * (share + 1 - 300'000), 1'000'003U);
    }
}

// Goal: no budget is no limit, not a limit of nothing. Method: 0.
TEST(MemoryShareTest, WithoutABudgetThereIsNoLimit) {
    EXPECT_EQ(memory_share(0, 0, 4), 0U);
    EXPECT_EQ(memory_share(0, 400, 4), 0U);
}

}  // namespace
}  // namespace shortq::worker
