// tests/tools/bench/memory_report_test.cpp. Goal: the report compares what is comparable. Method:
// figures that are easy to divide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/bench/memory.h"

namespace shortq::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

MemoryRow row(const char* spawn, unsigned workers, double ready_s, double memory_mb,
              std::vector<double> replaced_ms) {
    return {.source = "in memory",
            .spawn = spawn,
            .workers = workers,
            .ready_s = {ready_s},
            .memory_mb = memory_mb,
            .replaced_ms = std::move(replaced_ms)};
}

// Goal: a ratio is to the first row of the same way to spawn. Method: two ways, two rows each.
TEST(MemoryReportTest, RatiosAreToTheFirstOfTheSameKind) {
    const auto table = as_table({row("fork", 1, 2.0, 800, {}), row("fork", 4, 2.2, 840, {50}),
                                 row("exec", 1, 1.0, 700, {}), row("exec", 4, 3.0, 2800, {})});
    EXPECT_THAT(table,
                HasSubstr("in memory  fork        1     2.00 s   1.00     800 MB   1.00  -"));
    EXPECT_THAT(table, HasSubstr("in memory  fork        4     2.20 s   1.10     840 MB   1.05"));
    EXPECT_THAT(table, HasSubstr("in memory  exec        4     3.00 s   3.00    2800 MB   4.00"));
}

// Goal: of several kills the median counts. Method: three, one of them an outlier.
TEST(MemoryReportTest, TheMedianOfTheKillsIsShown) {
    EXPECT_THAT(as_table({row("fork", 1, 1, 1, {40, 900, 50})}),
                HasSubstr("50 ms (40 to 900, 3 kills)"));
}

// Goal: programs get each figure under its own name. Method: one row.
TEST(MemoryReportTest, EachFigureHasAName) {
    std::vector<std::string> names;
    for (const auto& metric : as_metrics({row("fork", 4, 1, 1, {40})}))
        names.push_back(metric.name);
    EXPECT_THAT(names,
                ElementsAre("memory.in_memory.fork.w4.all_ready", "memory.in_memory.fork.w4.pss",
                            "memory.in_memory.fork.w4.killed_to_answer"));
}

}  // namespace
}  // namespace shortq::bench
