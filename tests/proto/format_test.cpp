// Goal: exactly the Arrow format strings that a reader may meet are understood.
// Method: the list of the C data interface, written out, and near misses.
#include "proto/format.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace shortq::proto {
namespace {

TEST(FormatTest, FixedWidths) {
    const std::vector<std::pair<std::string, std::uint64_t>> formats = {
        {"c", 1},
        {"C", 1},
        {"s", 2},
        {"S", 2},
        {"i", 4},
        {"I", 4},
        {"l", 8},
        {"L", 8},
        {"e", 2},
        {"f", 4},
        {"g", 8},
        {"w:0", 0},
        {"w:42", 42},
        {"d:19,10", 16},
        {"d:9,2,32", 4},
        {"d:18,3,64", 8},
        {"d:38,0,128", 16},
        {"d:76,-3,256", 32},
        {"tdD", 4},
        {"tdm", 8},
        {"tts", 4},
        {"ttm", 4},
        {"ttu", 8},
        {"ttn", 8},
        {"tDs", 8},
        {"tDm", 8},
        {"tDu", 8},
        {"tDn", 8},
        {"tiM", 4},
        {"tiD", 8},
        {"tin", 16},
        {"tss:", 8},
        {"tsm:", 8},
        {"tsu:", 8},
        {"tsn:", 8},
        {"tsu:Europe/Berlin", 8},
        {"w:2147483647", 2147483647}};
    for (const auto& [text, width] : formats) {
        const auto format = parse_format(text);
        ASSERT_TRUE(format) << text;
        EXPECT_EQ(format->shape, Shape::kFixed) << text;
        EXPECT_EQ(format->width, width) << text;
    }
}

TEST(FormatTest, Shapes) {
    const std::vector<std::pair<std::string, Shape>> formats = {
        {"n", Shape::kNull},         {"b", Shape::kBits},         {"u", Shape::kBytes32},
        {"z", Shape::kBytes32},      {"U", Shape::kBytes64},      {"Z", Shape::kBytes64},
        {"vu", Shape::kViews},       {"vz", Shape::kViews},       {"+l", Shape::kList32},
        {"+L", Shape::kList64},      {"+vl", Shape::kListView32}, {"+vL", Shape::kListView64},
        {"+w:3", Shape::kFixedList}, {"+s", Shape::kStruct},      {"+m", Shape::kMap},
        {"+us:0,1", Shape::kSparse}, {"+ud:7", Shape::kDense},    {"+r", Shape::kRunEnds},
        {"+us:", Shape::kSparse}};
    for (const auto& [text, shape] : formats) {
        const auto format = parse_format(text);
        ASSERT_TRUE(format) << text;
        EXPECT_EQ(format->shape, shape) << text;
    }
}

TEST(FormatTest, UnionIdsNameChildren) {
    const auto format = parse_format("+ud:5,0,127");
    ASSERT_TRUE(format);
    EXPECT_EQ(format->type_ids, 3U);
    EXPECT_EQ(format->child_of_id[5], 0);
    EXPECT_EQ(format->child_of_id[0], 1);
    EXPECT_EQ(format->child_of_id[127], 2);
    EXPECT_EQ(format->child_of_id[1], kNoChild);
}

TEST(FormatTest, OnlyIntegersIndexDictionaries) {
    for (const char* text : {"c", "C", "s", "S", "i", "I", "l", "L"}) {
        EXPECT_TRUE(parse_format(text)->dictionary_index) << text;
    }
    for (const char* text : {"e", "f", "g", "b", "n", "u", "tdD", "w:4", "d:9,0,32", "+s"}) {
        EXPECT_FALSE(parse_format(text)->dictionary_index) << text;
    }
}

TEST(FormatTest, NearMissesAreUnknown) {
    for (const char* text :
         {"",       "x",        "ll",       "l ",        "+",
          "+x",     "+w",       "+w:",      "+w:-1",     "+w:2147483648",
          "+w:1x",  "w:",       "w:-1",     "w: 1",      "w:9999999999999999999999",
          "d:",     "d:38",     "d:0,0",    "d:77,0",    "d:9,",
          "d:9,2,", "d:9,2,16", "d:9,2,96", "d:9,2,32,", "d:9,2,32x",
          "ts",     "tsu",      "tsx:",     "tdd",       "ttx",
          "tDx",    "tix",      "v",        "vx",        "+v",
          "+us",    "+us:1,",   "+us:,1",   "+us:1,1",   "+us:128",
          "+us:-1", "+ud:1;2",  "+ud:1 ",   "+ll"}) {
        EXPECT_FALSE(parse_format(text)) << text;
    }
}

}  // namespace
}  // namespace shortq::proto
