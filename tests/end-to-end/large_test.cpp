// tests/end-to-end/large_test.cpp: case 22: the largest queries, values and results, served or
// refused by the stated limit, and what they cost everybody in memory.
#include <algorithm>
#include <numeric>
#include <thread>

#include "proto/limits.h"
#include "proto/message.h"
#include "proto/value.h"
#include "tests/end-to-end/fixture.h"
#include "tests/end-to-end/memory_watch.h"
#include "tests/end-to-end/raw_peer.h"

namespace shortq::test {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kLimit = proto::kDefaultQueryBytesMax;
constexpr std::size_t kValueBytes = 64 * kMegabyte;
// From a row, since the engine's optimizer holds constants as objects, many times their size.
const std::string kText = "select repeat('x', 67108864 + n) as v from range(1) t(n)";
const std::string kBlob = "select repeat('x', 67108864 + n)::blob as v from range(1) t(n)";
const std::string kList = "select range(8388608 + n) as v from range(1) t(n)";

// The sanitizers keep what was freed for a while, and shadows of all.
void expect_grown_less(const MemoryWatch& watch, std::uint64_t bytes, const char* who) {
    if (kSanitized) return;
    EXPECT_LT(watch.grown(), bytes) << who << " grew by " << watch.grown() / kMegabyte << " MB";
}

class LargeTest : public EndToEnd {
protected:
    // "select 7", made as long as is asked for.
    static std::string text_of(std::size_t bytes) {
        std::string text = "select 7 --";
        text.resize(bytes, 'x');
        return text;
    }
    // What the value of the first row should be, seen from its length and both ends.
    static void expect_value(const Table& table, const std::string& query) {
        ASSERT_EQ(table.rows(), 1U);
        ASSERT_EQ(table.batches().size(), 1U);
        if (query == kList) {
            const auto numbers = table.chunk(0, 0).child(0).values<std::int64_t>();
            ASSERT_TRUE(numbers) << numbers.error().message;
            ASSERT_EQ(numbers->size_bytes(), kValueBytes);
            EXPECT_EQ(std::accumulate(numbers->begin(), numbers->end(), std::int64_t{0}),
                      std::int64_t{8388608} * 8388607 / 2);
            return;
        }
        const auto value = table.view(0, 0);
        ASSERT_TRUE(value) << value.error().message;
        EXPECT_EQ(value->size(), kValueBytes);
        EXPECT_EQ(std::ranges::count(*value, 'x'), std::ptrdiff_t{kValueBytes});
    }
    // Reads a stream to its end; the rows, or the error.
    struct Read {
        std::uint64_t rows = 0;
        std::int64_t sum = 0;  // Of the first column, if it is a BIGINT.
        std::optional<Error> error;
    };
    static Read read_all(Stream& stream, int slow_pieces = 0) {
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
                const auto values = (*rows)->values<std::int64_t>(batch, 0);
                if (values) read.sum = std::accumulate(values->begin(), values->end(), read.sum);
            }
            constexpr milliseconds kSlow{50};
            if (slow_pieces-- > 0)
                std::this_thread::sleep_for(kSlow);  // A slow reader, not a wait.
        }
    }
    static std::string rows(std::int64_t count) {
        return "select i, i * 2 as b, i * 3 as c, i::double as d, i % 100 as e from range(" +
               std::to_string(count) + ") t(i)";
    }
};

