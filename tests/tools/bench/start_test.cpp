// tests/tools/bench/start_test.cpp. Goal: `shortq-bench start` measures what it says, and leaves
// nothing behind. Method: run it with little data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/end-to-end/program.h"

namespace shortq::test {
namespace {

using ::testing::HasSubstr;

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

// Goal: a figure for each server. Method: all combinations with two and one workers; each figure is
// there and positive.
TEST(BenchStartTest, EveryCombinationIsMeasured) {
    Program bench(SHORTQ_BENCH_PROGRAM, {"start", "--rows", "20000", "--workers", "2,1", "--starts",
                                         "2", "--kills", "1", "--reloads", "1", "--json"});
    const auto outcome = bench.finish();
    ASSERT_TRUE(outcome.status.success()) << outcome.err;
    EXPECT_TRUE(bench.family().empty());
    const auto report = nlohmann::json::parse(outcome.out);
    std::set<std::string> names;
    for (const auto& metric : report) {
        const auto name = metric["name"].get<std::string>();
        names.insert(name);
        EXPECT_GT(metric["value"].get<double>(), 0) << name;
        EXPECT_GT(metric["ratio"].get<double>(), 0) << name;
    }
    std::set<std::string> expected;
    for (const std::string source : {"in_memory", "in_a_file"})
        for (const std::string spawn : {"fork", "exec"})
            for (const std::string workers : {"w1", "w2"})
                for (const std::string figure :
                     {"all_ready", "pss", "killed_to_answer", "reload", "reload.throughput"})
                    expected.insert("start." + source + "." + spawn + "." + workers + "." + figure);
    EXPECT_EQ(names, expected);
}

// Goal: a source of one's own is measured instead. Method: a script, one way to spawn, as a table.
TEST(BenchStartTest, AGivenSourceIsMeasuredInstead) {
    const TemporaryFolder folder;
    const auto script = folder.write("own.sql",
                                     "create table own as select range as i from "
                                     "range(1000);");
    const auto outcome =
        run(SHORTQ_BENCH_PROGRAM,
            {"start", "--source", script, "--scan", "select sum(i) from own", "--spawn", "fork",
             "--workers", "1", "--starts", "1", "--kills", "0", "--reloads", "0"});
    ASSERT_TRUE(outcome.status.success()) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr(script + "  fork        1 "));
    EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 2) << outcome.out;
}

// Goal: what cannot be measured is an error with its cause. Method: a scan of a table that is not
// there, a source without a scan, a way to spawn that there is not.
TEST(BenchStartTest, ErrorsNameTheirCause) {
    const TemporaryFolder folder;
    const auto script = folder.write("own.sql", "");
    const auto scan = run(SHORTQ_BENCH_PROGRAM, {"start", "--source", script, "--scan",
                                                 "from nowhere", "--workers", "1"});
    EXPECT_EQ(scan.status, (ExitStatus{.signalled = false, .value = kExitFailed}));
    EXPECT_THAT(scan.err, HasSubstr("nowhere"));
    for (const std::vector<std::string>& wrong :
         {std::vector<std::string>{"start", "--source", script},
          {"start", "--spawn", "thread"},
          {"start", "--workers", "0"}}) {
        const auto usage = run(SHORTQ_BENCH_PROGRAM, wrong);
        EXPECT_EQ(usage.status, (ExitStatus{.signalled = false, .value = kExitUsage}));
        EXPECT_THAT(usage.err, HasSubstr(wrong[1]));
    }
}

}  // namespace
}  // namespace shortq::test
