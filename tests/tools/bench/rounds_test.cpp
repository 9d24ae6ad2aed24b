// tests/tools/bench/rounds_test.cpp. Goal: sides are measured in turn. Method: sides that note when
// they were asked.
#include "tools/bench/rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace shortq::bench {
namespace {

using ::testing::ElementsAre;

// Goal: every round has each side once, and every second one in reverse; samples stay with their
// sides.
TEST(RoundsTest, SidesTakeTurns) {
    std::string asked;
    const auto side = [&](char name) {
        return [&asked, name]() -> Result<std::string> {
            asked += name;
            return name + std::to_string(asked.size());
        };
    };
    const auto samples = interleave<std::string>({.count = 3}, {side('a'), side('b')});
    ASSERT_TRUE(samples);
    EXPECT_EQ(asked, "abbaab");
    EXPECT_THAT(*samples,
                ElementsAre(ElementsAre("a1", "a4", "a5"), ElementsAre("b2", "b3", "b6")));
}

// Goal: time is bounded, yet there is something to tell. Method: no time at all.
TEST(RoundsTest, WithoutTimeThereIsOneRound) {
    const auto samples = interleave<int>({.count = 100, .limit = std::chrono::seconds(0)},
                                         {[]() -> Result<int> { return 1; }});
    ASSERT_TRUE(samples);
    EXPECT_THAT(*samples, ElementsAre(ElementsAre(1)));
}

// Goal: an error ends it. Method: a side that fails in its second round.
TEST(RoundsTest, AnErrorEndsIt) {
    int asked = 0;
    const auto samples = interleave<int>({.count = 5}, {[&]() -> Result<int> {
                                             if (++asked == 2)
                                                 return fail(ErrorCode::kInternal, "broken");
                                             return asked;
                                         }});
    ASSERT_FALSE(samples);
    EXPECT_EQ(samples.error().message, "broken");
    EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace shortq::bench
