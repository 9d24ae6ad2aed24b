// tests/tools/bench/report_test.cpp. Goal: people and programs read the same figures. Method:
// samples that are easy to divide.
#include "tools/bench/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace shortq::bench {
namespace {

using ::testing::HasSubstr;

// The ratios are 1/4, 1 and 3/4.
Metric example() {
    return {"dispatch.1x1.throughput", "requests/s", {10, 40, 30}, "zmq_proxy", {40, 40, 40}};
}

// Goal: the ratio is the median of the rounds' ratios, not the ratio of medians. Method: a baseline
// that moves with the samples.
TEST(ReportTest, RatiosAreTakenInEachRound) {
    const Metric metric{"name", "unit", {10, 100, 1000}, "other", {10, 50, 4000}};
    EXPECT_EQ(metric.value(), 100);
    EXPECT_EQ(metric.baseline(), 50);
    EXPECT_EQ(metric.ratio(), 1);
    EXPECT_EQ(metric.min(), 0.25);
    EXPECT_EQ(metric.max(), 2);
}

TEST(ReportTest, ProgramsReadAnArrayOfFigures) {
    const auto array = nlohmann::json::parse(as_json({example()}));
    EXPECT_EQ(array, nlohmann::json::parse(R"([{"name": "dispatch.1x1.throughput", "ratio": 0.75,
        "min": 0.25, "max": 1.0, "value": 30.0, "unit": "requests/s", "baseline": 40.0,
        "against": "zmq_proxy"}])"));
    EXPECT_EQ(as_json({}), "[]\n");
}

// Goal: a metric without samples, or with a baseline of nothing, is still JSON.
TEST(ReportTest, NothingMeasuredIsZero) {
    const auto array = nlohmann::json::parse(
        as_json({{"empty", "s", {}, "nothing", {}}, {"zero", "s", {1}, "nothing", {0}}}));
    for (const auto& figure : array) EXPECT_EQ(figure["ratio"], 0);
}

TEST(ReportTest, PeopleReadALineForEachFigure) {
    const auto table = as_table({example(), example()});
    EXPECT_EQ(std::ranges::count(table, '\n'), 3);
    EXPECT_THAT(table, HasSubstr("dispatch.1x1.throughput    0.750   0.250   1.000      30.00"
                                 "      40.00  requests/s  zmq_proxy\n"));
}

}  // namespace
}  // namespace shortq::bench
