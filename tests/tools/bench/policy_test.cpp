// tests/tools/bench/policy_test.cpp. Goal: policies are compared as they are named. Method: stays
// that are easy to rank, and a run with short traces.
#include "tools/bench/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/end-to-end/program.h"

namespace shortq::bench {
namespace {

using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::Field;
using ::testing::SizeIs;

// Goal: a name tells all that a figure depends on. Method: all figures of two cells.
TEST(PolicyFiguresTest, HaveNamesOfTheirOwn) {
    const PolicyCell cell;
    auto figures = policy_figures(cell);
    EXPECT_THAT(figures,
                Contains(Field(&PolicyFigure::name, "policy.95-5.load80.auto.w4.mean10ms.p99")));
    const auto others = policy_figures({Mix::kLognormal, 16, 1, 90});
    figures.insert(figures.end(), others.begin(), others.end());
    std::set<std::string> names;
    for (const auto& figure : figures) names.insert(figure.name);
    EXPECT_THAT(names, SizeIs(figures.size()));
}

// Goal: percentiles of all requests, and of the short ones. Method: one long request among 100.
TEST(PolicyFiguresTest, ShortOnesAreToldApart) {
    Trace trace(100);
    std::vector<std::chrono::nanoseconds> stays;
    for (int i = 1; i <= 100; ++i) stays.emplace_back(milliseconds(i));
    trace[99].is_short = false;
    EXPECT_EQ(value_of({.share = 0.5}, trace, stays), 50);
    EXPECT_EQ(value_of({.share = 0.999}, trace, stays), 100);
    EXPECT_EQ(value_of({.short_only = true, .share = 0.999}, trace, stays), 99);
}

// Goal: every variant is measured, and none beats the ideal queue by more than what chance gives.
// Method: the program, with short traces of one cell; each figure is there and above zero, and the
// median stay of evenly long requests is no shorter than the ideal one.
TEST(BenchPolicyTest, EveryVariantIsMeasured) {
    test::Program bench(SHORTQ_BENCH_PROGRAM,
                        {"policy", "--seeds", "1", "--stretch", "0.1", "--only",
                         "exponential.load50.*.w4.mean10ms", "--json"});
    const auto outcome = bench.finish();
    ASSERT_TRUE(outcome.status.success()) << outcome.err;
    EXPECT_TRUE(bench.family().empty());
    std::set<std::string> names;
    for (const auto& metric : nlohmann::json::parse(outcome.out)) {
        const auto name = metric["name"].get<std::string>();
        names.insert(name);
        EXPECT_GT(metric["ratio"].get<double>(), 0) << name;
        if (name.ends_with("ms.p50")) {
            EXPECT_GE(metric["ratio"].get<double>(), 1) << name;
        }
    }
    std::set<std::string> expected;
    for (const auto& figure : policy_figures({Mix::kExponential, 4, 10, 50}))
        expected.insert(figure.name);
    EXPECT_EQ(names, expected);
}

}  // namespace
}  // namespace shortq::bench
