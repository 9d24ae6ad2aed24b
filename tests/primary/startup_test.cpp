#include "primary/startup.h"

#include <gtest/gtest.h>

namespace shortq::primary {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kEndpoint = "tcp://127.0.0.1:5001";

// With all workers there, the line comes at once, in the form that scripts parse, and only once.
TEST(StartupTest, LineComesWhenAllWorkersAreReady) {
    Startup startup(seconds(100), 2);
    startup.worker_ready(seconds(100) + milliseconds(200));
    EXPECT_FALSE(startup.line(seconds(100) + milliseconds(200), kEndpoint, 1));
    startup.worker_ready(seconds(100) + milliseconds(210));
    EXPECT_EQ(startup.line(seconds(100) + milliseconds(210), kEndpoint, 1),
              "ready tcp://127.0.0.1:5001 workers=2 generation=1 load=0.21s");
    EXPECT_FALSE(startup.line(seconds(101), kEndpoint, 1));
    EXPECT_FALSE(startup.due());
}

// One worker of three is slow: the line waits a second after the first, then counts who is there.
TEST(StartupTest, SlowWorkerHoldsTheLineUpForASecondOnly) {
    Startup startup(seconds(0), 3);
    startup.worker_ready(milliseconds(100));
    startup.worker_ready(milliseconds(150));
    EXPECT_EQ(startup.due(), milliseconds(1100));
    EXPECT_FALSE(startup.line(milliseconds(1099), kEndpoint, 1));
    EXPECT_EQ(startup.line(milliseconds(1100), kEndpoint, 1),
              "ready tcp://127.0.0.1:5001 workers=2 generation=1 load=1.10s");
}

// Where the first load took five seconds, the others may take five more.
TEST(StartupTest, PatienceGrowsWithTheFirstLoad) {
    Startup startup(seconds(0), 2);
    startup.worker_ready(seconds(5));
    EXPECT_EQ(startup.due(), seconds(10));
}

// Nothing is due while nobody can answer.
TEST(StartupTest, NoLineWithoutAWorker) {
    Startup startup(seconds(0), 2);
    EXPECT_FALSE(startup.due());
    EXPECT_FALSE(startup.line(seconds(100), kEndpoint, 0));
}

}  // namespace
}  // namespace shortq::primary
