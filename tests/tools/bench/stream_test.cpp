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
using ::testing::SizeIs;

// Goal: every figure is there, with a sample of each round, and speeds are not nothing.
TEST(BenchStreamTest, EveryFigureIsMeasured) {
    Program bench(SHORTQ_BENCH_PROGRAM, {"stream", "--rows", "300000", "--slow", "1", "--rounds",
                                         "2", "--round-ms", "100", "--json"});
    const auto outcome = bench.finish();
    ASSERT_TRUE(outcome.status.success()) << outcome.err;
    EXPECT_TRUE(bench.family().empty());
    const auto report = nlohmann::json::parse(outcome.out);
    std::set<std::string> names;
    for (const auto& metric : report["metrics"]) {
        const auto name = metric["name"].get<std::string>();
        names.insert(name);
        const bool memory = name.find(".memory.") != std::string::npos;
        EXPECT_THAT(metric["samples"], SizeIs(memory ? 1 : 2)) << name;
        if (!memory) {
            EXPECT_GT(metric["median"].get<double>(), 0) << name;
        }
    }
    EXPECT_EQ(names,
              (std::set<std::string>{
                  "stream.memory.primary", "stream.memory.worker", "stream.memory.client",
                  "stream.short_queries.alone", "stream.short_queries.beside",
                  "stream.short_queries.alone.latency", "stream.short_queries.beside.latency",
                  "stream.speed.engine_alone", "stream.speed.streamed", "stream.speed.whole"}));
}

// Goal: wrong usage is said as everywhere.
TEST(BenchStreamTest, WrongNumbersAreRefused) {
    const auto outcome = run(SHORTQ_BENCH_PROGRAM, {"stream", "--rows", "none"});
    EXPECT_EQ(outcome.status, (ExitStatus{.signalled = false, .value = 2}));
    EXPECT_THAT(outcome.err, HasSubstr("--rows"));
}

}  // namespace
}  // namespace shortq::test
