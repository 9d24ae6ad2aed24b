// Goal: the progress line says what is known and fits. Method: known figures; a log in memory.
#include "tools/cli/progress_line.h"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

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
    const auto text = test::captured([](Output& log) {
        ProgressLine line(ProgressLine::Style::kLines, log);
        line.start();
        line.update({0.25, 0, 0});
        line.update({-1, 1234, 0});  // What is known is kept.
        const auto start = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - start < 700ms) std::this_thread::yield();
        line.stop();
    });
    EXPECT_THAT(text, testing::MatchesRegex(" 25 % \\[=======>  *\\] 1234 rows  0\\.[5-9] s\n"));
}

}  // namespace
}  // namespace shortq::cli
