// Goal: the accessors of Table find the right cell and refuse the wrong type. Method: two batches
// of hand-made arrays.
#include "shortq/table.h"

#include <gmock/gmock.h>

#include "proto/cells.h"
#include "tests/client/arrays.h"

namespace shortq {
namespace {

using detail::Int128;
using test::field;
using test::fixed;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Table two_batches() {
    Schema schema{{field("n", "l", {}, "BIGINT"), field("t", "u", {}, "VARCHAR"),
                   field("d", "d:18,2", {}, "DECIMAL(18,2)"), field("h", "d:38,0", {}, "HUGEINT"),
                   field("b", "b", {}, "BOOLEAN")}};
    const Int128 huge = static_cast<Int128>(1) << 100;
    Batch first{
        2,
        {test::with_nulls(fixed<std::int64_t>({1, 2}), {true, false}), test::texts({"one", ""}),
         fixed<Int128>({150, -5}), fixed<Int128>({7, huge}), test::booleans({true, false})}};
    Batch empty{0,
                {fixed<std::int64_t>({}), test::texts({}), fixed<Int128>({}), fixed<Int128>({}),
                 test::booleans({})}};
    Batch second{1,
                 {fixed<std::int64_t>({3}), test::texts({"three"}), fixed<Int128>({0}),
                  fixed<Int128>({-9}), test::booleans({true})}};
    return {schema, {first, empty, second}, {}};
}

TEST(TableTest, RowsAreCountedOverAllBatches) {
    const auto table = two_batches();
    EXPECT_EQ(table.rows(), 3U);
    EXPECT_EQ(table.columns(), 5U);
    EXPECT_EQ(table.text(0, 1), "one");
    EXPECT_EQ(table.text(2, 1), "three");
    EXPECT_EQ(Table().rows(), 0U);
}

TEST(TableTest, ColumnsAreFoundByName) {
    const auto table = two_batches();
    EXPECT_EQ(table.column("d").value(), 2U);
    const auto missing = table.column("nope");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
    EXPECT_THAT(missing.error().message, HasSubstr("n, t, d, h, b"));
}

TEST(TableTest, NullsDifferFromEmptyTextAndZero) {
    const auto table = two_batches();
    EXPECT_TRUE(table.is_null(1, 0));
    EXPECT_EQ(table.text(1, 0), "NULL");
    EXPECT_FALSE(table.is_null(1, 1));
    EXPECT_EQ(table.text(1, 1), "");
    EXPECT_EQ(table.integer(1, 0).error().code, ErrorCode::kBadRequest);
    EXPECT_EQ(table.number(1, 0).error().code, ErrorCode::kBadRequest);
}

TEST(TableTest, ValuesAreTheColumnsOwnMemory) {
    const auto table = two_batches();
    const auto values = table.values<std::int64_t>(0, 0).value();
    EXPECT_EQ(static_cast<const void*>(values.data()),
              static_cast<const void*>(table.batches()[0].columns[0].buffers[1].bytes.data()));
    EXPECT_EQ(values.size(), 2U);
    EXPECT_TRUE(table.values<std::int64_t>(1, 0).value().empty());
    EXPECT_THAT(table.values<std::int64_t>(2, 0).value(), ElementsAre(3));
}

TEST(TableTest, ValuesOfAnotherTypeAreRefused) {
    const auto table = two_batches();
    EXPECT_THAT(table.values<std::int32_t>(0, 0).error().message, HasSubstr("BIGINT"));
    EXPECT_FALSE(table.values<std::uint64_t>(0, 0));
    EXPECT_FALSE(table.values<double>(0, 0));
    EXPECT_FALSE(table.values<std::int64_t>(0, 1));
}

TEST(TableTest, WholeNumbersThatFitAreIntegers) {
    const auto table = two_batches();
    EXPECT_EQ(table.integer(0, 0).value(), 1);
    EXPECT_EQ(table.integer(0, 3).value(), 7);
    EXPECT_EQ(table.integer(2, 3).value(), -9);
    EXPECT_EQ(table.integer(0, 4).value(), 1);
    EXPECT_THAT(table.integer(1, 3).error().message, HasSubstr("does not fit"));
    EXPECT_THAT(table.integer(0, 2).error().message, HasSubstr("DECIMAL(18,2)"));
    EXPECT_FALSE(table.integer(0, 1));
}

TEST(TableTest, EveryNumberIsADouble) {
    const auto table = two_batches();
    EXPECT_DOUBLE_EQ(table.number(0, 0).value(), 1);
    EXPECT_DOUBLE_EQ(table.number(0, 2).value(), 1.5);
    EXPECT_DOUBLE_EQ(table.number(1, 2).value(), -0.05);
    EXPECT_DOUBLE_EQ(table.number(1, 3).value(), 0x1p100);
    EXPECT_FALSE(table.number(0, 1));
}

TEST(TableTest, ViewsShowTextWithoutACopy) {
    const auto table = two_batches();
    const auto view = table.view(2, 1).value();
    EXPECT_EQ(view, "three");
    EXPECT_EQ(static_cast<const void*>(view.data()),
              static_cast<const void*>(table.batches()[2].columns[1].buffers[2].bytes.data()));
    EXPECT_FALSE(table.view(0, 0));
}

}  // namespace
}  // namespace shortq
