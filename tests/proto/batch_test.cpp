// Goal: batches of every layout survive the wire without a copy, and frames that do not fit the
// schema are refused.
// Method: split and assemble; frames and nodes added, lost and resized.
#include <gmock/gmock.h>

#include "proto/columnar.h"
#include "proto/limits.h"
#include "tests/proto/arrays.h"
#include "tests/proto/walk.h"

namespace shortq::proto {
namespace {

using test::Column;

Result<Batch> through(const Schema& schema, const Batch& batch) {
    const BatchFrames frames = split(batch);
    return assemble(schema, frames.layout, frames.buffers);
}

std::string message_of(const Result<Batch>& result) {
    return result ? "no error" : result.error().message;
}

// The frames of two int32 columns, four rows each.
struct TwoColumns {
    TwoColumns()
        : columns{test::numbers<std::int32_t>("i", {1, 2, 3, 4}),
                  test::numbers<std::int32_t>("i", {5, 6, 7, 8})},
          schema(test::schema_of(columns)),
          frames(split(test::batch_of(columns))) {}
    std::vector<Column> columns;
    Schema schema;
    BatchFrames frames;
};

TEST(BatchTest, EveryLayoutRoundTrips) {
    const auto columns = test::every_layout();
    const auto batch = through(test::schema_of(columns), test::batch_of(columns));
    ASSERT_TRUE(batch) << batch.error().message;
    EXPECT_EQ(batch->rows, 4);
    ASSERT_EQ(batch->columns.size(), columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
        EXPECT_TRUE(test::same(batch->columns[i], columns[i].array)) << columns[i].field.format;
        EXPECT_EQ(test::walk(columns[i].field, batch->columns[i]),
                  test::walk(columns[i].field, columns[i].array));
    }
}

// Each layout with no rows: all buffers and children's buffers may be absent.
TEST(BatchTest, EveryLayoutMayBeEmpty) {
    const std::function<void(Array&)> empty = [&](Array& array) {
        array.length = 0;
        array.null_count = 0;
        for (Buffer& buffer : array.buffers) {
            buffer = {};
        }
        std::ranges::for_each(array.children, empty);
        std::ranges::for_each(array.dictionary, empty);
    };
    for (Column column : test::every_layout()) {
        empty(column.array);
        const auto batch = through({{column.field}}, test::batch_of({column}));
        EXPECT_TRUE(batch) << message_of(batch) << ' ' << column.field.format;
    }
}

TEST(BatchTest, NoColumnsAndNoRows) {
    const auto batch = through(Schema{}, Batch{});
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->rows, 0);
    EXPECT_TRUE(batch->columns.empty());
}

// Splitting and assembling share the bytes of aligned buffers.
TEST(BatchTest, AlignedBuffersAreShared) {
    const TwoColumns two;
    const auto batch = assemble(two.schema, two.frames.layout, two.frames.buffers);
    ASSERT_TRUE(batch);
    EXPECT_EQ(two.frames.buffers[0].bytes.data(), two.columns[0].array.buffers[1].bytes.data());
    EXPECT_EQ(batch->columns[0].buffers[1].bytes.data(), two.frames.buffers[0].bytes.data());
}

TEST(BatchTest, MisalignedBuffersAreCopiedToAlignedOnes) {
    const TwoColumns two;
    const auto shifted = std::make_shared<std::vector<std::byte>>(1 + 4 * sizeof(std::int32_t));
    const auto& original = two.frames.buffers[1].bytes;
    std::ranges::copy(original, shifted->begin() + 1);
    std::vector<Buffer> buffers = two.frames.buffers;
    buffers[1] = Buffer{std::span<const std::byte>(*shifted).subspan(1), shifted};
    const auto batch = assemble(two.schema, two.frames.layout, buffers);
    ASSERT_TRUE(batch) << batch.error().message;
    const auto& bytes = batch->columns[1].buffers[1].bytes;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % 8, 0U);
    EXPECT_TRUE(std::ranges::equal(bytes, original));
}

// The batch keeps its bytes alive on its own.
TEST(BatchTest, OwnsItsBuffers) {
    Result<Batch> batch;
    {
        const TwoColumns two;
        batch = assemble(two.schema, two.frames.layout, two.frames.buffers);
    }
    ASSERT_TRUE(batch);
    std::int32_t value = 0;
    std::memcpy(&value, batch->columns[1].buffers[1].bytes.data() + 12, sizeof value);
    EXPECT_EQ(value, 8);
}

TEST(BatchTest, AMissingFrameIsFound) {
    const TwoColumns two;
    const auto fewer = std::span(two.frames.buffers).first(1);
    EXPECT_EQ(message_of(assemble(two.schema, two.frames.layout, fewer)),
              "malformed batch: a buffer is missing");
}

TEST(BatchTest, ASpareFrameIsFound) {
    TwoColumns two;
    two.frames.buffers.push_back(two.frames.buffers[0]);
    EXPECT_EQ(message_of(assemble(two.schema, two.frames.layout, two.frames.buffers)),
              "malformed batch: spare buffers");
}

TEST(BatchTest, AFrameOfAnotherSizeIsFound) {
    TwoColumns two;
    two.frames.buffers[0].bytes = two.frames.buffers[0].bytes.first(15);
    EXPECT_EQ(message_of(assemble(two.schema, two.frames.layout, two.frames.buffers)),
              "malformed batch: a buffer has 15 bytes instead of 16");
}

TEST(BatchTest, ColumnsMustBeTheSchemas) {
    TwoColumns two;
    const Field field = two.schema.fields[0];
    two.schema.fields = {field};
    EXPECT_EQ(message_of(assemble(two.schema, two.frames.layout, two.frames.buffers)),
              "malformed batch: more columns than the schema has");
    two.schema.fields = {field, field, field};
    EXPECT_EQ(message_of(assemble(two.schema, two.frames.layout, two.frames.buffers)),
              "malformed batch: fewer columns than the schema has");
}

TEST(BatchTest, ColumnsMustHaveTheBatchsRows) {
    TwoColumns two;
    Batch batch = test::batch_of(two.columns);
    batch.rows = 5;
    EXPECT_EQ(message_of(through(two.schema, batch)),
              "malformed batch: column 'x': 4 rows instead of 5");
}

// Columns without bytes could claim any number of rows; a loop over them would never end.
TEST(BatchTest, RowsWithoutBytesAreBounded) {
    const auto most = static_cast<std::int64_t>(kRowsPerBatchMax);
    const Column right = test::nulls(most);
    EXPECT_TRUE(through({{right.field}}, test::batch_of({right})));
    const Column wrong = test::nulls(most + 1);
    const auto batch = through({{wrong.field}}, test::batch_of({wrong}));
    ASSERT_FALSE(batch);
    EXPECT_EQ(batch.error().code, ErrorCode::kTooLarge);
    EXPECT_EQ(batch.error().message, "the batch has more than 16777216 rows");
}

// decode_schema() bounds the depth; a schema made by hand must not overflow the stack either.
TEST(BatchTest, DepthIsBounded) {
    Column column = test::numbers<std::int64_t>("l", {});
    for (std::size_t i = 0; i < kSchemaDepthMax; ++i) {
        column = Column{Field{.format = "+s", .children = {column.field}},
                        Array{.buffers = {Buffer{}}, .children = {column.array}}};
    }
    EXPECT_EQ(message_of(through({{column.field}}, test::batch_of({column}))),
              "the schema is nested more than 64 deep");
    EXPECT_TRUE(through({{column.field.children[0]}}, {0, {column.array.children[0]}}));
}

}  // namespace
}  // namespace shortq::proto
