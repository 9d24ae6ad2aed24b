// tests/tools/bench/trace_test.cpp. Goal: what the policies are compared with is right. Method: a
// trace worked out by hand, and long ones against what queueing theory says of their means.
#include "tools/bench/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace shortq::bench {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using ::testing::ElementsAre;

double seconds(nanoseconds time) { return std::chrono::duration<double>(time).count(); }

double mean_wait(const Trace& trace, unsigned servers) {
    const auto stays = ideal_stays(trace, servers);
    double sum = 0;
    for (std::size_t i = 0; i < trace.size(); ++i) sum += seconds(stays[i] - trace[i].service);
    return sum / static_cast<double>(trace.size());
}

// Erlang's C: the share of requests that wait in M/M/c.
double share_that_waits(unsigned servers, double load) {
    const double offered = servers * load;
    double term = 1;
    double sum = 1;
    for (unsigned k = 1; k < servers; ++k) sum += term *= offered / k;
    const double all_busy = term * offered / servers / (1 - load);
    return all_busy / (sum + all_busy);
}

// Goal: each request goes to whoever is free first, in order. Method: two servers, by hand.
TEST(IdealQueueTest, ServesInOrderOfArrivalWhereverSomebodyIsFree) {
    using ms = milliseconds;
    const Trace trace{
        {ms(0), ms(10)}, {ms(1), ms(3)}, {ms(2), ms(4)}, {ms(3), ms(1)}, {ms(20), ms(5)}};
    // The third waits until 4, the fourth until 8.
    EXPECT_THAT(ideal_stays(trace, 2), ElementsAre(ms(10), ms(3), ms(6), ms(6), ms(5)));
}

// Goal: waiting times are those of M/M/c. Method: Erlang's formula, for several servers and loads.
TEST(IdealQueueTest, WaitsAsTheoryHasItForExponentialService) {
    for (const unsigned servers : {1U, 4U, 16U}) {
        for (const double load : {0.5, 0.8}) {
            const auto trace = make_trace({.mix = Mix::kExponential,
                                           .mean = milliseconds(10),
                                           .servers = servers,
                                           .load = load,
                                           .length = std::chrono::minutes(120) / servers});
            const double theory = share_that_waits(servers, load) * 0.010 / servers / (1 - load);
            EXPECT_NEAR(mean_wait(trace, servers), theory, 0.1 * theory) << servers << ' ' << load;
        }
    }
}

// Goal: the same for other service times. Method: Pollaczek and Khinchine's formula for one server.
TEST(IdealQueueTest, WaitsAsTheoryHasItForTwoKindsOfService) {
    const auto trace = make_trace({.mix = Mix::kOneIn20,
                                   .mean = milliseconds(10),
                                   .servers = 1,
                                   .load = 0.5,
                                   .length = hours(5)});
    const double unit = 0.010 / 5.95;
    const double second_moment = unit * unit * (0.95 + 0.05 * 100 * 100);
    const double theory = 50 * second_moment / 2 / (1 - 0.5);
    EXPECT_NEAR(mean_wait(trace, 1), theory, 0.1 * theory);
}

// Goal: every mix has the load, mean and spread that it says. Method: moments of a long trace.
TEST(TraceTest, HasTheMomentsItIsAskedFor) {
    const std::vector<std::pair<Mix, double>> spreads{
        {Mix::kOneIn20, (0.95 + 500) / 5.95 / 5.95 - 1},
        {Mix::kOneIn200, (0.995 + 50) / 1.495 / 1.495 - 1},
        {Mix::kExponential, 1},
        {Mix::kLognormal, 8.5}};
    for (const auto& [mix, squared_variation] : spreads) {
        const auto trace = make_trace({.mix = mix, .servers = 4, .load = 0.8, .length = hours(1)});
        const auto count = static_cast<double>(trace.size());
        double sum = 0;
        double squares = 0;
        for (const auto& request : trace) {
            sum += seconds(request.service);
            squares += std::pow(seconds(request.service), 2);
        }
        const double mean = sum / count;
        EXPECT_NEAR(count, 3600 * 320, 3600 * 320 * 0.01) << name_of(mix);
        EXPECT_NEAR(mean, 0.010, 0.010 * 0.02) << name_of(mix);
        EXPECT_NEAR(squares / count / mean / mean - 1, squared_variation, squared_variation * 0.15)
            << name_of(mix);
    }
}

// Goal: arrivals are Poisson's. Method: gaps have mean and deviation alike, and are in order.
TEST(TraceTest, ArrivesAtRandom) {
    const auto trace = make_trace({.length = std::chrono::minutes(10)});
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 1; i < trace.size(); ++i) {
        const double gap = seconds(trace[i].arrival - trace[i - 1].arrival);
        ASSERT_GE(gap, 0);
        sum += gap;
        squares += gap * gap;
    }
    const double mean = sum / static_cast<double>(trace.size() - 1);
    const double variance = squares / static_cast<double>(trace.size() - 1) - mean * mean;
    EXPECT_NEAR(std::sqrt(variance) / mean, 1, 0.02);
}

// Goal: a class tells how long its requests take. Method: shares and bounds of the short ones.
TEST(TraceTest, KnowsTheShortOnes) {
    for (const auto& [mix, share] : {std::pair(Mix::kOneIn20, 0.95),
                                     {Mix::kOneIn200, 0.995},
                                     {Mix::kExponential, 1 - std::exp(-1.0)}}) {
        const auto trace = make_trace({.mix = mix, .length = std::chrono::minutes(20)});
        std::size_t shorts = 0;
        for (const auto& request : trace) {
            if (!request.is_short) continue;
            ++shorts;
            ASSERT_LT(request.service, milliseconds(10));
        }
        const auto count = static_cast<double>(trace.size());
        EXPECT_NEAR(static_cast<double>(shorts), share * count, 0.01 * count) << name_of(mix);
    }
}

// Goal: rounds can be compared. Method: the same seed twice, and another.
TEST(TraceTest, FollowsFromItsSeed) {
    const auto first = make_trace({.seed = 1});
    const auto again = make_trace({.seed = 1});
    const auto other = make_trace({.seed = 2});
    ASSERT_EQ(first.size(), again.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
        ASSERT_EQ(first[i].arrival, again[i].arrival);
        ASSERT_EQ(first[i].service, again[i].service);
    }
    EXPECT_NE(first[0].arrival, other[0].arrival);
}

}  // namespace
}  // namespace shortq::bench
