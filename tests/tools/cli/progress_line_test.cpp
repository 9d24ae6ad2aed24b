// Goal: the progress line says what is known and fits. Method: known figures; a log in memory.
#include "tools/cli/progress_line.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>

#include "tests/tools/cli/capture.h"

namespace shortq::cli {
namespace {

using namespace std::chrono_literals;

TEST(ProgressTest, LineSaysWhatIsKnown) {
    EXPECT_EQ(progress_text({}, 1234ms, 80), "1.2 s");
    EXPECT_EQ(progress_text({}, 83s, 80), "1:23 min");
    EXPECT_EQ(progress_text({-1, 1, 0}, 1s, 80), "1 row  1.0 s");
    EXPECT_EQ(progress_text({-1, 1'234'567, 0}, 1s, 80), "1.2 M rows  1.0 s");
    EXPECT_EQ(progress_text({0.5, 12'345, 0}, 2s, 80),
              " 50 % [===============>              ] 12 k rows  2.0 s");
    EXPECT_EQ(progress_text({1.0, 0, 0}, 2s, 80), "100 % [==============================] 2.0 s");
}

TEST(ProgressTest, LineFitsTheTerminal) {
    EXPECT_EQ(progress_text({0.5, 12'345, 0}, 2s, 40), " 50 % 12 k rows  2.0 s");
    EXPECT_EQ(progress_text({0.5, 12'345, 0}, 2s, 10), " 50 % 12 k");
}

TEST(ProgressTest, QuickQueriesShowNothing) {
    for (const auto style : {ProgressLine::Style::kInPlace, ProgressLine::Style::kLines}) {
        EXPECT_EQ(test::captured([&](Output& log) {
                      ProgressLine progress(style, log);
                      progress.start();
                      progress.stop();
                  }),
                  "");
    }
}

TEST(ProgressLineTest, LongQueriesShowWhatTheClientTells) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    Output log(ends[1]);
    ProgressLine line(ProgressLine::Style::kLines, log);
    line.start();
    line.update({0.25, 0, 0});
    line.update({-1, 1234, 0});  // What is known is kept.
    std::array<char, 128> shown{};
    ASSERT_GT(::read(ends[0], shown.data(), shown.size() - 1), 0);  // Until it is shown.
    line.stop();
    EXPECT_THAT(shown.data(), testing::MatchesRegex(" 25 % \\[=======>  *\\] 1234 rows  .* s\n"));
    ::close(ends[0]);
    ::close(ends[1]);
}

}  // namespace
}  // namespace shortq::cli
