// tests/faults/primary_faults_test.cpp: the primary itself dies or pauses under load.
#include <atomic>
#include <thread>

#include "tests/faults/faults.h"

namespace shortq::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PrimaryFaultsTest : public Faults {
protected:
    static constexpr std::size_t kWorkers = 2;

    // Kills it and starts another one on its port. What it had started is gone before.
    [[nodiscard]] static std::unique_ptr<Server> restarted(std::unique_ptr<Server> server,
                                                           const std::vector<std::string>& how) {
        const auto port = server->port();
        server->signal(SIGKILL);
        EXPECT_TRUE(server->wait());
        EXPECT_TRUE(server->wait_until_gone(milliseconds(5000))) << "a process is left behind";
        server.reset();
        return std::make_unique<Server>(how, port);
    }
};

// Goal: a primary that is killed and started again answers every deferred request that waited,
// once. Method: kill -9 at random moments under load, restart on the same port; the clients'
// accounts are right: sync requests may end with kConnection, streams that had begun too, nothing
// else.
TEST_F(PrimaryFaultsTest, KilledAndRestartedItAnswersWhatWaited) {
    Seed seed;
    const auto how = test_engine(kWorkers);
    auto server = std::make_unique<Server>(how);
    Ledger ledger(
        server->endpoint(), seed,
        {.clients = 3,
         .each = {.engine = LoadEngine::kTest,
                  .asks = {Ask::kShort, Ask::kWork, Ask::kSync, Ask::kWhole, Ask::kStream}},
         .wire = false});
    for (std::uint64_t round = 0; round < fewer(4); ++round) {
        ledger.wait_for(seed.between(1, 150));
        server = restarted(std::move(server), how);
    }
    ledger.wait_for(30);
    const auto tally = ledger.finish();
    expect_kept(tally, {ErrorCode::kConnection});
    auto client = server->connect();
    expect_at_rest(client);
}

// Goal: a lost sync request says so, a deferred one does not need to. Method: both are under way as
// the primary is killed.
TEST_F(PrimaryFaultsTest, KilledItLeavesAnErrorForSyncRequestsOnly) {
    const auto how = test_engine(kWorkers);
    auto server = std::make_unique<Server>(how);
    auto client = server->connect();
    auto sync = client.submit_sync("select count(*) from range(1000000000000) a, range(1000)");
    auto running = client.submit("sleep 300");
    std::vector<Submitted> waiting;
    for (int i = 0; i < 10; ++i) waiting.push_back(client.submit("echo " + std::to_string(i)));
    ASSERT_TRUE(wait_until([&] {
        return cell(client.sync("select count(*) from shortq.queries where state = 'running' and "
                                "mode = 'sync' and text like '%1000000000000%'")) != "0";
    }));
    server = restarted(std::move(server), how);
    const auto lost = reply_of(sync);
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code, ErrorCode::kConnection);
    EXPECT_THAT(lost.error().message, HasSubstr("sync"));
    EXPECT_EQ(cell(running), "300");
    for (int i = 0; i < 10; ++i)
        EXPECT_EQ(cell(waiting.at(static_cast<std::size_t>(i))), std::to_string(i));
}

// Goal: a pause of the primary is no fault of anybody. Method: stop it at random moments under
// load for shorter and longer than workers and clients are allowed to be silent; no worker is
// replaced, no client is lost, every request is answered once.
TEST_F(PrimaryFaultsTest, PausedItLosesNothing) {
    Seed seed;
    const Server server(test_engine(kWorkers));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, kWorkers));
    const auto before = server.workers();
    Ledger ledger(
        server.endpoint(), seed,
        {.each = {.engine = LoadEngine::kTest,
                  .asks = {Ask::kShort, Ask::kWork, Ask::kSync, Ask::kWhole, Ask::kStream}}});
    for (const auto pause : {milliseconds(100), milliseconds(600), milliseconds(6500)}) {
        ledger.wait_for(seed.between(1, 100));
        server.signal(SIGSTOP);
        // The pause itself is the fault.
        std::this_thread::sleep_for(pause);
        server.signal(SIGCONT);
    }
    ledger.wait_for(20);
    expect_kept(ledger.finish(), {});
    EXPECT_EQ(server.workers(), before);
    EXPECT_EQ(stat(client, "requests_dropped"), 0);
    EXPECT_EQ(stat(client, "requests_retried"), 0);
    expect_at_rest(client);
}

// Goal: whatever state its family is in, a killed primary leaves nobody. Method: kill it under load
// as workers are being replaced, one is stopped, and a reload is under way.
TEST_F(PrimaryFaultsTest, KilledInTheMiddleOfEverythingItLeavesNoProcess) {
    Seed seed;
    Server server(test_engine(4, {}, "load-sleep 30\n"));
    auto client = std::make_unique<Client>(server.connect());
    ASSERT_TRUE(wait_until_ready(*client, 4));
    auto reload = client->submit_sync("call shortq_reload()");
    std::vector<Submitted> queries;
    for (int i = 0; i < 50; ++i) queries.push_back(client->submit("sleep 20"));
    (void)reply_of(queries.front());
    if (const auto worker = some_worker(server, seed)) (void)send_signal(*worker, SIGKILL);
    if (const auto worker = some_worker(server, seed)) (void)send_signal(*worker, SIGSTOP);
    (void)reply_of(queries.at(seed.between(1, 20)));
    server.signal(SIGKILL);
    ASSERT_TRUE(server.wait());
    EXPECT_TRUE(server.wait_until_gone(milliseconds(5000)));
    client.reset();  // Its requests end with it.
    for (auto& query : queries) {
        if (query.reply.valid()) (void)reply_of(query);
    }
}

}  // namespace
}  // namespace shortq::test
