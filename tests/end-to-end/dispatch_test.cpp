#include "tests/end-to-end/fixture.h"

namespace shortq::test {
namespace {

using ::testing::Contains;
using ::testing::Each;

class DispatchTest : public EndToEnd {};

// Case 5. Goal: nothing waits for a worker that takes long to load. Method: the second of two loads
// for five seconds; requests before that are all answered by the first, later ones by both.
TEST_F(DispatchTest, NothingWaitsForAWorkerThatLoadsLong) {
    const Server server(test_engine(2, {}, "load-sleep-seat 2 5000\n"));
    auto client = server.connect();
    for (int i = 0; i < 50; ++i) EXPECT_EQ(cell(client.deferred("seat")), "1");
    EXPECT_TRUE(wait_until([&] { return cell(client.deferred("seat")) == "2"; }));
}

// Case 6. Goal: short queries do not wait for a long one while a worker is free. Method: one that
// would take ten minutes, and two short ones, at two workers.
TEST_F(DispatchTest, ShortQueriesDoNotWaitForALongOne) {
    const Server server(test_engine(2));
    auto client = server.connect();
    auto a = client.submit("sleep 600000");
    auto b = client.submit("echo b");
    auto c = client.submit("echo c");
    EXPECT_EQ(cell(b), "b");
    EXPECT_EQ(cell(c), "c");
    EXPECT_EQ(a.reply.wait_for(milliseconds(0)), std::future_status::timeout);
    client.cancel(a.number);
    EXPECT_EQ(summary(reply_of(a)).substr(0, 9), "cancelled");
}

// Case 15. Goal: a worker that fails every query at once does not attract all the traffic. Method:
// one of two does so; of queries sent one after the other it gets its half, not more.
TEST_F(DispatchTest, AFailingWorkerDoesNotAttractTheTraffic) {
    const Server server(test_engine(2, {}, "fail-every-query-seat 2\n"));
    auto client = server.connect();
    ASSERT_TRUE(wait_until([&] { return !client.deferred("echo x").has_value(); }));
    constexpr int kQueries = 100;
    int failed = 0;
    for (int i = 0; i < kQueries; ++i) failed += client.deferred("sleep 1") ? 0 : 1;
    EXPECT_GE(failed, kQueries * 4 / 10);
    EXPECT_LE(failed, kQueries * 6 / 10);
}

// Case 18. Goal: rows never reach another client. Method: one leaves with a query under way,
// another connects at once and must see its own row only; again and again.
TEST_F(DispatchTest, ANewcomerNeverSeesTheRowsOfOneWhoLeft) {
    const Server server(test_engine(1));
    for (int i = 0; i < 20; ++i) {
        const auto number = std::to_string(i);
        {
            auto leaver = server.connect();
            (void)leaver.submit("sleep 20");
            (void)leaver.submit("echo secret " + number);
        }
        auto newcomer = server.connect();
        EXPECT_EQ(cell(newcomer.deferred("echo mine " + number)), "mine " + number);
    }
}

// Case 13. Goal: a full queue refuses in good form, at once, and serves what it holds. Method:
// twice as many requests as may be pending.
TEST_F(DispatchTest, AFullQueueAnswersOverloaded) {
    const Server server(test_engine(1, {"--max-pending", "5"}));
    auto client = server.connect();
    auto blocker = client.submit("sleep 600000");
    ASSERT_TRUE(wait_until_running(client, 1));
    std::vector<Submitted> submitted;
    for (int i = 0; i < 9; ++i) submitted.push_back(client.submit("echo " + std::to_string(i)));
    for (std::size_t i = 4; i < 9; ++i) {
        const auto refused = reply_of(submitted[i]);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::kOverloaded);
        EXPECT_TRUE(refused.error().retryable);
        EXPECT_NE(refused.error().message, "");
    }
    client.cancel(blocker.number);
    EXPECT_FALSE(reply_of(blocker));
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(cell(submitted[i]), std::to_string(i));
}

}  // namespace
}  // namespace shortq::test
