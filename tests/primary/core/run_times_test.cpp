// tests/primary/core/run_times_test.cpp
#include "primary/core/run_times.h"

#include <gtest/gtest.h>

#include "primary/core/random.h"

namespace shortq::core {
namespace {

using namespace std::chrono_literals;

// Goal: nothing is claimed of what has not been seen. Method: ask before and after learning others.
TEST(RunTimesTest, TheUnknownIsNotPredicted) {
    RunTimes times;
    EXPECT_EQ(times.predict(0), std::nullopt);
    EXPECT_EQ(times.predict(1), std::nullopt);
    times.learn(1, 10us);
    EXPECT_EQ(times.predict(2), std::nullopt);
    EXPECT_EQ(times.predict(0), std::nullopt);
}

// Goal: the first sample gives mean + half of it; the next ones move them by gains of 1/8 and 1/4,
// as RFC 6298 (2.2, 2.3) has it for round trips. Method: values worked out by hand.
TEST(RunTimesTest, ThePredictionIsMeanAndDeviation) {
    RunTimes times;
    times.learn(7, 80us);
    EXPECT_EQ(times.predict(7), 80us + 40us);
    times.learn(7, 160us);  // Error 80: mean 90, deviation 40 + (80 - 40) / 4 = 50.
    EXPECT_EQ(times.predict(7), 90us + 50us);
}

// Goal: steady run times end up predicted as they are, also when they change. Method: the same
// value again and again, then another one.
TEST(RunTimesTest, SteadyRunTimesAreFound) {
    RunTimes times;
    for (const auto steady : {5us, 5000us, 20us}) {
        for (int i = 0; i < 200; ++i) times.learn(3, steady);
        const auto predicted = times.predict(3).value_or(0us);
        EXPECT_NEAR(static_cast<double>(predicted.count()),
                    static_cast<double>(Duration{steady}.count()), 100.0)
            << steady.count();
    }
}

// Goal: where run times differ much, nothing short is predicted. Method: one in twenty takes a
// hundred times as long as the others; a prediction below the long ones' run time is rare.
TEST(RunTimesTest, AMixIsNotTakenForShort) {
    RunTimes times;
    SplitMix64 random(1);
    int shorter_than_the_budget = 0;
    for (int i = 0; i < 10'000; ++i) {
        times.learn(9, random.below(20) == 0 ? Duration{100ms} : Duration{1ms});
        shorter_than_the_budget += *times.predict(9) < 1ms ? 1 : 0;
    }
    EXPECT_EQ(shorter_than_the_budget, 0);
}

// Goal: fingerprints that meet in one place do not get each other's run times. Method: two whose
// difference is the size of the table.
TEST(RunTimesTest, WhoTakesAPlaceTakesNoRunTimes) {
    RunTimes times;
    constexpr std::uint64_t kFirst = 5;
    constexpr std::uint64_t kSecond = kFirst + 4096;
    times.learn(kFirst, 1ms);
    times.learn(kSecond, 7us);
    EXPECT_EQ(times.predict(kFirst), std::nullopt);
    EXPECT_EQ(times.predict(kSecond), 7us + Duration{7us} / 2);
}

}  // namespace
}  // namespace shortq::core
