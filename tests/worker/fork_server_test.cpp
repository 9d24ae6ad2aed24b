// tests/worker/fork_server_test.cpp: how workers of one fork server share the memory, and what is
// said when there is not enough of it.
#include "worker/fork_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "tests/temporary_folder.h"

namespace shortq::worker {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Goal: the workers' own parts and the base make up the budget, and no more. Method: budgets above,
// at and below the base, one worker and many.
TEST(MemoryShareTest, IsTheBaseAndAnEqualPartOfTheRest) {
    EXPECT_EQ(memory_share(1000, 400, 1), 1000U);
    EXPECT_EQ(memory_share(1000, 400, 4), 550U);
    EXPECT_EQ(memory_share(1000, 0, 4), 250U);
    EXPECT_EQ(memory_share(1000, 400, 0), 1000U);
    EXPECT_EQ(memory_share(400, 400, 4), 400U);
    EXPECT_EQ(memory_share(UINT64_MAX, 1, 2), 1 + (UINT64_MAX - 1) / 2);
    for (std::uint32_t workers = 1; workers <= 64; ++workers) {
        const auto share = memory_share(1'000'003, 300'000, workers);
        EXPECT_LE(300'000 + workers * (share - 300'000), 1'000'003U);
        EXPECT_GT(300'000 + workers * (share + 1 - 300'000), 1'000'003U);
    }
}

// Goal: no budget is no limit, not a limit of nothing. Method: 0.
TEST(MemoryShareTest, WithoutABudgetThereIsNoLimit) {
    EXPECT_EQ(memory_share(0, 0, 4), 0U);
    EXPECT_EQ(memory_share(0, 400, 4), 0U);
}

// What a fork server for four workers comes to with a table of 24 MB within so much memory: why it
// does not serve; nullopt: it would.
std::optional<Error> refusal(std::uint64_t memory) {
    const test::TemporaryFolder folder;
    Options options;
    options.workers = 4;
    options.engine_options.memory_limit_bytes = memory;
    options.source = folder.write("startup.sql",
                                  "CREATE TABLE t AS SELECT hash(range) AS h FROM range(3000000);");
    auto channel = ForkChannel::make();
    if (!channel) throw std::runtime_error(channel.error().message);
    auto& [ours, theirs] = *channel;
    // What it says stays in the channel; closed for orders, it does not wait for one.
    if (::shutdown(ours.fd(), SHUT_WR) != 0) throw std::runtime_error("shutdown");
    const auto outcome = ForkServer(options, std::move(theirs), 0).run();
    std::filesystem::current_path("/");
    const auto report = ours.receive_report();
    if (!report || !*report) throw std::runtime_error("it said nothing");
    const auto* failed = std::get_if<BaseFailed>(&**report);
    EXPECT_EQ(std::get<int>(outcome), failed == nullptr ? 0 : 1);
    return failed == nullptr ? std::nullopt : std::optional(failed->error);
}

// Goal: data that fits, but leaves the workers no room for queries, is not forked; the memory that
// is proposed is enough. Method: too little for four workers; what the message says; then that.
TEST(ForkServerTest, DataThatLeavesNoRoomIsRefused) {
    const auto error = refusal(48 * kMiB);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::kBadRequest);
    EXPECT_THAT(error->message, HasSubstr("leaves no room for queries"));
    EXPECT_THAT(error->where, HasSubstr("startup.sql"));
    static const std::regex kFigure(R"(--memory-limit (\d+)M or above)");
    std::smatch match;
    ASSERT_TRUE(std::regex_search(error->message, match, kFigure)) << error->message;
    EXPECT_FALSE(refusal(std::stoull(match[1]) * kMiB));
}

}  // namespace
}  // namespace shortq::worker
