#include <algorithm>
#include <csignal>
#include <iterator>
#include <map>
#include <stdexcept>

#include "tests/end-to-end/fixture.h"

namespace shortq::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr milliseconds kOneSecond{1000};

class LossTest : public EndToEnd {};

std::size_t count_missing(const std::vector<pid_t>& before, const std::vector<pid_t>& after) {
    std::vector<pid_t> missing;
    std::ranges::set_difference(before, after, std::back_inserter(missing));
    return missing.size();
}

// How many queries both workers have run by their own count, this class's questions left out.
class RunCount {
public:
    explicit RunCount(Client& client) : client_(client) {}
    std::int64_t both() {
        std::map<std::uint32_t, std::int64_t> by_seat;
        // One after the other, they go to the two workers by turns.
        EXPECT_TRUE(wait_until([&] {
            const auto table = client_.deferred("sequence");
            if (!table) throw std::runtime_error(summary(table));
            const auto seat = table->facts().worker;
            by_seat[seat] = table->integer(0, 0).value_or(-1) - asked_[seat]++;
            return by_seat.size() == 2;
        }));
        return by_seat[1] + by_seat[2];
    }

private:
    Client& client_;
    std::map<std::uint32_t, std::int64_t> asked_;
};

// Case 2. Goal: the last worker's end strands nobody, and costs nothing afterwards. Method: it is
// killed again and again while the queue is full; every request is answered, the queue is empty,
// and while a query sleeps for two seconds the primary uses next to no processor time.
TEST_F(LossTest, TheLastWorkersEndStrandsNobody) {
    const Server server(test_engine(1, {"--max-pending", "50"}));
    auto client = server.connect();
    for (int round = 0; round < 5; ++round) {
        std::vector<Submitted> submitted;
        for (int i = 0; i < 60; ++i) submitted.push_back(client.submit("sleep 5"));
        EXPECT_EQ(cell(submitted[0]), "5");  // It is in the middle of the others now.
        for (const pid_t worker : server.workers()) (void)::kill(worker, SIGKILL);
        std::map<std::string, int> outcomes;
        for (std::size_t i = 1; i < submitted.size(); ++i) {
            const auto reply = reply_of(submitted[i]);
            ++outcomes[reply ? "ok" : std::string(name_of(reply.error().code))];
        }
        EXPECT_GE(outcomes["ok"], 49);
        EXPECT_EQ(outcomes["ok"] + outcomes["overloaded"], 59) << "a single loss is no error";
    }
    EXPECT_EQ(stat(client, "requests_queued") + stat(client, "requests_abandoned"), 0);
    const auto before = cpu_time(server.pid());
    EXPECT_EQ(cell(client.deferred("sleep 2000")), "2000");
    EXPECT_LT(cpu_time(server.pid()) - before, milliseconds(500));
}

// Case 9. Goal: a query survives its worker. Method: kill -9 the worker in the middle; the other
// answers, and began within a second of the kill.
TEST_F(LossTest, AKilledWorkersQueryIsAnsweredByAnother) {
    const Server server(test_engine(2));
    ASSERT_TRUE(server.wait_for_workers(2));
    auto client = server.connect();
    auto submitted = client.submit("sleep 1500");
    ASSERT_TRUE(wait_until_running(client, 1));
    const pid_t victim = busy_worker(client);
    ASSERT_GT(victim, 0);
    ASSERT_EQ(::kill(victim, SIGKILL), 0);
    const auto killed = Clock::now();
    const auto result = reply_of(submitted);
    EXPECT_EQ(cell(result), "1500");
    EXPECT_LT(since(killed), milliseconds(1500) + kOneSecond);
    EXPECT_TRUE(server.wait_for_workers(2));
    EXPECT_THAT(server.workers(), Not(Contains(victim)));
}

// Case 10. Goal: a silent worker costs a request its deadline, not more. Method: stop the worker of
// a request with a deadline; the request ends on time, the worker is replaced after the grace
// period, and the other one answers all the while.
TEST_F(LossTest, ASilentWorkerIsReplacedAfterItsRequestsDeadline) {
    const Server server(test_engine(2, {"--grace", "0.5"}));
    ASSERT_TRUE(server.wait_for_workers(2));
    auto client = server.connect();
    const auto start = Clock::now();
    auto submitted = client.submit("sleep 600000", {}, within(milliseconds(1000)));
    ASSERT_TRUE(wait_until_running(client, 1));
    const pid_t victim = busy_worker(client);
    ASSERT_GT(victim, 0);
    ASSERT_EQ(::kill(victim, SIGSTOP), 0);
    EXPECT_EQ(cell(client.deferred("echo while it is silent")), "while it is silent");
    const auto result = reply_of(submitted);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kTimeout);
    EXPECT_GE(since(start), milliseconds(1000));
    EXPECT_LT(since(start), milliseconds(1000) + kOneSecond);
    EXPECT_TRUE(wait_until([&] {
        const auto workers = server.workers();
        return workers.size() == 2 && std::ranges::find(workers, victim) == workers.end();
    }));
    EXPECT_EQ(cell(client.deferred("echo after")), "after");
}

