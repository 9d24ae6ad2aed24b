// tests/tools/bench/stream_test.cpp. Goal: `shortq-bench stream` measures what it says, and leaves
// nothing behind. Method: run it with little data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/end-to-end/program.h"

namespace shortq::test {
namespace {

using ::testing::HasSubstr;

// Goal: every figure is there, and speeds are not nothing.
TEST(BenchStreamTest, EveryFigureIsMeasured) {
    Program bench(SHORTQ_BENCH_PROGRAM, {"stream", "--rows", "300000", "--slow", "1", "--rounds",
                                         "2", "--round-ms", "100", "--json"});
    const auto outcome = bench.finish();
    ASSERT_TRUE(outcome.status.success()) << outcome.err;
    EXPECT_TRUE(bench.family().empty());
    const auto report = nlohmann::json::parse(outcome.out);
    std::set<std::string> names;
    for (const auto& metric : report) {
        const auto name = metric["name"].get<std::string>();
        names.insert(name);
        EXPECT_GT(metric["baseline"].get<double>(), 0) << name;
        if (name.find(".memory.") == std::string::npos) {  // Which may not have grown at all.
            EXPECT_GT(metric["ratio"].get<double>(), 0) << name;
        }
    }
    EXPECT_EQ(names, (std::set<std::string>{
                         "stream.memory.primary", "stream.memory.worker", "stream.memory.client",
                         "stream.short_queries.throughput", "stream.short_queries.p50",
                         "stream.speed.streamed", "stream.speed.whole"}));
}

// Goal: wrong usage is said as everywhere.
TEST(BenchStreamTest, WrongNumbersAreRefused) {
    const auto outcome = run(SHORTQ_BENCH_PROGRAM, {"stream", "--rows", "none"});
    EXPECT_EQ(outcome.status, (ExitStatus{.signalled = false, .value = 2}));
    EXPECT_THAT(outcome.err, HasSubstr("--rows"));
}

}  // namespace
}  // namespace shortq::test
