// tests/tools/bench/commands_test.cpp. Goal: what all subcommands have in common. Method: the
// program, with the least that it measures, and as a terminal's user would end it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/end-to-end/program.h"

namespace shortq::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Goal: a pattern that no figure has is an error, not an empty report.
TEST(BenchCommandsTest, APatternThatNoFigureHasIsAnError) {
    const auto outcome =
        run(SHORTQ_BENCH_PROGRAM, {"dispatch", "--quick", "--only", "no.such.figure"});
    EXPECT_EQ(outcome.status, (ExitStatus{.signalled = false, .value = 1}));
    EXPECT_THAT(outcome.err, HasSubstr("not_found"));
    EXPECT_THAT(outcome.out, IsEmpty());
}

// Goal: Ctrl-C leaves neither processes nor folders. Method: interrupt it as soon as it has made
// its folder and started others.
TEST(BenchCommandsTest, AnInterruptLeavesNothingBehind) {
    const TemporaryFolder folder;
    Program bench(SHORTQ_BENCH_PROGRAM, {"dispatch"}, {}, {{"TMPDIR", folder.path()}});
    ASSERT_TRUE(wait_until(
        [&] { return !std::filesystem::is_empty(folder.path()) && bench.family().size() > 2; }));
    const auto family = bench.family();
    ::kill(bench.pid(), SIGINT);
    const auto outcome = bench.finish();
    EXPECT_EQ(outcome.status, (ExitStatus{.signalled = false, .value = 128 + SIGINT}));
    for (const auto& process : family)
        EXPECT_TRUE(wait_until([&] { return !process_info(process.pid); })) << process.name;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace shortq::test
