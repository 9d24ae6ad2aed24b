// tests/tools/bench/statistics_test.cpp. Goal: figures are what they are called. Method: samples of
// which everybody can tell.
#include "tools/bench/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shortq::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Goal: the order of samples does not matter. Method: an odd and an even number of them.
TEST(StatisticsTest, TheMedianIsInTheMiddle) {
    EXPECT_EQ(median({}), 0);
    EXPECT_EQ(median({7}), 7);
    EXPECT_EQ(median({9, 1, 5}), 5);
    EXPECT_EQ(median({9, 1, 5, 6}), 5.5);
}

// Goal: a percentile is one of the samples, by the nearest rank. Method: ten of them.
TEST(StatisticsTest, APercentileIsASample) {
    const std::vector<double> ten{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    EXPECT_EQ(percentile(ten, 0), 1);
    EXPECT_EQ(percentile(ten, 0.5), 5);
    EXPECT_EQ(percentile(ten, 0.51), 6);
    EXPECT_EQ(percentile(ten, 0.99), 10);
    EXPECT_EQ(percentile(ten, 1), 10);
    EXPECT_EQ(percentile({}, 0.5), 0);
}

// Goal: rounds are divided by their own counterparts. Method: pairs, one with nothing to divide by,
// and a round that only one side has.
TEST(StatisticsTest, RatiosAreOfTheSameRound) {
    EXPECT_THAT(ratios(std::vector<double>{1, 6, 3, 4}, std::vector<double>{2, 3, 0}),
                ElementsAre(0.5, 2, 0));
    EXPECT_THAT(ratios({}, {}), IsEmpty());
}

}  // namespace
}  // namespace shortq::bench
