// tests/worker/engine/memory_room_test.cpp: data that leaves queries no room in memory.
#include "worker/engine/memory_room.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/worker/engine/fixture.h"

namespace shortq::engine::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Goal: workers that share their data have room from the figure on that the error names, and not
// below. Method: one byte less and none.
TEST(MemoryRoomTest, SharedDataLeavesRoomForEachWorker) {
    const auto least = 100 * kMiB + 4 * query_bytes_min(1);
    EXPECT_TRUE(check_shared_room(least, 100 * kMiB, 4, 1));
    EXPECT_TRUE(check_shared_room(0, 100 * kMiB, 4, 1)) << "no limit";
    EXPECT_TRUE(check_shared_room(1, 0, 4, 1)) << "no data";
    const auto refused = check_shared_room(least - 1, 100 * kMiB, 4, 1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kBadRequest);
    EXPECT_THAT(refused.error().message,
                AllOf(HasSubstr("it needs 101 MiB, shared"), HasSubstr("fewer workers"),
                      HasSubstr("--memory-limit 149M or above"), HasSubstr("READ_ONLY")));
    const auto alone = check_shared_room(1, 100 * kMiB, 1, 2);
    ASSERT_FALSE(alone);
    EXPECT_THAT(alone.error().message,
                AllOf(Not(HasSubstr("fewer workers")), HasSubstr("fewer --threads")));
    EXPECT_TRUE(check_shared_room(149 * kMiB, 100 * kMiB, 4, 1)) << "what it proposes";
    EXPECT_FALSE(check_shared_room(1, UINT64_MAX / 2, 1024, 1));
}

// Goal: the same for one that loads for itself. Method: as above.
TEST(MemoryRoomTest, OwnDataLeavesRoom) {
    const auto least = 100 * kMiB + query_bytes_min(1);
    EXPECT_TRUE(check_own_room(least, 100 * kMiB, 1, 3));
    EXPECT_TRUE(check_own_room(0, 100 * kMiB, 1, 3)) << "no limit";
    const auto refused = check_own_room(least - 1, 100 * kMiB, 1, 3);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kBadRequest);
    EXPECT_THAT(refused.error().message,
                AllOf(HasSubstr("needs 113 MiB, 335 MiB is the limit for all together"),
                      HasSubstr("--memory-limit 412M or above"), HasSubstr("READ_ONLY")));
}

// Goal: with the least room queries work that have to keep what they read, by spilling. Method: a
// million rows sorted, joined, grouped; with one engine thread and with more.
TEST(MemoryRoomTest, TheLeastRoomIsEnoughForQueries) {
    TempFolder folder;
    for (const unsigned threads : {1U, 4U}) {
        const auto engine = start("", {.threads = threads,
                                       .memory_limit_bytes = query_bytes_min(threads),
                                       .temp_directory = folder.path() / "spill"});
        const std::string rows =
            "(SELECT range AS i, hash(range) AS h, 'text ' || hash(range) % 100000 AS s "
            "FROM range(1000000))";
        EXPECT_EQ(ask(*engine, "SELECT count(*) FROM (FROM " + rows + " ORDER BY h OFFSET 10)"),
                  "999990\n");
        EXPECT_EQ(ask(*engine, "SELECT count(*) FROM (SELECT DISTINCT h, s FROM " + rows + ")"),
                  "1000000\n");
        EXPECT_EQ(ask(*engine, "SELECT count(*) FROM " + rows + " a JOIN " + rows + " b USING (h)"),
                  "1000000\n");
    }
}

// Goal: a worker that loads for itself refuses data that leaves no room, whether its memory holds
// it or it has spilled; pages of a file are no burden. Method: 24 MB of rows in so much memory, and
// in less; the same rows in a file.
TEST(MemoryRoomTest, AWorkerThatLoadsForItselfRefusesToStartWithoutRoom) {
    TempFolder folder;
    const auto limited = [&](std::uint64_t bytes) {
        return EngineOptions{.memory_limit_bytes = bytes,
                             .temp_directory = folder.path() / "spill"};
    };
    const auto script = folder.write(
        "startup.sql", "CREATE TABLE t AS SELECT hash(range) AS h FROM range(3000000);");
    for (const auto limit : {16 * kMiB, 32 * kMiB}) {
        const auto loaded = make(limited(limit))->load(script);
        ASSERT_FALSE(loaded) << limit;
        EXPECT_EQ(loaded.error().code, ErrorCode::kBadRequest);
        EXPECT_THAT(loaded.error().message, HasSubstr("leaves no room for queries"));
        EXPECT_EQ(loaded.error().where, script.string());
    }
    EXPECT_EQ(ask(*start(script, limited(48 * kMiB)), "SELECT count(*) FROM t"), "3000000\n");
    const auto file = (folder.path() / "x.duckdb").string();
    (void)start(folder.write("make.sql", "ATTACH '" + file +
                                             "' AS x; CREATE TABLE x.t AS SELECT hash(range) AS h "
                                             "FROM range(3000000); DETACH x;"));
    const auto reader = start(
        folder.write("read.sql", "ATTACH '" + file +
                                     "' AS x (READ_ONLY); CREATE TABLE n AS SELECT bit_xor(h) AS v "
                                     "FROM x.t;"),
        limited(24 * kMiB));
    EXPECT_EQ(ask(*reader, "SELECT count(*) FROM x.t"), "3000000\n");
}

}  // namespace
}  // namespace shortq::engine::testing
