// tests/tools/bench/policy_model_test.cpp. Goal: the dispatcher hands out work nearly as well as
// can be. Method: traces in virtual time, so the same on every machine, against an ideal queue.
#include "tools/bench/policy_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tools/bench/policy.h"

namespace shortq::bench {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using ::testing::ElementsAre;

constexpr PolicyFigure kP99{.share = 0.99};

Trace trace_of(Mix mix, nanoseconds mean) {
    return make_trace({.mix = mix, .mean = mean, .servers = 4, .load = 0.8, .length = 2000 * mean});
}

// p99 of the stays, divided by that in an ideal queue.
double p99(const Trace& trace, const PolicyModelOptions& options) {
    return value_of(kP99, trace, modelled_stays(trace, options)) /
           value_of(kP99, trace, ideal_stays(trace, options.workers));
}

// Goal: the model's time is that of services and messages. Method: two requests for one worker, by
// hand: with a window of 1 the second one begins two hops after the first has ended.
TEST(PolicyModelTest, TakesMessagesAndServices) {
    const Trace trace{{milliseconds(0), milliseconds(10)}, {milliseconds(1), milliseconds(10)}};
    const PolicyModelOptions one{.workers = 1, .window = 1, .hop = milliseconds(1)};
    EXPECT_THAT(modelled_stays(trace, one), ElementsAre(milliseconds(14), milliseconds(25)));
    const PolicyModelOptions ahead{.workers = 1, .window = 0, .hop = milliseconds(1)};
    EXPECT_THAT(modelled_stays(trace, ahead), ElementsAre(milliseconds(14), milliseconds(23)));
}

// Goal: if messages took no time, a window of 1 would be the ideal queue. Method: each stay.
TEST(PolicyModelTest, WithoutMessagesAWindowOfOneIsIdeal) {
    for (const auto mix : {Mix::kOneIn20, Mix::kExponential}) {
        const auto trace = trace_of(mix, milliseconds(10));
        EXPECT_EQ(modelled_stays(trace, {.window = 1, .hop = nanoseconds(0)}),
                  ideal_stays(trace, 4));
    }
}

// Goal: the default window is close to the ideal, and the policies for comparison are not. Method:
// mean services of 10 ms, every mix; a fingerprint for each class, and one for all.
TEST(PolicyModelTest, TheDefaultWindowIsNearlyIdeal) {
    for (const auto mix : {Mix::kOneIn20, Mix::kOneIn200, Mix::kExponential, Mix::kLognormal}) {
        const auto trace = trace_of(mix, milliseconds(10));
        const auto one = p99(trace, {.window = 1});
        EXPECT_LT(p99(trace, {.per_class = true}), 1.05) << name_of(mix);
        EXPECT_LT(p99(trace, {}), 1.05 * one) << name_of(mix);
        EXPECT_GT(p99(trace, {.window = 0}), 1.1) << name_of(mix);
        EXPECT_GT(p99(trace, {.window = 0, .policy = core::Policy::kRandom}), 2) << name_of(mix);
    }
}

// Goal: short requests that are known to be short are given ahead, and so wait less for messages
// than with a window of 1. Method: a mean of 1 ms, most requests take a sixth of it.
TEST(PolicyModelTest, KnownShortRequestsAreGivenAhead) {
    const auto trace = trace_of(Mix::kOneIn20, milliseconds(1));
    const PolicyModelOptions automatic{.per_class = true, .hop = microseconds(60)};
    const auto ratio = p99(trace, automatic);
    EXPECT_LT(ratio, 1.05);
    EXPECT_LT(ratio, p99(trace, {.window = 1, .hop = microseconds(60)}));
}

}  // namespace
}  // namespace shortq::bench
