// tests/faults/memory_faults_test.cpp: queries that want more memory than there is.
#include <sys/resource.h>

#include <fstream>

#include "tests/faults/faults.h"

namespace shortq::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class MemoryFaultsTest : public Faults {
protected:
    // What it collects cannot be spilled.
    static std::string greedy(int number) {
        return "select " + std::to_string(number) +
               ", length(list(i::varchar || 'some more text')) from range(20000000) t(i)";
    }
    // Bytes of address space of a process.
    [[nodiscard]] static std::uint64_t address_space(pid_t pid) {
        std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");
        std::uint64_t pages = 0;
        statm >> pages;
        return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    }
};

// Goal: who wants more than its worker may take gets an error, and nobody else notices. Method: one
// such query, then many at once, under load; the workers are the same ones afterwards.
TEST_F(MemoryFaultsTest, QueriesBeyondTheLimitFailAndHarmNobody) {
    Seed seed;
    const Server server(duckdb(2, "", {"--memory-limit", "100M"}));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, 2));
    const auto workers = server.workers();
    Ledger ledger(server.endpoint(), seed,
                  {.clients = 1, .each = {.asks = {Ask::kShort, Ask::kWork, Ask::kSync}}});
    const auto alone = client.deferred(greedy(0));
    ASSERT_FALSE(alone);
    EXPECT_EQ(alone.error().code, ErrorCode::kQueryError) << summary(alone);
    EXPECT_THAT(alone.error().message, HasSubstr("Out of Memory Error"));
    EXPECT_EQ(server.workers(), workers);
    std::vector<Submitted> many;
    for (int i = 1; i <= 8; ++i) many.push_back(client.submit(greedy(i)));
    ledger.wait_for(seed.between(1, 20));
    for (auto& one : many) EXPECT_THAT(cell(one), HasSubstr("query_error: Out of Memory Error"));
    expect_kept(ledger.finish(), {});
    expect_all_back(client, 2);
    expect_at_rest(client);
    EXPECT_EQ(cell(client.sync("select sum(restarts) from shortq.workers")), "0");
}

// Goal: where the system refuses memory before the limit does, the query ends in an error or takes
// two workers at most, and all others are served. Method: RLIMIT_AS for the workers and whatever
// starts more of them, a little above what they have; a greedy query under load.
TEST_F(MemoryFaultsTest, MemoryThatTheSystemRefusesCostsTwoWorkersAtMost) {
    Seed seed;
    const Server server(duckdb(2, ""));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, 2));
    Ledger ledger(server.endpoint(), seed,
                  {.clients = 1, .each = {.asks = {Ask::kShort, Ask::kSync}}});
    ledger.wait_for(20);
    for (const auto& process : server.family()) {
        if (process.pid == server.pid()) continue;
        const auto most = address_space(process.pid) + (std::uint64_t{256} << 20);
        const rlimit limit{most, RLIM_INFINITY};
        ASSERT_EQ(::prlimit(process.pid, RLIMIT_AS, &limit, nullptr), 0);
    }
    const auto greedy_one = client.deferred(greedy(1));
    ASSERT_FALSE(greedy_one) << "there is memory";
    EXPECT_THAT(greedy_one.error().code,
                AnyOf(ErrorCode::kQueryError, ErrorCode::kWorkerLost, ErrorCode::kInternal))
        << summary(greedy_one);
    EXPECT_FALSE(greedy_one.error().retryable);
    EXPECT_FALSE(greedy_one.error().message.empty());
    ledger.wait_for(20);
    expect_kept_through_losses(ledger.finish(), 2);
    expect_all_back(client, 2);
    expect_at_rest(client);
}

}  // namespace
}  // namespace shortq::test