// Case 11. Goal: a query that crashes its worker takes two down at most. Method: crash, eight
// workers; the client learns that its query did it, and all are back.
TEST_F(LossTest, ACrashingQueryTakesTwoWorkersAtMost) {
    const Server server(test_engine(8));
    ASSERT_TRUE(server.wait_for_workers(8));
    auto client = server.connect();
    ASSERT_TRUE(wait_until([&] {
        return cell(client.sync("select count(*) from shortq.workers where state = 'ready'")) ==
               "8";
    }));
    const auto before = server.workers();
    const auto result = client.deferred("crash");
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kWorkerLost);
    EXPECT_FALSE(result.error().retryable);
    EXPECT_THAT(result.error().message, HasSubstr("quer"));
    EXPECT_TRUE(wait_until([&] {
        return cell(client.sync("select count(*) from shortq.workers where state = 'ready'")) ==
               "8";
    }));
    EXPECT_EQ(count_missing(before, server.workers()), 2U);
    EXPECT_EQ(cell(client.deferred("echo on")), "on");
}

// Case 14. Goal: a query that ignores interruption is ended by force. Method: the client gets its
// timeout on time, then the worker is killed and replaced.
TEST_F(LossTest, AQueryThatIgnoresInterruptionIsKilledAfterTheGrace) {
    const Server server(test_engine(1, {"--grace", "0.5"}));
    ASSERT_TRUE(server.wait_for_workers(1));
    auto client = server.connect();
    const auto before = server.workers();
    const auto start = Clock::now();
    const auto result = client.deferred("sleep 600000 ignore", {}, within(milliseconds(500)));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kTimeout);
    EXPECT_LT(since(start), milliseconds(500) + kOneSecond);
    EXPECT_EQ(cell(client.deferred("echo on")), "on");
    EXPECT_NE(server.workers(), before);
}

// Case 20. Goal: no orphans. Method: kill -9 the primary while queries run; a second later all its
// workers are gone.
TEST_F(LossTest, AKilledPrimaryTakesItsWorkersAlong) {
    Server server(test_engine(4));
    ASSERT_TRUE(server.wait_for_workers(4));
    auto client = server.connect();
    std::vector<Submitted> submitted;
    for (int i = 0; i < 3; ++i) submitted.push_back(client.submit("sleep 600000"));
    submitted.push_back(client.submit("hang"));
    ASSERT_TRUE(wait_until_running(client, 4));
    server.signal(SIGKILL);
    ASSERT_TRUE(server.wait());
    EXPECT_TRUE(server.wait_until_gone(kOneSecond));
}

// Case 31. Goal: a paused primary does no harm. Method: stop it for ten seconds with requests under
// way and queued; afterwards each is answered, no worker was replaced, and each ran once: the
// workers' own counts of what they ran, and the primary's of replies, say so.
TEST_F(LossTest, APausedPrimaryLosesNothing) {
    const Server server(test_engine(2));
    ASSERT_TRUE(server.wait_for_workers(2));
    auto client = server.connect();
    RunCount count(client);
    const auto earlier = count.both();
    const auto before = server.workers();
    std::vector<Submitted> submitted;
    for (int i = 0; i < 8; ++i) submitted.push_back(client.submit("sleep 300"));
    ASSERT_TRUE(wait_until_running(client, 2));
    const auto answered = stat(client, "requests_answered");
    server.signal(SIGSTOP);
    // The pause itself is the test.
    EXPECT_EQ(submitted[7].reply.wait_for(std::chrono::seconds(10)), std::future_status::timeout);
    server.signal(SIGCONT);
    for (auto& one : submitted) EXPECT_EQ(cell(one), "300");
    EXPECT_EQ(stat(client, "requests_answered"), answered + 8 + 1);  // And the first question.
    EXPECT_EQ(stat(client, "requests_retried"), 0);
    EXPECT_EQ(stat(client, "requests_dropped"), 0);
    EXPECT_EQ(count.both(), earlier + 8);
    EXPECT_EQ(server.workers(), before);
    EXPECT_EQ(cell(client.sync("select sum(restarts) from shortq.workers")), "0");
    EXPECT_EQ(running(client), 0);
}

// Case 32. Goal: a restart of the primary is no loss to waiting deferred requests. Method: restart
// it on the same port; the deferred request is answered by the new one, the sync one says why not.
TEST_F(LossTest, ARestartedPrimaryAnswersTheDeferredRequestsThatWaited) {
    auto first = std::make_unique<Server>(test_engine(1));
    const auto port = first->port();
    auto client = first->connect();
    auto blocker = client.submit("sleep 600000", {}, within(milliseconds(50'000)));
    auto deferred = client.submit("echo sent again");
    auto sync = client.submit_sync("select count(*) from range(1000000000000) a, range(1000)");
    ASSERT_TRUE(wait_until_running(client, 1));
    first->signal(SIGKILL);
    ASSERT_TRUE(first->wait());
    first.reset();
    const Server second(test_engine(2), port);
    EXPECT_EQ(cell(deferred), "sent again");
    const auto lost = reply_of(sync);
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code, ErrorCode::kConnection);
    client.cancel(blocker.number);
    EXPECT_FALSE(reply_of(blocker));
}

}  // namespace
}  // namespace shortq::test
