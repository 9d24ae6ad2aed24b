// Goal: replies leave in the order of their requests. Method: every order of finishing.
#include "primary/core/in_order.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

namespace shortq::core {
namespace {

using ::testing::ElementsAre;

template <class Line>
std::vector<std::string> all_of(Line& line) {
    std::vector<std::string> taken;
    while (auto reply = line.take()) taken.push_back(*reply);
    return taken;
}

TEST(InOrderTest, RepliesLeaveInTheOrderOfTheirRequestsWhateverIsFinishedFirst) {
    std::vector<std::uint64_t> ids{3, 5, 6, 9};
    do {
        InOrder<std::string> line;
        for (const std::uint64_t id : {3, 5, 6, 9}) line.expect(id);
        std::vector<std::string> taken;
        for (const auto id : ids) {
            EXPECT_TRUE(line.finish(id, std::to_string(id)));
            for (auto& reply : all_of(line)) taken.push_back(reply);
        }
        EXPECT_THAT(taken, ElementsAre("3", "5", "6", "9"));
        EXPECT_EQ(line.size(), 0U);
    } while (std::ranges::next_permutation(ids).found);
}

TEST(InOrderTest, WhatWasNotAskedOrIsFinishedIsNoReply) {
    InOrder<std::string> line;
    line.expect(2);
    line.expect(4);
    EXPECT_FALSE(line.finish(3, "never asked"));
    EXPECT_TRUE(line.finish(4, "once"));
    EXPECT_FALSE(line.finish(4, "twice"));
    EXPECT_EQ(line.finished(), 1U);
    EXPECT_FALSE(line.is_ready());
    EXPECT_EQ(line.take(), std::nullopt) << "the first one's turn";
    EXPECT_TRUE(line.finish(2, "first"));
    EXPECT_TRUE(line.is_ready());
    EXPECT_THAT(all_of(line), ElementsAre("first", "once"));
    EXPECT_FALSE(line.finish(2, "gone"));
    EXPECT_EQ(line.finished(), 0U);
}

}  // namespace
}  // namespace shortq::core
