// Goal: the progress line says what is known and fits. Method: known figures; a log in memory.
#include "tools/cli/progress.h"

#include <gmock/gmock.h>

#include "tests/tools/cli/capture.h"

namespace shortq::cli {
namespace {

using namespace std::chrono_literals;

TEST(ProgressTest, LineSaysWhatIsKnown) {
    EXPECT_EQ(progress_line({}, 1234ms, 80), "1.2 s");
    EXPECT_EQ(progress_line({}, 83s, 80), "1:23 min");
    EXPECT_EQ(progress_line({-1, 1}, 1s, 80), "1 row  1.0 s");
    EXPECT_EQ(progress_line({-1, 1'234'567}, 1s, 80), "1.2 M rows  1.0 s");
    EXPECT_EQ(progress_line({0.5, 12'345}, 2s, 80),
              " 50 % [===============>              ] 12 k rows  2.0 s");
    EXPECT_EQ(progress_line({1.0, 0}, 2s, 80), "100 % [==============================] 2.0 s");
}

TEST(ProgressTest, LineFitsTheTerminal) {
    EXPECT_EQ(progress_line({0.5, 12'345}, 2s, 40), " 50 % 12 k rows  2.0 s");
    EXPECT_EQ(progress_line({0.5, 12'345}, 2s, 10), " 50 % 12 k");
}

TEST(ProgressTest, QuickQueriesShowNothing) {
    for (const auto style : {Progress::Style::kInPlace, Progress::Style::kLines}) {
        EXPECT_EQ(test::captured([&](Output& log) {
                      Progress progress(style, log);
                      progress.start();
                      progress.tick();
                      progress.stop();
                  }),
                  "");
    }
}

}  // namespace
}  // namespace shortq::cli
