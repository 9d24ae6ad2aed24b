// Goal: tables are the bytes that KX documents, and what cannot be sent is said with its place.
// Method: small tables as bytes and objects; one test per rule.
#include "proto/kdb/table.h"

#include <gmock/gmock.h>

#include <limits>

#include "proto/kdb/names.h"
#include "tests/proto/arrays.h"
#include "tests/proto/kdb/columns.h"
#include "tests/proto/kdb/objects.h"

namespace shortq::kdb {
namespace {

using shortq::test::Bytes;
using shortq::test::Column;
using shortq::test::from_hex;
using shortq::test::numbers;
using shortq::test::to_hex;
using testing::ElementsAre;
using testing::HasSubstr;

Bytes message_of(const std::vector<Column>& columns, Error& error, TableOptions options = {}) {
    const std::vector<Batch> batches{shortq::test::batch_of(columns)};
    return test::table_message(shortq::test::schema_of(columns), batches, error, options);
}

// The vector that a column becomes.
std::string shown(const Column& column, TableOptions options = {}) {
    Error error;
    const Bytes message = message_of({column}, error, options);
    if (message.empty()) return error.message;
    const Object table = test::decoded(std::span(message).subspan(kHeaderBytes));
    const auto& dictionary =
        std::get<std::vector<Object>>(std::get<std::vector<Object>>(table.items)[0].items);
    return test::shown(std::get<std::vector<Object>>(dictionary[1].items)[0]);
}

Column typed(Column column, std::string engine_type) {
    column.field.engine_type = std::move(engine_type);
    return column;
}
Column named(Column column, std::string name) {
    column.field.name = std::move(name);
    return column;
}

TEST(TableTest, TheDocumentedTableIsWrittenByteForByte) {
    Error error;
    const Bytes message = message_of(
        {named(numbers<std::int32_t>("i", {2}), "a"), named(numbers<std::int32_t>("i", {3}), "b")},
        error);
    EXPECT_EQ(to_hex(message),
              to_hex(from_hex("01020000 2f000000 62 00 63 0b 00 02000000 6100 6200 00 00 02000000 "
                              "06 00 01000000 02000000 06 00 01000000 03000000")));
}

TEST(TableTest, NoColumnsAreNothing) {
    Error error;
    EXPECT_EQ(to_hex(message_of({}, error)), to_hex(from_hex("01020000 0a000000 65 00")));
}

TEST(TableTest, NamesAreDistinctAndNeverEmpty) {
    EXPECT_THAT(distinct_names({"a", "b"}), ElementsAre("a", "b"));
    EXPECT_THAT(distinct_names({"a", "a", "a1", "a"}), ElementsAre("a", "a2", "a1", "a3"));
    EXPECT_THAT(distinct_names({"", "", "x"}), ElementsAre("x", "x1", "x2"));
    EXPECT_THAT(distinct_names({std::string("a\0b", 3), "a_b"}), ElementsAre("a_b", "a_b1"));
    EXPECT_THAT(distinct_names({}), ElementsAre());
}

TEST(TableTest, EveryLayoutIsWrittenOrRefusedWithItsName) {
    for (const Column& column : shortq::test::every_layout()) {
        const std::string text = shown(column);
        const auto& format = column.field.format;
        const bool refused = format.starts_with("+u") || format == "+r";
        EXPECT_EQ(text.find("\"" + column.field.name + "\"") != std::string::npos, refused)
            << format << ": " << text;
        if (refused) {
            EXPECT_THAT(text, HasSubstr("cast it to VARCHAR"));
        }
    }
}

TEST(TableTest, TypesThatOnlyTheirNameTellsAreRefused) {
    for (const char* type : {"BIT", "BIGNUM", "TIME WITH TIME ZONE"}) {
        EXPECT_THAT(shown(typed(shortq::test::texts32("z"), type)), HasSubstr(type));
        Column list = typed(shortq::test::list32("+l"), std::string(type) + "[]");
        EXPECT_THAT(shown(list), HasSubstr(type));
    }
}

TEST(TableTest, TextsMayBeAskedForAsCharVectors) {
    EXPECT_EQ(shown(shortq::test::texts32("u")), test::shown(test::symbols({"a", "", "", "bcd"})));
    const Object vectors = list_of({text_of("a"), text_of(""), text_of(""), text_of("bcd")});
    EXPECT_EQ(shown(shortq::test::texts32("u"), {.texts_as_char_vectors = true}),
              test::shown(vectors));
    EXPECT_EQ(shown(shortq::test::texts64("U"), {.texts_as_char_vectors = true}),
              test::shown(vectors));
}

TEST(TableTest, ViewsAndDictionariesAreTextsToo) {
    EXPECT_EQ(shown(shortq::test::views("vu")),
              test::shown(
                  test::symbols({"twelve bytes", "", "thirteen byte", "and one that is longer"})));
    EXPECT_EQ(shown(shortq::test::dictionary()), test::shown(test::symbols({"a", "", "", ""})));
}

TEST(TableTest, MapsAreDictionariesOfVectors) {
    const auto entry = [](std::vector<std::string> keys, std::vector<std::int64_t> values) {
        return test::dictionary(test::symbols(std::move(keys)), test::longs(std::move(values)));
    };
    EXPECT_EQ(shown(shortq::test::map()),
              test::shown(list_of({entry({"a"}, {1}), entry({}, {}), entry({"", ""}, {2, 3}),
                                   entry({"bcd"}, {4})})));
}

TEST(TableTest, ListsKeepTheirTypeWhenEmptyOrNull) {
    const Object expected =
        list_of({test::longs({1, 2}), test::longs({}), test::longs({}), test::longs({3})});
    EXPECT_EQ(shown(shortq::test::list32("+l")), test::shown(expected));
    EXPECT_EQ(shown(shortq::test::list64("+L")), test::shown(expected));
}

TEST(TableTest, ANullStructIsADictionaryOfNulls) {
    const auto row = [](std::int32_t a, std::string b) {
        return test::dictionary(
            test::symbols({"a", "b"}),
            list_of({atom_of(Type::kInt, std::vector<std::int32_t>{a}),
                     atom_of(Type::kSymbol, std::vector<std::string>{std::move(b)})}));
    };
    EXPECT_EQ(
        shown(shortq::test::structure()),
        test::shown(list_of({row(0, "a"), row(kNullInt, ""), row(kNullInt, ""), row(0, "bcd")})));
}

TEST(TableTest, InfinitiesStayInfinite) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    for (const char* format : {"tss:", "tsm:", "tsu:UTC", "tsn:"}) {
        EXPECT_EQ(shown(numbers<std::int64_t>(format, {kMost, -kMost})),
                  test::shown(vector_of(Type::kTimestamp,
                                        std::vector<std::int64_t>{kInfiniteLong, -kInfiniteLong})));
    }
    EXPECT_EQ(shown(numbers<std::int32_t>("tdD", {kInfiniteInt, -kInfiniteInt, 0})),
              test::shown(vector_of(
                  Type::kDate, std::vector<std::int32_t>{kInfiniteInt, -kInfiniteInt, -10'957})));
}

// The last and the first microsecond of kdb+'s range, and one beyond.
TEST(TableTest, TimestampsOutOfRangeAreErrorsWithTheirPlace) {
    constexpr std::int64_t kEpoch = 946'684'800'000'000;
    constexpr std::int64_t kReach = kInfiniteLong / 1000;
    EXPECT_EQ(shown(numbers<std::int64_t>("tsu:", {kEpoch + kReach, kEpoch - kReach})),
              test::shown(vector_of(Type::kTimestamp,
                                    std::vector<std::int64_t>{kReach * 1000, -kReach * 1000})));
    for (const std::int64_t beyond : {kEpoch + kReach + 1, kEpoch - kReach - 1}) {
        const std::string error = shown(named(numbers<std::int64_t>("tsu:", {0, beyond}), "when"));
        EXPECT_THAT(error, HasSubstr("column \"when\", row 2 has a timestamp outside"));
    }
    EXPECT_THAT(shown(numbers<std::int64_t>("tsn:", {-kInfiniteLong + 1})), HasSubstr("row 1"));
    EXPECT_THAT(shown(numbers<std::int32_t>("tdD", {-kInfiniteInt + 10'957})), HasSubstr("row 1"));
}

TEST(TableTest, IntervalsOfMonthsAreErrors) {
    struct Interval {
        std::int32_t months;
        std::int32_t days;
        std::int64_t nanos;
    };
    const auto column = [](std::int32_t months, std::int32_t days) {
        return numbers<Interval>("tin", {{0, 1, 5}, {months, days, 0}});
    };
    EXPECT_EQ(
        shown(column(0, -1)),
        test::shown(vector_of(Type::kTimespan,
                              std::vector<std::int64_t>{86'400'000'000'005, -86'400'000'000'000})));
    EXPECT_THAT(shown(column(1, 0)), HasSubstr("row 2 has an interval of months"));
    EXPECT_THAT(shown(column(0, 200'000)), HasSubstr("too long for a kdb+ timespan"));
}

TEST(TableTest, RowsOfLaterBatchesAndOfNestedValuesAreCountedFromTheStart) {
    Column list = shortq::test::list32("+l");
    list.field.children[0].format = "tsn:";
    list.array.children[0] = numbers<std::int64_t>("tsn:", {0, 1, -kInfiniteLong + 1}).array;
    const std::vector<Batch> batches{shortq::test::batch_of({shortq::test::list32("+l")}),
                                     shortq::test::batch_of({list})};
    Error error;
    EXPECT_TRUE(test::table_message(shortq::test::schema_of({list}), batches, error).empty());
    EXPECT_THAT(error.message, HasSubstr("row 8 has a timestamp"));
}

TEST(TableTest, TheLeastLongDoesNotFitForItIsTheNull) {
    __extension__ using Int128 = __int128;
    const auto column = [](Int128 value) {
        return typed(numbers<Int128>("d:38,0", {value}), "HUGEINT");
    };
    EXPECT_EQ(shown(column(-kInfiniteLong)), test::shown(test::longs({-kInfiniteLong})));
    EXPECT_EQ(shown(column(kNullLong)),
              test::shown(vector_of(Type::kFloat, std::vector<double>{-0x1p63})));
}

TEST(TableTest, DecimalsAreRoundedOnce) {
    __extension__ using Int128 = __int128;
    const Int128 large = Int128{1'234'567'890'123'456'789} * 1'000'000'000 + 987'654'321;
    EXPECT_EQ(shown(numbers<Int128>("d:38,10", {large, -large, 5})),
              test::shown(vector_of(Type::kFloat,
                                    std::vector<double>{123456789012345678.9987654321,
                                                        -123456789012345678.9987654321, 5e-10})));
}

TEST(TableTest, AMessageThatIsTooLargeIsAnErrorWithItsRows) {
    auto table = TableWriter::make(shortq::test::schema_of({shortq::test::nulls(0)}));
    ASSERT_TRUE(table);
    const Batch batch{.rows = 1 << 24, .columns = {shortq::test::nulls(1 << 24).array}};
    for (int i = 0; i < 64; ++i) ASSERT_TRUE(table->measure(batch));
    const auto bytes = table->message_bytes();
    ASSERT_FALSE(bytes);
    EXPECT_EQ(bytes.error().code, ErrorCode::kTooLarge);
    EXPECT_THAT(bytes.error().message, HasSubstr("1073741824 rows"));
    for (int i = 64; i < 127; ++i) ASSERT_TRUE(table->measure(batch));
    EXPECT_EQ(table->measure(batch).error().code, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace shortq::kdb
