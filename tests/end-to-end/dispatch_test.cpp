#include <algorithm>
#include <map>
#include <stdexcept>

#include "tests/end-to-end/fixture.h"
#include "tests/end-to-end/raw_peer.h"

namespace shortq::test {
namespace {

using ::testing::AnyOf;

class DispatchTest : public EndToEnd {
protected:
    // How many queries the only worker has run so far, by its own count.
    static std::string runs(Client& client) { return cell(client.deferred("sequence")); }
};

// Case 1. Goal: nobody waits beside an idle worker. Method: 20 clients with 200 queries each at two
// workers. At each look there are either two running or none waiting; a look is one snapshot.
TEST_F(DispatchTest, NobodyWaitsBesideAnIdleWorker) {
    constexpr int kQueries = 200;
    const Server server(test_engine(2));
    std::vector<Client> clients;
    for (int i = 0; i < 20; ++i) clients.push_back(server.connect());
    auto observer = server.connect();
    ASSERT_TRUE(wait_until([&] { return cell(observer.deferred("seat")) == "2"; }));
    std::vector<Submitted> submitted;
    for (int query = 0; query < kQueries; ++query) {
        for (auto& client : clients) submitted.push_back(client.submit("sleep 1"));
    }
    std::int64_t most_waiting = 0;
    EXPECT_TRUE(wait_until([&] {
        const auto look = observer.sync(
            "select count(*) filter (where state = 'running'), count(*) filter (where state = "
            "'queued') from shortq.queries where mode = 'deferred'");
        if (!look) throw std::runtime_error(summary(look));
        const auto running = look->integer(0, 0).value_or(-1);
        const auto waiting = look->integer(0, 1).value_or(-1);
        EXPECT_TRUE(running == 2 || waiting == 0) << running << " run, " << waiting << " wait";
        most_waiting = std::max(most_waiting, waiting);
        return running + waiting == 0;
    }));
    EXPECT_GT(most_waiting, 0);
    std::map<std::uint32_t, int> by_worker;
    for (auto& one : submitted) {
        const auto reply = reply_of(one);
        ASSERT_TRUE(reply) << summary(reply);
        ++by_worker[reply->facts().worker];
    }
    EXPECT_GT(by_worker[1], 0);
    EXPECT_GT(by_worker[2], 0);
    EXPECT_EQ(by_worker[1] + by_worker[2], 20 * kQueries);
}

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

// Case 7. Goal: short queries have the free workers to themselves. Method: one that would take ten
// minutes, and 200 short ones at once, at three workers: all are answered before the long one, by
// the other two, which both take part.
TEST_F(DispatchTest, ShortQueriesHaveTheFreeWorkersBesideALongOne) {
    const Server server(test_engine(3));
    auto client = server.connect();
    ASSERT_TRUE(wait_until([&] { return cell(client.deferred("seat")) == "3"; }));
    auto long_one = client.submit("sleep 600000");
    ASSERT_TRUE(wait_until_running(client, 1));
    const pid_t busy = busy_worker(client);
    std::vector<Submitted> short_ones;
    for (int i = 0; i < 200; ++i) short_ones.push_back(client.submit("pid"));
    std::set<std::string> pids;
    for (auto& one : short_ones) pids.insert(cell(one));
    EXPECT_EQ(pids.size(), 2U);
    EXPECT_FALSE(pids.contains(std::to_string(busy)));
    EXPECT_EQ(long_one.reply.wait_for(milliseconds(0)), std::future_status::timeout);
    client.cancel(long_one.number);
    EXPECT_EQ(summary(reply_of(long_one)).substr(0, 9), "cancelled");
}

// Case 27. Goal: likeness of texts does not put a short query behind a long one. Method: 200 short
// queries at once and, among them, one that would take ten minutes and differs by a number only, at
// two workers: all short ones are answered while the long one runs.
TEST_F(DispatchTest, ShortQueriesDoNotWaitForALongOneOfTheSameShape) {
    const Server server(test_engine(2));
    auto client = server.connect();
    ASSERT_TRUE(wait_until([&] { return cell(client.deferred("seat")) == "2"; }));
    // Tiny ones are given ahead, and recalled from behind the long one.
    const std::vector<std::pair<const char*, int>> rounds = {
        {"sleep 0", 199}, {"sleep 0", 100}, {"sleep 0", 0}, {"sleep 1", 100}, {"sleep 1", 0}};
    for (const auto& [short_one, position] : rounds) {
        Submitted long_one;
        std::vector<Submitted> short_ones;
        for (int i = 0; i < 200; ++i) {
            if (i == position) long_one = client.submit("sleep 600000");
            short_ones.push_back(client.submit(short_one));
        }
        for (auto& one : short_ones) EXPECT_EQ("sleep " + cell(one), short_one);
        EXPECT_EQ(long_one.reply.wait_for(milliseconds(0)), std::future_status::timeout);
        ASSERT_TRUE(wait_until_running(client, 1));
        client.cancel(long_one.number);
        EXPECT_EQ(summary(reply_of(long_one)).substr(0, 9), "cancelled");
    }
}

// Case 8. Goal: a cancelled request that waits is answered at once and never runs. Method: cancel
// it behind one that would take ten minutes; that one still runs when the answer is there, and the
// worker has run nothing else afterwards.
TEST_F(DispatchTest, ACancelledRequestThatWaitsNeverRuns) {
    const Server server(test_engine(1));
    auto client = server.connect();
    auto blocker = client.submit("sleep 600000");
    ASSERT_TRUE(wait_until_running(client, 1));
    auto victim = client.submit("echo never");
    auto other = client.submit("sequence");
    client.cancel(victim.number);
    EXPECT_EQ(summary(reply_of(victim)).substr(0, 9), "cancelled");
    EXPECT_EQ(blocker.reply.wait_for(milliseconds(0)), std::future_status::timeout);
    client.cancel(blocker.number);
    EXPECT_FALSE(reply_of(blocker));
    EXPECT_EQ(cell(other), "1") << "the blocker has run, nothing else";
}

// Case 12. Goal: a client with much to do does not hold up another's single query. Method: one
// queues a thousand behind one that would take ten minutes, then the other sends one; the worker
// tells how many it ran before that: what it held, and one turn of the first client.
TEST_F(DispatchTest, ManyQueriesOfOneClientDoNotHoldUpAnother) {
    const Server server(test_engine(1));
    auto busy = server.connect();
    auto other = server.connect();
    auto held = busy.submit("sleep 600000");
    ASSERT_TRUE(wait_until_running(busy, 1));
    std::vector<Submitted> queued;
    for (int i = 0; i < 1000; ++i) queued.push_back(busy.submit("sleep 1"));
    ASSERT_TRUE(wait_until([&] { return stat(busy, "requests_queued") == 1000; }));
    auto single = other.submit("sequence");
    ASSERT_TRUE(wait_until([&] { return stat(busy, "requests_queued") == 1001; }));
    busy.cancel(held.number);
    EXPECT_THAT(cell(single), AnyOf("1", "2"));
    EXPECT_FALSE(reply_of(held));
    for (auto& one : queued) EXPECT_EQ(cell(one), "1");
}

// Case 15. Goal: a worker that fails every query at once does not attract all the traffic. Method:
// one of two does so; of queries sent one after the other it gets its half at most.
TEST_F(DispatchTest, AFailingWorkerDoesNotAttractTheTraffic) {
    const Server server(test_engine(2, {}, "fail-every-query-seat 2\n"));
    auto client = server.connect();
    ASSERT_TRUE(wait_until([&] { return !client.deferred("echo x").has_value(); }));
    constexpr int kQueries = 100;
    int failed = 0;
    for (int i = 0; i < kQueries; ++i) failed += client.deferred("sleep 1") ? 0 : 1;
    // Fewer are fine: how long it is held off depends on how long the others' results take.
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

// Case 18. Goal: the same when the client leaves without a word. Method: as above, with requests of
// the same number as the newcomer's, and no goodbye.
TEST_F(DispatchTest, ANewcomerNeverSeesTheRowsOfOneWhoVanished) {
    const Server server(test_engine(1));
    zmq::context_t context;
    for (int i = 0; i < 20; ++i) {
        {
            RawPeer leaver(context, server.endpoint());
            const auto session = leaver.hello();
            leaver.send({encoded(proto::Request{.id = 1, .session = session}), "sleep 5"});
            leaver.send({encoded(proto::Request{.id = 2, .session = session}), "bytes 5000"});
        }
        RawPeer newcomer(context, server.endpoint());
        const auto session = newcomer.hello();
        newcomer.send({encoded(proto::Request{.id = 2, .session = session}), "bytes 7"});
        const auto reply = newcomer.next_of<proto::Reply>();
        ASSERT_TRUE(reply);
        EXPECT_TRUE(reply->last);
        EXPECT_EQ(reply->id, 2U);
        EXPECT_EQ(newcomer.bodies().back(), "xxxxxxx");
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
