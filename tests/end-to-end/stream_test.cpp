// tests/end-to-end/stream_test.cpp: results of any size, and readers of any speed.
#include <csignal>
#include <thread>

#include "tests/end-to-end/fixture.h"
#include "tests/end-to-end/memory_watch.h"

namespace shortq::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class StreamTest : public EndToEnd {
protected:
    // The sanitizers keep what was freed for a while.
    static void expect_less(std::uint64_t bytes, std::uint64_t most) {
        if (kSanitized) return;
        EXPECT_LT(bytes, most);
    }
    // The sum of the first column, and the rows, read to the end.
    struct Read {
        std::int64_t sum = 0;
        std::uint64_t rows = 0;
        std::optional<Error> error;
    };
    static Read read_all(Stream& stream, milliseconds pause_every_piece = milliseconds(0)) {
        Read read;
        while (true) {
            const auto rows = stream.next();
            if (!rows) {
                read.error = rows.error();
                return read;
            }
            if (!*rows) return read;
            read.rows += (*rows)->rows();
            for (std::size_t batch = 0; batch < (*rows)->batches().size(); ++batch) {
                const auto values = (*rows)->values<std::int64_t>(batch, 0).value();
                for (const auto value : values) read.sum += value;
            }
            std::this_thread::sleep_for(pause_every_piece);  // A slow reader, not a wait.
        }
    }
    static std::string rows(std::int64_t count) {
        return "select i, i * 2 as b, i * 3 as c, i::double as d, i % 100 as e from range(" +
               std::to_string(count) + ") t(i)";
    }
};

// All rows in order, names and types first, facts at the end.
TEST_F(StreamTest, ALargeResultComesPieceByPiece) {
    Server server(duckdb(1, ""));
    auto client = server.connect();
    constexpr std::int64_t kRows = 1'000'000;
    auto stream = client.stream(rows(kRows));
    ASSERT_TRUE(stream) << stream.error().message;
    const auto schema = stream->schema();
    ASSERT_TRUE(schema) << schema.error().message;
    EXPECT_EQ(schema->fields.size(), 5U);
    EXPECT_EQ(schema->fields[1].name, "b");
    std::int64_t expected = 0;
    std::size_t pieces = 0;
    while (true) {
        const auto rows = stream->next();
        ASSERT_TRUE(rows) << rows.error().message;
        if (!*rows) break;
        ++pieces;
        for (std::size_t batch = 0; batch < (*rows)->batches().size(); ++batch) {
            const auto values = (*rows)->values<std::int64_t>(batch, 0).value();
            for (const auto value : values) ASSERT_EQ(value, expected++);
        }
    }
    EXPECT_EQ(expected, kRows);
    EXPECT_GT(pieces, 20U);
    EXPECT_EQ(stream->facts().rows, static_cast<std::uint64_t>(kRows));
    EXPECT_EQ(stream->facts().worker, 1U);
    EXPECT_GT(stream->facts().run_ms, 0);
    EXPECT_FALSE(stream->next().value()) << "the end stays the end";
}

TEST_F(StreamTest, SmallEmptyAndFailingResultsStreamToo) {
    Server server(duckdb(1, "create table t(x bigint, y varchar);"));
    auto client = server.connect();
    auto empty = client.stream("select * from t");
    ASSERT_TRUE(empty);
    EXPECT_EQ(empty->schema()->fields.size(), 2U);
    EXPECT_FALSE(empty->next().value());
    auto one = client.stream("select 42::bigint");
    EXPECT_EQ(read_all(*one).sum, 42);
    auto wrong = client.stream("select nonsense");
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->schema().error().code, ErrorCode::kQueryError);
    EXPECT_EQ(wrong->next().error().code, ErrorCode::kQueryError);
    EXPECT_EQ(wrong->next().error().code, ErrorCode::kQueryError) << "it stays wrong";
    auto late = client.stream(
        "select case when i = 900000 then error('too far') else i end from range(1000000) t(i)");
    const auto read = read_all(*late);
    ASSERT_TRUE(read.error);
    EXPECT_THAT(read.error->message, HasSubstr("too far"));
    EXPECT_GT(read.rows, 0U);
}

