// tests/tools/bench/smoke_test.cpp. Goal: what compares with other programs measures what it says,
// and leaves nothing behind. Method: the smallest cell of each subcommand, for a moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/end-to-end/program.h"

namespace shortq::test {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Runs the bench, looks at each of its figures, and returns their names.
std::vector<std::string> figures_of(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    Program bench(SHORTQ_BENCH_PROGRAM, arguments);
    const auto outcome = bench.finish();
    EXPECT_TRUE(outcome.status.success()) << outcome.err;
    EXPECT_TRUE(bench.family().empty());
    std::vector<std::string> names;
    for (const auto& figure : nlohmann::json::parse(outcome.out, nullptr, false)) {
        names.push_back(figure["name"]);
        EXPECT_GT(figure["ratio"].get<double>(), 0) << names.back();
        EXPECT_LE(figure["min"], figure["ratio"]) << names.back();
        EXPECT_GE(figure["max"], figure["ratio"]) << names.back();
        EXPECT_GT(figure["value"].get<double>(), 0) << names.back();
        EXPECT_GT(figure["baseline"].get<double>(), 0) << names.back();
        EXPECT_THAT(figure["unit"], AnyOf("requests/s", "MB/s", "rows/s", "queries/s", "us"));
    }
    return names;
}

// Method: one client with one request under way at a time, one worker, and 64 under way.
TEST(BenchSmokeTest, EchoesAreMeasuredOnEverySide) {
    EXPECT_THAT(
        figures_of(
            {"dispatch", "--rounds", "2", "--round-ms", "20", "--only", "dispatch.1x1.w1.32B.ipc"}),
        ElementsAre("dispatch.1x1.w1.32B.ipc.throughput", "dispatch.1x1.w1.32B.ipc.throughput.raw",
                    "dispatch.1x1.w1.32B.ipc.throughput.to_direct", "dispatch.1x1.w1.32B.ipc.p50",
                    "dispatch.1x1.w1.32B.ipc.p50.raw", "dispatch.1x1.w1.32B.ipc.p50.to_direct",
                    "dispatch.1x1.w1.32B.ipc.p99", "dispatch.1x1.w1.32B.ipc.p99.raw",
                    "dispatch.1x1.w1.32B.ipc.p99.to_direct"));
    EXPECT_THAT(figures_of({"dispatch", "--rounds", "1", "--round-ms", "20", "--window", "1",
                            "--only", "dispatch.8x8.w2.1KiB.tcp.throughput.raw"}),
                ElementsAre("dispatch.8x8.w2.1KiB.tcp.throughput.raw"));
}

TEST(BenchSmokeTest, LargeResultsAreMeasuredInBothWays) {
    EXPECT_THAT(
        figures_of({"transfer", "--rows", "20000", "--rounds", "1", "--only", "five_columns"}),
        ElementsAre("transfer.five_columns.throughput", "transfer.five_columns.rows",
                    "transfer.five_columns.whole.throughput", "transfer.five_columns.whole.rows"));
}

TEST(BenchSmokeTest, QueriesAreMeasuredAloneAndTogether) {
    EXPECT_THAT(
        figures_of({"query", "--days", "1", "--trades", "1000", "--rounds", "1", "--round-ms", "20",
                    "--only", "select1", "--only", "vwap", "--only", "c4.w2"}),
        ElementsAre("query.select1.p50", "query.select1.to_proxy.p50", "query.select1.kdb.p50",
                    "query.single.vwap.p50", "query.mix.c4.w2.throughput"));
}

// Goal: a server that does not start is the error that one reads. Method: a window it refuses.
TEST(BenchSmokeTest, AServerThatDoesNotStartIsAnError) {
    const auto outcome = run(SHORTQ_BENCH_PROGRAM, {"dispatch", "--quick", "--window", "wide"});
    EXPECT_EQ(outcome.status, (ExitStatus{.signalled = false, .value = 1}));
    EXPECT_THAT(outcome.err, HasSubstr("--window"));
    EXPECT_THAT(outcome.err, HasSubstr("could not be started"));
}

}  // namespace
}  // namespace shortq::test
