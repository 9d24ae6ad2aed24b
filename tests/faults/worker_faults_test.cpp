// tests/faults/worker_faults_test.cpp: workers that die or fall silent at random moments under
// load.
#include <set>

#include "tests/faults/faults.h"

namespace shortq::test {
namespace {

class WorkerFaultsTest : public Faults {
protected:
    static constexpr std::size_t kWorkers = 4;
    [[nodiscard]] static std::vector<Ask> all_kinds() {
        return {Ask::kShort, Ask::kWork, Ask::kWhole, Ask::kStream, Ask::kSync, Ask::kWork};
    }
};

// Goal: the death of a worker is nobody's loss. Method: kill -9 of a random worker, after a random
// number of replies, again and again, while clients ask for small, long, large and streamed results
// and the primary itself for some; the accounts of clients, and the primary's, are right.
TEST_F(WorkerFaultsTest, KilledAtRandomMomentsTheyLoseNothing) {
    Seed seed;
    const Server server(duckdb(kWorkers, ""));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, kWorkers));
    Ledger ledger(server.endpoint(), seed, {.each = {.asks = all_kinds()}});
    const auto kills = fewer(12);
    for (std::uint64_t kill = 0; kill < kills; ++kill) {
        ledger.wait_for(seed.between(1, 40));
        if (const auto victim = some_worker(server, seed)) (void)send_signal(*victim, SIGKILL);
    }
    ledger.wait_for(20);
    expect_kept_through_losses(ledger.finish(), kills);
    expect_all_back(client, kWorkers);
    expect_at_rest(client);
}

// Goal: all at once is no worse than one by one. Method: all workers are killed together, in the
// middle of the load, some times.
TEST_F(WorkerFaultsTest, KilledAllTogetherTheyLoseNothing) {
    Seed seed;
    const Server server(test_engine(kWorkers));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, kWorkers));
    Ledger ledger(server.endpoint(), seed,
                  {.each = {.engine = LoadEngine::kTest, .asks = all_kinds()}});
    std::uint64_t kills = 0;
    for (int round = 0; round < 3; ++round) {
        ledger.wait_for(seed.between(1, 200));
        for (const auto worker : server.workers()) {
            if (send_signal(worker, SIGKILL)) ++kills;
        }
    }
    ledger.wait_for(20);
    expect_kept_through_losses(ledger.finish(), kills);
    expect_all_back(client, kWorkers);
    expect_at_rest(client);
}

// Goal: a silent worker is replaced, and what it says when it comes to is nobody's answer. Method:
// stop two of four in the middle of the load; some are let go on while they are still believed,
// others once they have been given up: the wire would show a second reply.
TEST_F(WorkerFaultsTest, StoppedOnesAreReplacedAndTheirLateRepliesDropped) {
    Seed seed;
    const Server server(test_engine(kWorkers));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, kWorkers));
    const auto before = server.workers();
    Ledger ledger(server.endpoint(), seed,
                  {.each = {.engine = LoadEngine::kTest, .asks = all_kinds()}});
    ledger.wait_for(seed.between(20, 200));
    // One pauses for less than the limit of silence: nobody minds.
    const auto paused = seed.pick(before);
    ASSERT_TRUE(send_signal(paused, SIGSTOP));
    ledger.wait_for(seed.between(1, 100));
    ASSERT_TRUE(send_signal(paused, SIGCONT));
    ledger.wait_for(seed.between(1, 100));
    std::set<pid_t> stopped;
    while (stopped.size() < 2) stopped.insert(seed.pick(before));
    for (const auto pid : stopped) {
        ASSERT_TRUE(send_signal(pid, SIGSTOP));
        ledger.wait_for(seed.between(1, 50));
    }
    ASSERT_TRUE(wait_until([&] {
        const auto now = server.workers();
        return std::ranges::none_of(now, [&](pid_t pid) { return stopped.contains(pid); }) &&
               now.size() == kWorkers;
    })) << server.log();
    ledger.wait_for(20);
    const auto tally = ledger.finish();
    expect_kept_through_losses(tally, stopped.size());
    expect_all_back(client, kWorkers);
    for (const auto pid : before) {
        if (!stopped.contains(pid)) {
            EXPECT_THAT(server.workers(), ::testing::Contains(pid)) << "it was only paused";
        }
    }
    expect_at_rest(client);
}

}  // namespace
}  // namespace shortq::test
