// tests/faults/fork_server_faults_test.cpp: fork servers that die or fall silent under load, while
// the workers they are needed for die as well.
#include <optional>

#include "tests/faults/faults.h"

namespace shortq::test {
namespace {

class ForkServerFaultsTest : public Faults {
protected:
    static constexpr std::size_t kWorkers = 3;

    // A fork server, or none; at a random moment there may be two, or one in the middle of a fork.
    static void strike(const Server& server, Seed& seed, int signal) {
        const auto all = server.fork_servers();
        if (!all.empty()) (void)send_signal(seed.pick(all), signal);
    }
    static void kill_a_worker(const Server& server, Seed& seed) {
        if (const auto worker = some_worker(server, seed)) (void)send_signal(*worker, SIGKILL);
    }
    // One fork server, all workers, none stopped.
    static void expect_whole(const Server& server, Client& client) {
        expect_all_back(client, kWorkers);
        EXPECT_TRUE(wait_until([&] {
            return server.fork_servers().size() == 1 && server.workers().size() == kWorkers;
        })) << server.log();
        expect_at_rest(client);
    }
};

// Goal: a fork server dies with the workers that it has to replace, and all come back. Method: kill
// both at random moments, the worker first, last or in between.
TEST_F(ForkServerFaultsTest, KilledTogetherWithWorkersItLosesNothing) {
    Seed seed;
    const Server server(duckdb(kWorkers, "create table t as from range(100000)"));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, kWorkers));
    Ledger ledger(server.endpoint(), seed, {});
    std::uint64_t kills = 0;
    for (std::uint64_t round = 0; round < fewer(8); ++round) {
        ledger.wait_for(seed.between(1, 30));
        // Both orders, and with as much between them as it takes to begin a fork.
        const auto order = seed.between(0, 2);
        if (order > 0) kill_a_worker(server, seed);
        if (order > 1) ledger.wait_for(1);
        strike(server, seed, SIGKILL);
        if (order < 2) kill_a_worker(server, seed);
        kills += 3;  // What looked like a fork server may have been a worker to be.
    }
    ledger.wait_for(20);
    expect_kept_through_losses(ledger.finish(), kills);
    expect_whole(server, client);
}

// Goal: a fork server that does not answer is replaced, also if it comes to later. Method: stop it,
// kill a worker; let the server go on before, in one round, and never, in the other.
TEST_F(ForkServerFaultsTest, StoppedItHoldsUpNobody) {
    Seed seed;
    const Server server(test_engine(kWorkers));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, kWorkers));
    Ledger ledger(server.endpoint(), seed, {.each = {.engine = LoadEngine::kTest}});
    const auto first = fork_server(server);
    ASSERT_TRUE(send_signal(first, SIGSTOP));
    ledger.wait_for(seed.between(1, 100));
    kill_a_worker(server, seed);
    ledger.wait_for(seed.between(1, 100));
    ASSERT_TRUE(send_signal(first, SIGCONT));
    ASSERT_TRUE(wait_until_ready(client, kWorkers)) << "it went on";
    EXPECT_EQ(fork_server(server), first);
    ASSERT_TRUE(send_signal(first, SIGSTOP));
    kill_a_worker(server, seed);
    EXPECT_GT(fork_server(server, first), 0);
    ledger.wait_for(20);
    expect_kept_through_losses(ledger.finish(), 2);
    expect_whole(server, client);
}

// Goal: a reload survives the death of either fork server, and of workers of either generation, or
// says that it did not; the next one works. Method: reload under load, strike at a random moment.
TEST_F(ForkServerFaultsTest, KilledDuringAReloadEitherGenerationServes) {
    Seed seed;
    const Server server(test_engine(kWorkers, {}, "load-sleep 20\n"));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, kWorkers));
    Ledger ledger(server.endpoint(), seed, {.each = {.engine = LoadEngine::kTest}});
    std::uint64_t kills = 0;
    int reloads = 0;
    for (std::uint64_t round = 0; round < fewer(6); ++round) {
        auto reload = client.submit_sync("call shortq_reload()");
        ledger.wait_for(seed.between(1, 150));
        strike(server, seed, SIGKILL);
        if (seed.between(0, 1) == 1) kill_a_worker(server, seed);
        kills += 2;
        const auto reply = reply_of(reload);
        if (reply) ++reloads;
        if (!reply) {
            EXPECT_FALSE(reply.error().message.empty());
            EXPECT_NE(reply.error().code, ErrorCode::kTimeout) << summary(reply);
        }
    }
    EXPECT_EQ(summary(client.sync("call shortq_reload()")), "ok") << "nobody strikes any more";
    ledger.wait_for(20);
    expect_kept_through_losses(ledger.finish(), kills);
    EXPECT_EQ(cell(client.sync("select count(*) from shortq.generations where serving")), "1");
    expect_whole(server, client);
    EXPECT_TRUE(wait_until(
        [&] { return cell(client.sync("select count(*) from shortq.generations")) == "1"; }));
}

// Goal: a fork server that falls silent as it loads the next generation ends by --load-timeout.
// Method: stop it while it loads; the old generation serves on, the next reload works.
TEST_F(ForkServerFaultsTest, StoppedDuringAReloadItIsGivenUp) {
    Seed seed;
    const Server server(test_engine(kWorkers, {"--load-timeout", "2"}, "load-sleep 300\n"));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, kWorkers));
    const auto before = server.workers();
    const auto first = fork_server(server);
    Ledger ledger(server.endpoint(), seed, {.each = {.engine = LoadEngine::kTest}});
    auto reload = client.submit_sync("call shortq_reload()");
    pid_t second = -1;
    ASSERT_TRUE(wait_until([&] {
        for (const auto pid : server.fork_servers()) second = pid == first ? second : pid;
        return second > 0;
    }));
    ASSERT_TRUE(send_signal(second, SIGSTOP));
    EXPECT_THAT(summary(reply_of(reload)), ::testing::HasSubstr("--load-timeout"));
    ledger.wait_for(20);
    EXPECT_TRUE(wait_until([&] { return server.workers() == before; })) << "those that served";
    EXPECT_EQ(summary(client.sync("call shortq_reload()")), "ok");
    expect_kept_through_losses(ledger.finish(), 0);
    expect_whole(server, client);
}

}  // namespace
}  // namespace shortq::test