// Goal: the limit is the limit, to the byte, for text and parameters together. Method: as long as
// it may be, deferred and sync; a byte more, through the library, which knows the limit, and from a
// peer that does not. Memory: the primary and its engine hold the text a few times, the worker's
// parser a dozen times; all of it is let go.
TEST_F(LargeTest, AQueryMayBeAsLongAsTheLimitAndNoLonger) {
    Server server(duckdb(1, ""));
    auto client = server.connect();
    ASSERT_EQ(cell(client.deferred("select 1")), "1");
    const MemoryWatch primary({server.pid()});
    const MemoryWatch workers(server.workers());
    EXPECT_EQ(cell(client.deferred(text_of(kLimit))), "7");
    EXPECT_EQ(cell(client.sync(text_of(kLimit))), "7");

    const std::string query = "select length(?)::bigint";
    const auto overhead =
        proto::encode_parameters(Parameters{{"", std::string(100'000, 'p')}}).size();
    std::string value(kLimit - query.size() - (overhead - 100'000), 'p');
    EXPECT_EQ(cell(client.deferred(query, {{"", value}})), std::to_string(value.size()));
    value += 'p';
    for (const auto& refused :
         {client.deferred(text_of(kLimit + 1)), client.sync(text_of(kLimit + 1)),
          client.deferred(query, {{"", value}})}) {
        EXPECT_THAT(summary(refused), HasSubstr("too_large: "));
        EXPECT_THAT(summary(refused), HasSubstr("16777217 bytes"));
        EXPECT_THAT(summary(refused), HasSubstr("--max-query-bytes"));
    }

    RawPeer peer(server.endpoint());
    const auto session = peer.hello();
    peer.send({encoded(proto::Request{.id = 1, .session = session}), text_of(kLimit + 1)});
    peer.send({encoded(proto::Request{.id = 2, .session = session}), text_of(kLimit), "p"});
    for (const std::uint64_t id : {1U, 2U}) {
        const auto error = peer.next_of<proto::ErrorReply>();
        ASSERT_TRUE(error);
        EXPECT_EQ(error->id, id);
        EXPECT_EQ(error->code, ErrorCode::kTooLarge);
        EXPECT_THAT(peer.bodies().at(0), HasSubstr("--max-query-bytes"));
    }
    expect_grown_less(primary, 512 * kMegabyte, "the primary");
    expect_grown_less(workers, 512 * kMegabyte, "a worker");
}

// Goal: one value of 64 MB arrives, whole, streamed and sync. Memory: it is one piece, and the
// primary holds no more than it, the one before, which may not have left yet, and its windows; a
// worker also has the engine's own.
TEST_F(LargeTest, AValueOf64MegabytesArrives) {
    Server server(duckdb(1, ""));
    auto client = server.connect();
    ASSERT_EQ(cell(client.deferred("select 1")), "1");
    const MemoryWatch workers(server.workers());
    {
        const MemoryWatch primary({server.pid()});
        const MemoryWatch mine({::getpid()});
        for (const auto& query : {kText, kBlob, kList}) {
            SCOPED_TRACE(query);
            const auto whole = client.deferred(query);
            ASSERT_TRUE(whole) << summary(whole);
            expect_value(*whole, query);
            auto stream = client.stream(query);
            ASSERT_TRUE(stream) << stream.error().message;
            const auto piece = stream->next();
            ASSERT_TRUE(piece) << piece.error().message;
            ASSERT_TRUE(*piece);
            expect_value(**piece, query);
            EXPECT_FALSE(stream->next().value());
        }
        expect_grown_less(primary, 256 * kMegabyte, "the primary");
        expect_grown_less(mine, 512 * kMegabyte, "the client");
    }
    expect_grown_less(workers, 512 * kMegabyte, "a worker");
    const auto sync = client.sync(kText);
    ASSERT_TRUE(sync) << summary(sync);
    expect_value(*sync, kText);
}

// Goal: a few rows of 64 MB each, several results at once from several workers to one client, which
// reads slowly. Memory: the primary holds a piece per worker, and what waits to leave: no more is
// begun for a client that is 32 MiB behind.
TEST_F(LargeTest, RowsOf64MegabytesComeFromSeveralWorkersToOneClient) {
    Server server(duckdb(2, ""));
    auto client = server.connect();
    ASSERT_EQ(cell(client.deferred("select 1")), "1");
    const MemoryWatch primary({server.pid()});
    const MemoryWatch workers(server.workers());
    std::string query;
    for (int row = 0; row < 3; ++row)
        query += std::string(row > 0 ? " union all " : "") +
                 "select repeat('x', 67108864 + n) from range(1) t(n)";
    std::vector<Stream> streams;
    for (int i = 0; i < 4; ++i) {
        auto stream = client.stream(query);
        ASSERT_TRUE(stream) << stream.error().message;
        streams.push_back(std::move(*stream));
    }
    for (auto& stream : streams) {
        const auto read = read_all(stream, 3);
        EXPECT_FALSE(read.error) << read.error->message;
        EXPECT_EQ(read.rows, 3U);
    }
    expect_grown_less(primary, 512 * kMegabyte, "the primary");
    expect_grown_less(workers, 768 * kMegabyte, "a worker");
    EXPECT_EQ(cell(client.deferred("select 1")), "1");
}

// Goal: 10 million rows of five columns (400 MB) to a client that reads slowly at first arrive, and
// everybody stays small: 64 MB above what they had.
TEST_F(LargeTest, TenMillionRowsCostLittleMemory) {
    Server server(duckdb(1, ""));
    auto client = server.connect();
    auto warm = client.stream(rows(300'000));
    ASSERT_EQ(read_all(*warm).rows, 300'000U);
    const MemoryWatch primary({server.pid()});
    const MemoryWatch workers(server.workers());
    const MemoryWatch mine({::getpid()});
    constexpr std::int64_t kRows = 10'000'000;
    auto stream = client.stream(rows(kRows));
    ASSERT_TRUE(stream) << stream.error().message;
    const auto read = read_all(*stream, 40);
    EXPECT_FALSE(read.error) << read.error->message;
    EXPECT_EQ(read.rows, std::uint64_t{kRows});
    EXPECT_EQ(read.sum, kRows * (kRows - 1) / 2);
    expect_grown_less(primary, 64 * kMegabyte, "the primary");
    expect_grown_less(workers, 64 * kMegabyte, "a worker");
    expect_grown_less(mine, 64 * kMegabyte, "the client");
}

// Goal: --max-result-bytes holds for readers of rows as for whole results, however they read, and
// the worker is free at once. Method: results over the limit read at full speed, slowly, and not at
// all until they have failed; one below it; a value over it in a single piece.
TEST_F(LargeTest, TheLimitOfResultsHoldsForStreams) {
    Server server(duckdb(1, "", {"--max-result-bytes", "10M"}));
    auto client = server.connect();
    auto below = client.stream(rows(200'000));  // 8 MB
    EXPECT_EQ(read_all(*below).rows, 200'000U);
    const auto expect_refused = [](const Read& read) {
        ASSERT_TRUE(read.error);
        EXPECT_EQ(read.error->code, ErrorCode::kTooLarge);
        EXPECT_THAT(read.error->message, HasSubstr("--max-result-bytes"));
        EXPECT_LE(read.rows, 262'144U);  // 10 MiB of them.
    };
    for (const int slow_pieces : {0, 20}) {
        auto over = client.stream(rows(50'000'000));
        expect_refused(read_all(*over, slow_pieces));
        EXPECT_EQ(cell(client.deferred("select 1", {}, within(milliseconds(10'000)))), "1");
    }
    auto single = client.stream(kText);
    expect_refused(read_all(*single));
    EXPECT_THAT(summary(client.deferred(kText)), HasSubstr("too_large"));
    EXPECT_THAT(summary(client.sync(rows(50'000'000))), HasSubstr("too_large"));
    EXPECT_EQ(cell(client.deferred("select 1", {}, within(milliseconds(10'000)))), "1");
}

// Goal: a limit below a reader's window needs no reader: its query ends although nothing is taken.
TEST_F(LargeTest, TheLimitOfResultsNeedsNoReader) {
    Server server(duckdb(1, "", {"--max-result-bytes", "2M"}));
    auto client = server.connect();
    auto other = server.connect();
    auto unread = client.stream(rows(50'000'000));
    EXPECT_EQ(cell(other.deferred("select 1", {}, within(milliseconds(10'000)))), "1");
    const auto read = read_all(*unread);
    ASSERT_TRUE(read.error);
    EXPECT_EQ(read.error->code, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace shortq::test
