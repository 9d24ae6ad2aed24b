// tests/sim/simulation_test.cpp: a fixed slice of the simulator's seeds.
#include "tools/sim/simulation.h"

#include <gmock/gmock.h>

namespace shortq::sim {
namespace {

using ::testing::IsEmpty;

// Goal: no seed of a fixed slice breaks a promise. Method: whole runs with all checkers on.
TEST(SimulationTest, FixedSeedsKeepEveryPromise) {
    std::uint64_t accepted = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const auto outcome = simulate(seed);
        EXPECT_THAT(outcome.violations, IsEmpty()) << "seed " << seed;
        accepted += outcome.accepted;
    }
    EXPECT_GT(accepted, 5000U);  // It did something.
}

// Goal: a run can be replayed. Method: the hash of all events and actions, twice and for two seeds.
TEST(SimulationTest, SameSeedGivesTheSameRun) {
    const auto first = simulate(7);
    EXPECT_EQ(first.hash, simulate(7).hash);
    EXPECT_NE(first.hash, simulate(8).hash);
}

}  // namespace
}  // namespace shortq::sim
