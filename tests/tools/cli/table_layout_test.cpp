// Goal: a table never is wider than the terminal, and cuts texts before it leaves columns out.
// Method: examples; then every width for a table of many columns.
#include "tools/cli/table_layout.h"

#include <gtest/gtest.h>

#include <string>

namespace shortq::cli {
namespace {

std::size_t width(const std::vector<Slot>& slots) {
    std::size_t sum = 1;
    for (const auto& slot : slots) sum += slot.width + 3;
    return sum - 2;
}

// "0:5 ... 9:3"
std::string layout(const std::vector<Wish>& wishes, std::size_t total) {
    std::string text;
    for (const auto& slot : lay_out(wishes, total)) {
        if (!text.empty()) text += ' ';
        text += slot.column == kLeftOut
                    ? "..."
                    : std::to_string(slot.column) + ":" + std::to_string(slot.width);
    }
    return text;
}

TEST(TableLayoutTest, WhatFitsIsLeftAlone) {
    EXPECT_EQ(layout({{5, 0}, {3, 3}}, 0), "0:5 1:3");
    EXPECT_EQ(layout({{5, 0}, {3, 3}}, 13), "0:5 1:3");
    EXPECT_EQ(layout({}, 10), "");
}

TEST(TableLayoutTest, WideTextsAreCutAndNumbersAreNot) {
    EXPECT_EQ(layout({{200, 0}, {3, 3}}, 80), "0:72 1:3");
    EXPECT_EQ(layout({{30, 30}, {50, 0}}, 60), "0:30 1:25");
}

TEST(TableLayoutTest, ColumnsInTheMiddleAreLeftOut) {
    const std::vector<Wish> ten(10, Wish{12, 0});
    EXPECT_EQ(layout(ten, 80), "0:12 1:12 2:12 ... 8:12 9:12");
    EXPECT_EQ(layout(ten, 77), "0:12 1:12 ... 8:12 9:12");
    EXPECT_EQ(layout(ten, 50), "0:12 1:12 ... 9:12");
}

TEST(TableLayoutTest, NothingIsEverWiderThanTheTerminal) {
    std::vector<Wish> wishes;
    for (std::size_t i = 0; i < 40; ++i) wishes.push_back({3 + i * 2, i % 3 == 0 ? 3 + i * 2 : 0});
    for (std::size_t total = 8; total < 2000; ++total) {
        const auto slots = lay_out(wishes, total);
        EXPECT_LE(width(slots), total);
        EXPECT_GE(slots.size(), 1U);
    }
}

}  // namespace
}  // namespace shortq::cli