// Case 21: nothing is read: primary, worker and client stay small, others are served, and the query
// is cut off after the stall time; the worker is free then.
TEST_F(StreamTest, AReaderThatStopsIsCutOff) {
    Server server(duckdb(2, "", {"--stall", "2"}));
    auto client = server.connect();
    auto other = server.connect();
    auto warm = client.stream(rows(300'000));
    ASSERT_EQ(read_all(*warm).rows, 300'000U);
    const auto primary_before = anonymous_bytes(server.pid());
    std::uint64_t workers_before = 0;
    for (const auto worker : server.workers())
        workers_before = std::max(workers_before, anonymous_bytes(worker));
    const auto mine_before = anonymous_bytes(::getpid());
    auto stream = client.stream(rows(50'000'000));  // 2 GB
    ASSERT_TRUE(stream->next().value());
    const auto start = Clock::now();
    std::uint64_t served = 0;
    std::uint64_t primary_most = 0;
    std::uint64_t workers_most = 0;
    while (running(other) > 0 && since(start) < milliseconds(20'000)) {
        EXPECT_EQ(cell(other.deferred("select 41 + 1")), "42");
        ++served;
        primary_most = std::max(primary_most, anonymous_bytes(server.pid()));
        for (const auto worker : server.workers())
            workers_most = std::max(workers_most, anonymous_bytes(worker));
    }
    EXPECT_LT(since(start), milliseconds(20'000)) << "it was not cut off";
    EXPECT_GT(served, 10U);
    expect_less(primary_most, primary_before + 64 * kMegabyte);
    expect_less(workers_most, workers_before + 64 * kMegabyte);
    expect_less(anonymous_bytes(::getpid()), mine_before + 64 * kMegabyte);
    const auto read = read_all(*stream);
    ASSERT_TRUE(read.error);
    EXPECT_EQ(read.error->code, ErrorCode::kTimeout);
    EXPECT_THAT(read.error->message, HasSubstr("--stall"));
    EXPECT_EQ(cell(client.deferred("select 1")), "1");
}

// A reader that is slow, but reads, gets everything, although it takes longer than the stall time.
TEST_F(StreamTest, ASlowReaderGetsEverything) {
    Server server(duckdb(1, "", {"--stall", "1"}));
    auto client = server.connect();
    auto stream = client.stream(rows(600'000));  // About 24 pieces.
    const auto read = read_all(*stream, milliseconds(100));
    EXPECT_FALSE(read.error) << read.error->message;
    EXPECT_EQ(read.rows, 600'000U);
    EXPECT_EQ(read.sum, std::int64_t{600'000} * 599'999 / 2);
}

// The deadline covers the delivery of the last piece.
TEST_F(StreamTest, TheDeadlineEndsASlowReader) {
    Server server(duckdb(1, ""));
    auto client = server.connect();
    auto stream = client.stream(rows(50'000'000), {}, within(milliseconds(1000)));
    const auto start = Clock::now();
    const auto read = read_all(*stream, milliseconds(50));
    ASSERT_TRUE(read.error);
    EXPECT_EQ(read.error->code, ErrorCode::kTimeout);
    EXPECT_GT(read.rows, 0U);
    EXPECT_LT(since(start), milliseconds(5000));
}

// Nobody reads it any more: the worker stops, and serves the next.
TEST_F(StreamTest, AStreamThatIsDroppedIsCancelled) {
    Server server(duckdb(1, ""));
    auto client = server.connect();
    {
        auto stream = client.stream(rows(50'000'000));
        ASSERT_TRUE(stream->next().value());
    }
    EXPECT_EQ(cell(client.deferred("select 5", {}, within(milliseconds(10'000)))), "5");
}

TEST_F(StreamTest, ACancelledStreamSaysSo) {
    Server server(duckdb(1, ""));
    auto client = server.connect();
    auto stream = client.stream(rows(50'000'000));
    ASSERT_TRUE(stream->next().value());
    client.cancel(stream->number());
    const auto read = read_all(*stream);
    ASSERT_TRUE(read.error);
    EXPECT_EQ(read.error->code, ErrorCode::kCancelled);
}

// Rows have been handed out, so the query is not tried again behind the reader's back; a whole
// result is.
TEST_F(StreamTest, AWorkerLostMidwayEndsAStreamAndRestartsAWholeResult) {
    Server server(duckdb(2, ""));
    auto client = server.connect();
    auto stream = client.stream(rows(50'000'000));
    ASSERT_TRUE(stream->next().value());
    const auto victim = busy_worker(client);
    ASSERT_GT(victim, 1);
    ASSERT_EQ(::kill(victim, SIGKILL), 0);
    const auto read = read_all(*stream);
    ASSERT_TRUE(read.error);
    EXPECT_EQ(read.error->code, ErrorCode::kWorkerLost);
    EXPECT_TRUE(read.error->retryable);

    ASSERT_TRUE(server.wait_for_workers(2));
    auto whole = client.submit(rows(6'000'000));
    pid_t second = -1;
    ASSERT_TRUE(wait_until([&] { return (second = busy_worker(client)) > 1; }));
    ASSERT_EQ(::kill(second, SIGKILL), 0);
    const auto table = reply_of(whole, milliseconds(120'000));
    ASSERT_TRUE(table) << summary(table);
    EXPECT_EQ(table->rows(), 6'000'000U);
    EXPECT_EQ(table->integer(5'999'999, 0).value(), 5'999'999);
}

// A client whose process stands still: the primary holds a few megabytes for it, not its results.
TEST_F(StreamTest, AStoppedClientCostsLittle) {
    Server server(duckdb(2, ""));
    auto client = server.connect();
    auto reader = server.start_cli({"--format", "csv", "--wait", "10", rows(50'000'000)});
    ASSERT_TRUE(wait_until_running(client, 1));
    const auto before = anonymous_bytes(server.pid());
    reader->signal(SIGSTOP);
    // Its silence ends its query.
    ASSERT_TRUE(wait_until([&] { return running(client) == 0; }));
    expect_less(anonymous_bytes(server.pid()), before + 64 * kMegabyte);
    reader->signal(SIGKILL);
    reader->signal(SIGCONT);
}

// A sync result of any size, by the same rules: what the reader has not taken holds up its lane,
// and only that.
TEST_F(StreamTest, ALargeSyncResultArrives) {
    Server server(duckdb(1, ""));
    auto client = server.connect();
    const auto before = anonymous_bytes(server.pid());
    const auto table = client.sync(rows(1'000'000));
    ASSERT_TRUE(table) << summary(table);
    EXPECT_EQ(table->rows(), 1'000'000U);
    EXPECT_EQ(table->integer(999'999, 0).value(), 999'999);
    expect_less(anonymous_bytes(server.pid()), before + 128 * kMegabyte);
}

// The engine tells how far it is; the client's callback hears of it.
TEST_F(StreamTest, ALongQueryTellsItsProgress) {
    Server server(test_engine(1));
    auto client = server.connect();
    std::atomic<int> told{0};
    QueryOptions options;
    options.progress = [&](const Progress&) { ++told; };
    auto slow = client.submit("sleep 60000", {}, options);
    EXPECT_TRUE(wait_until([&] { return told >= 2; }));
    client.cancel(slow.number);
    EXPECT_EQ(reply_of(slow).error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace shortq::test
