// Goal: SQL gets its colours, and painting them moves nothing. Method: styles as letters; a virtual
// screen on which a line stands already.
#include "tools/cli/highlight.h"

#include <gmock/gmock.h>

#include <clocale>

#include "tests/tools/cli/virtual_screen.h"
#include "tools/cli/line_painting.h"

namespace shortq::cli {
namespace {

std::string letters(std::string_view before, std::string_view line) {
    std::string out;
    for (const auto style : highlight(before, line)) out += ".ksnc\\"[static_cast<int>(style)];
    return out;
}

TEST(HighlightTest, EachTokenHasItsStyle) {
    EXPECT_EQ(letters("", "select a,'x' from t --c"), "kkkkkk...sss.kkkk...ccc");
    EXPECT_EQ(letters("", "Limit 12"), "kkkkk.nn");
    EXPECT_EQ(letters("", "left join left(a)"), "kkkk.kkkk........");
    EXPECT_EQ(letters("", "\"from\" a.from"), ".............");
}

TEST(HighlightTest, LinesGoOnWhereTheOneBeforeEnded) {
    EXPECT_EQ(letters("select 'a\n", "b' as"), "ss.kk");
    EXPECT_EQ(letters("/* a\n", "b */ as"), "cccc.kk");
    EXPECT_EQ(letters("select\n", "\\d"), "..");
}

TEST(HighlightTest, CommandsAreOfOneColour) { EXPECT_EQ(letters("", "\\d select"), "\\\\......."); }

// A line on a screen, as an editor would show it; then painted.
void expect_same_place(const std::string& line, std::size_t width, std::size_t point) {
    SCOPED_TRACE(testing::Message() << line << " at " << width << ", cursor at " << point);
    test::VirtualScreen screen(width, 40);
    screen.feed("above\r\n> ");
    const auto place = place_after(std::string_view(line).substr(0, point), 2, width);
    screen.feed(line);
    screen.feed("\x1b[1;1H\x1b[" + std::to_string(place.row + 1) + "B\r");
    if (place.column > 0) screen.feed("\x1b[" + std::to_string(place.column) + "C");
    const auto text = screen.text();
    const auto row = screen.cursor_row();
    const auto column = screen.cursor_column();
    screen.feed(repaint(line, highlight("", line), point, 2, width));
    EXPECT_EQ(screen.text(), text);
    EXPECT_EQ(screen.cursor_row(), row);
    EXPECT_EQ(screen.cursor_column(), column);
}

TEST(LinePaintingTest, NothingMovesAtAnyWidth) {
    ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr);
    const std::string line =
        "select 'text', 12, \"漢字かな\" -- 漢字 e\u0301 comment 😀 that is long enough to wrap";
    for (std::size_t width = 8; width < 90; ++width) {
        for (const auto point : {std::size_t{0}, std::size_t{9}, line.size()}) {
            expect_same_place(line, width, point);
        }
    }
}

TEST(LinePaintingTest, PlacesAreThoseOfTheEditor) {
    ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr);
    EXPECT_EQ(place_after("abc", 2, 10), (ScreenPlace{0, 5}));
    EXPECT_EQ(place_after("12345678", 2, 10), (ScreenPlace{1, 0})) << "a full row";
    EXPECT_EQ(place_after("1234567漢", 2, 10), (ScreenPlace{1, 2})) << "no room for half of it";
    EXPECT_EQ(place_after("a\nb", 2, 10), (ScreenPlace{1, 1}));
    EXPECT_EQ(place_after("\x01", 2, 10), (ScreenPlace{0, 4})) << "^A";
    EXPECT_EQ(place_after("\t", 2, 20), (ScreenPlace{0, 8}));
}

}  // namespace
}  // namespace shortq::cli
