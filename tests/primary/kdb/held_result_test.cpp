// Goal: a result is the same table whether it waits in memory or on disk, and a new attempt starts
// afresh. Method: batches put on the wire by proto, read back by proto/kdb.
#include "primary/kdb/held_result.h"

#include <gmock/gmock.h>

#include <cstring>
#include <numeric>

#include "proto/kdb/message.h"
#include "proto/kdb/object.h"
#include "tests/temporary_folder.h"

namespace shortq::primary {
namespace {

using ::testing::ElementsAre;

Buffer buffer_of(std::vector<std::byte> bytes) {
    auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    return {*owner, owner};
}

Buffer numbers(std::int64_t first, std::int64_t count) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), first);
    const auto bytes = std::as_bytes(std::span(values));
    return buffer_of({bytes.begin(), bytes.end()});
}

Schema schema() {
    Schema schema;
    schema.fields.push_back({.name = "i", .format = "l", .engine_type = "BIGINT"});
    return schema;
}

// Adds a piece of one batch: `count` numbers from `first`.
Result<bool> add(HeldResult& result, std::uint32_t attempt, std::uint32_t sequence, bool last,
                 std::int64_t first, std::int64_t count) {
    Batch batch;
    batch.rows = count;
    Array column;
    column.length = count;
    column.buffers = {Buffer{}, numbers(first, count)};
    batch.columns.push_back(column);
    const auto frames = proto::split(batch);
    std::vector<Buffer> bodies;
    if (sequence == 0) bodies.push_back(buffer_of(proto::encode_schema(schema())));
    bodies.push_back(buffer_of(frames.layout));
    bodies.insert(bodies.end(), frames.buffers.begin(), frames.buffers.end());
    proto::Reply reply;
    reply.attempt = attempt;
    reply.sequence = sequence;
    reply.batches = 1;
    reply.last = last;
    return result.add(reply, bodies);
}

std::vector<std::int64_t> written(HeldResult result) {
    const auto bytes = result.message_bytes();
    ResultWriter writer(std::move(result), kdb::Kind::kAsync);
    std::vector<std::byte> message;
    while (writer.append_piece(message)) {
    }
    EXPECT_EQ(message.size(), bytes);
    const auto table =
        kdb::decode(std::span(message).subspan(kdb::kHeaderBytes), kdb::ByteOrder::kLittle);
    if (!table) throw std::runtime_error(table.error().message);
    const auto& dictionary = std::get<std::vector<kdb::Object>>(table->items).at(0);
    const auto& columns = std::get<std::vector<kdb::Object>>(dictionary.items).at(1);
    return std::get<std::vector<std::int64_t>>(
        std::get<std::vector<kdb::Object>>(columns.items).at(0).items);
}

TEST(HeldResultTest, PiecesBecomeOneTable) {
    HeldResult result({});
    EXPECT_EQ(add(result, 0, 0, false, 1, 2), false);
    EXPECT_EQ(add(result, 0, 1, true, 3, 2), true);
    EXPECT_THAT(written(std::move(result)), ElementsAre(1, 2, 3, 4));
}

TEST(HeldResultTest, ANewAttemptDropsWhatCameBefore) {
    HeldResult result({});
    EXPECT_EQ(add(result, 0, 0, false, 1, 2), false);
    EXPECT_EQ(add(result, 1, 0, true, 7, 2), true);
    EXPECT_EQ(result.bytes(), 16U);
    EXPECT_THAT(written(std::move(result)), ElementsAre(7, 8));
}

TEST(HeldResultTest, OnDiskItIsTheSame) {
    const test::TemporaryFolder folder;
    SpillFile file(folder.path());
    HeldResult result({});
    EXPECT_EQ(add(result, 0, 0, false, 0, 1000), false);
    ASSERT_TRUE(result.spill(file));
    EXPECT_EQ(result.bytes_in_memory(), 0U);
    EXPECT_EQ(result.bytes(), 8000U);
    EXPECT_EQ(add(result, 0, 1, true, 1000, 1000), true);
    EXPECT_EQ(result.bytes_in_memory(), 8000U);
    ASSERT_TRUE(result.spill(file));
    const auto all = written(std::move(result));
    ASSERT_EQ(all.size(), 2000U);
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<std::int64_t>(i));
}

TEST(HeldResultTest, AGapIsAnError) {
    HeldResult result({});
    EXPECT_EQ(add(result, 0, 0, false, 1, 2), false);
    const auto added = add(result, 0, 2, true, 3, 2);
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code, ErrorCode::kInternal);
}

}  // namespace
}  // namespace shortq::primary
