// Goal: quantiles are those of the nearest rank. Method: known latencies.
#include "tools/cli/latency.h"

#include <gtest/gtest.h>

namespace shortq::cli {
namespace {

using namespace std::chrono_literals;

TEST(LatenciesTest, QuantilesByNearestRank) {
    Latencies latencies;
    for (int i = 100; i >= 1; --i) latencies.add(i * 1ms);
    EXPECT_EQ(latencies.summary(3, 2s),
              "n=100 errors=3 p50_ms=50.00 p90_ms=90.00 p99_ms=99.00 max_ms=100.00 per_second=50");
}

TEST(LatenciesTest, NothingIsZero) {
    EXPECT_EQ(Latencies().summary(1, 0s),
              "n=0 errors=1 p50_ms=0.00 p90_ms=0.00 p99_ms=0.00 max_ms=0.00 per_second=0");
}

}  // namespace
}  // namespace shortq::cli
