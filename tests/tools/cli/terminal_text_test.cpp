// Goal: what is shown on a terminal cannot steer it, and its width is known. Method: examples.
#include "tools/cli/terminal_text.h"

#include <gtest/gtest.h>

#include <clocale>

namespace shortq::cli {
namespace {

class TerminalTextTest : public ::testing::Test {
protected:
    TerminalTextTest() { EXPECT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr); }
};

TEST_F(TerminalTextTest, ControlCharactersAreEscaped) {
    EXPECT_EQ(printable("a\x1b[31m\n\r\t\x7f"), "a\\x1b[31m\\n\\r\\t\\x7f");
    EXPECT_EQ(printable(std::string_view("\0x", 2)), "\\x00x");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              "\\x9b31m")
        << "CSI as one character";
    EXPECT_EQ(printable("\u202e\u2066\u2028"), "\\u202e\\u2066\\u2028");
    EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
    EXPECT_EQ(printable("grün 漢字 😀 e\u0301"), "grün 漢字 😀 e\u0301");
}

TEST_F(TerminalTextTest, WidthCountsColumns) {
    EXPECT_EQ(display_width(""), 0U);
    EXPECT_EQ(display_width("abc"), 3U);
    EXPECT_EQ(display_width("ü"), 1U);
    EXPECT_EQ(display_width("漢字"), 4U);
    EXPECT_EQ(display_width("e\u0301"), 1U) << "combining";
    EXPECT_EQ(display_width("😀"), 2U);
    EXPECT_EQ(display_width("\xff\xc3"), 2U) << "malformed";
}

TEST_F(TerminalTextTest, CutTextsFitAndSayThatTheyAreCut) {
    EXPECT_EQ(cut_to_width("abc", 3), "abc");
    EXPECT_EQ(cut_to_width("abcd", 3), "ab…");
    EXPECT_EQ(cut_to_width("漢字かな", 4), "漢…") << "half a character is none";
    EXPECT_EQ(cut_to_width("漢字", 1), "…");
    EXPECT_EQ(cut_to_width("e\u0301e\u0301e\u0301", 2), "e\u0301…");
}

}  // namespace
}  // namespace shortq::cli
