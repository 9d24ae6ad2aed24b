// tests/sim/simulation_test.cpp: a fixed slice of the simulator's seeds, and the running of seeds.
#include "tools/sim/simulation.h"

#include <gmock/gmock.h>

#include "tools/sim/seeds.h"

namespace shortq::sim {
namespace {

using ::testing::IsEmpty;

// Goal: no seed of a fixed slice breaks a promise. Method: whole runs with all checkers on.
TEST(SimulationTest, FixedSeedsKeepEveryPromise) {
    std::uint64_t accepted = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        const auto outcome = simulate(seed);
        ASSERT_THAT(outcome.violations, IsEmpty()) << "again: shortq-sim --seed " << seed;
        accepted += outcome.accepted;
    }
    EXPECT_GT(accepted, 20'000U);  // It did something.
}

// Goal: what the simulator once found stays found. Method: the seeds that showed it.
TEST(SimulationTest, SeedsThatFoundFaultsKeepEveryPromise) {
    for (const std::uint64_t seed : {1757U}) {
        EXPECT_THAT(simulate(seed).violations, IsEmpty()) << "again: shortq-sim --seed " << seed;
    }
}

// Goal: a run can be replayed. Method: the hash of all events and actions, twice and for two seeds;
// it does not depend on what is kept of the run.
TEST(SimulationTest, SameSeedGivesTheSameRun) {
    const auto first = simulate(7);
    EXPECT_EQ(first.hash, simulate(7, {.keep_last = true}).hash);
    EXPECT_NE(first.hash, simulate(8).hash);
    EXPECT_THAT(first.last, IsEmpty());
    EXPECT_FALSE(simulate(7, {.keep_last = true}).last.empty());
}

// Goal: threads change nothing. Method: the same seeds by one and by three.
TEST(SeedsTest, ThreadsGiveTheSameTally) {
    Campaign campaign{.range = {.first = 1, .last = 30}, .manner = {}, .twice = true};
    const auto alone = run(campaign);
    campaign.threads = 3;
    const auto together = run(campaign);
    EXPECT_EQ(alone.seeds, 30U);
    EXPECT_EQ(together.seeds, 30U);
    EXPECT_EQ(alone.events, together.events);
    EXPECT_EQ(alone.hash, together.hash);
    EXPECT_FALSE(alone.broken);
}

// Goal: a range is read as it is written. Method: good and bad spellings.
TEST(SeedsTest, RangesAreRead) {
    const auto range = range_of("3..100");
    ASSERT_TRUE(range);
    EXPECT_EQ(range->first, 3U);
    EXPECT_EQ(range->last, 100U);
    EXPECT_EQ(range_of("7")->count(), 1U);
    for (const auto* bad : {"", "..", "1..", "..5", "9..1", "1..2x", "a..b", "-1..2", "1 .. 2"}) {
        EXPECT_FALSE(range_of(bad)) << bad;
    }
}

}  // namespace
}  // namespace shortq::sim
