// tests/tools/bench/start_report_test.cpp. Goal: the report compares what is comparable. Method:
// figures that are easy to divide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/bench/start.h"

namespace shortq::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

StartRow row(const char* spawn, unsigned workers, double ready_s, double memory_mb,
             std::vector<double> replaced_ms) {
    return {.source = "in memory",
            .spawn = spawn,
            .workers = workers,
            .ready_s = {ready_s},
            .memory_mb = memory_mb,
            .replaced_ms = std::move(replaced_ms),
            .reload_s = {ready_s * 2},
            .asked_before = {1000},
            .asked_during = {250}};
}

// Goal: a ratio is to the first row of the same way to spawn. Method: two ways, two rows each.
TEST(StartReportTest, RatiosAreToTheFirstOfTheSameKind) {
    const auto table = as_table({row("fork", 1, 2.0, 800, {}), row("fork", 4, 2.2, 840, {50}),
                                 row("exec", 1, 1.0, 700, {}), row("exec", 4, 3.0, 2800, {})});
    EXPECT_THAT(table, HasSubstr("in memory  fork        1     2.00 s   1.00     800 MB   1.00  "
                                 "4.00 s, queries/s x 0.25  -"));
    EXPECT_THAT(table, HasSubstr("in memory  fork        4     2.20 s   1.10     840 MB   1.05"));
    EXPECT_THAT(table, HasSubstr("in memory  exec        4     3.00 s   3.00    2800 MB   4.00"));
}

// Goal: of several kills the median counts. Method: three, one of them an outlier.
TEST(StartReportTest, TheMedianOfTheKillsIsShown) {
    EXPECT_THAT(as_table({row("fork", 1, 1, 1, {40, 900, 50})}),
                HasSubstr("50 ms (40 to 900, 3 kills)"));
}

// Goal: programs get each figure under its own name. Method: one row.
TEST(StartReportTest, EachFigureHasAName) {
    std::vector<std::string> names;
    for (const auto& metric : as_metrics({row("fork", 4, 1, 1, {40})}))
        names.push_back(metric.name);
    EXPECT_THAT(
        names,
        ElementsAre("start.in_memory.fork.w4.all_ready", "start.in_memory.fork.w4.pss",
                    "start.in_memory.fork.w4.killed_to_answer", "start.in_memory.fork.w4.reload",
                    "start.in_memory.fork.w4.reload.throughput"));
}

// Goal: what is forked is compared with what loads for itself. Method: both, and one alone.
TEST(StartReportTest, ForkIsComparedWithExec) {
    for (const auto& metric :
         as_metrics({row("fork", 4, 1, 100, {}), row("exec", 4, 4, 400, {})})) {
        const bool during = metric.name.ends_with("throughput");
        const bool forked = metric.name.find("fork") != std::string::npos;
        EXPECT_EQ(metric.ratio(), during || forked ? 0.25 : 1) << metric.name;
        EXPECT_EQ(metric.against, during ? "before it" : forked ? "exec" : "workers: 4");
    }
}

}  // namespace
}  // namespace shortq::bench
