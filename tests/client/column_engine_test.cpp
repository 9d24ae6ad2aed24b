// Goal: typed access gives each type's values where they lie. Method: results of DuckDB itself,
// read by the storage that the header promises for their types.
#include <gmock/gmock.h>

#include "tests/client/engine_runner.h"

namespace shortq {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ColumnEngineTest : public ::testing::Test {
protected:
    // The first column of the first batch.
    Column column(const std::string& query) {
        table_ = runner_.run(query);
        return table_.chunk(0, 0);
    }
    template <class T>
    std::vector<T> values(const std::string& expression) {
        const auto got = column("select " + expression).values<T>();
        EXPECT_TRUE(got) << expression << ": " << (got ? "" : got.error().message);
        return got ? std::vector<T>(got->begin(), got->end()) : std::vector<T>{};
    }

    test::EngineRunner runner_;
    Table table_;
};

TEST_F(ColumnEngineTest, NumbersAreSpansOfTheirStorage) {
    EXPECT_THAT(values<std::int8_t>("(-128)::tinyint"), ElementsAre(-128));
    EXPECT_THAT(values<std::int16_t>("(-32768)::smallint"), ElementsAre(-32768));
    EXPECT_THAT(values<std::int32_t>("(-2147483648)::integer"), ElementsAre(INT32_MIN));
    EXPECT_THAT(values<std::int64_t>("9223372036854775807::bigint"), ElementsAre(INT64_MAX));
    EXPECT_THAT(values<std::uint8_t>("255::utinyint"), ElementsAre(255));
    EXPECT_THAT(values<std::uint16_t>("65535::usmallint"), ElementsAre(65535));
    EXPECT_THAT(values<std::uint32_t>("4294967295::uinteger"), ElementsAre(UINT32_MAX));
    EXPECT_THAT(values<std::uint64_t>("18446744073709551615::ubigint"), ElementsAre(UINT64_MAX));
    EXPECT_THAT(values<float>("1.5::float"), ElementsAre(1.5F));
    EXPECT_THAT(values<double>("-1e300::double"), ElementsAre(-1e300));
    EXPECT_THAT(values<Int128>("(-1)::hugeint"), ElementsAre(Int128{UINT64_MAX, -1}));
    EXPECT_THAT(values<Int128>("12.34::decimal(38,2)"), ElementsAre(Int128{1234, 0}));
    EXPECT_THAT(values<Int128>("12.34::decimal(18,3)"), ElementsAre(Int128{12340, 0}));
    EXPECT_THAT(values<Int128>("1.5::decimal(4,1)"), ElementsAre(Int128{15, 0}));
}

TEST_F(ColumnEngineTest, TimesAreSpansOfTheirStorage) {
    EXPECT_THAT(values<std::int32_t>("date '1970-01-11'"), ElementsAre(10));
    EXPECT_THAT(values<std::int64_t>("time '00:00:01'"), ElementsAre(1'000'000));
    EXPECT_THAT(values<std::int64_t>("timestamp '1970-01-01 00:00:01'"), ElementsAre(1'000'000));
    EXPECT_THAT(values<std::int64_t>("timestamp_s '1970-01-01 00:00:01'"), ElementsAre(1));
    EXPECT_THAT(values<std::int64_t>("timestamp_ns '1970-01-01 00:00:01'"),
                ElementsAre(1'000'000'000));
    EXPECT_THAT(values<std::int64_t>("timestamptz '1970-01-01 00:00:01+00'"),
                ElementsAre(1'000'000));
    EXPECT_THAT(values<Interval>("interval '14 months 3 days 1 second'"),
                ElementsAre(Interval{14, 3, 1'000'000'000}));
}

TEST_F(ColumnEngineTest, TheWrongStorageIsNamed) {
    const auto wrong = column("select 1::integer as n").values<std::int64_t>();
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, ErrorCode::kBadRequest);
    EXPECT_THAT(wrong.error().message, HasSubstr("column \"n\" has type INTEGER"));
    EXPECT_FALSE(column("select 'x'").values<std::int8_t>());
    EXPECT_FALSE(column("select 1.5::double").values<float>());
    EXPECT_FALSE(column("select 1").boolean(0));
    EXPECT_FALSE(column("select 1").view(0));
    EXPECT_FALSE(column("select 1").list(0));
    EXPECT_FALSE(column("select 1").member(0));
    EXPECT_FALSE(column("select 1").dictionary());
}

TEST_F(ColumnEngineTest, BooleansTextsAndNulls) {
    const auto booleans = column("select * from (values (true), (false), (null)) t(b)");
    EXPECT_TRUE(*booleans.boolean(0));
    EXPECT_FALSE(*booleans.boolean(1));
    EXPECT_TRUE(booleans.is_null(2));
    EXPECT_FALSE(booleans.boolean(2));
    const auto texts =
        column("select * from (values ('short'), ('longer than twelve'), ('')) t(x)");
    EXPECT_EQ(*texts.view(0), "short");
    EXPECT_EQ(*texts.view(1), "longer than twelve");
    EXPECT_EQ(*texts.view(2), "");
    EXPECT_EQ(*column("select '\\x00\\xff'::blob").view(0), std::string_view("\0\xff", 2));
}

TEST_F(ColumnEngineTest, ListsAndArraysAreRangesOfTheirChild) {
    const auto lists = column("select * from (values ([1, 2]), ([]), (null), ([3])) t(l)");
    const auto numbers = *lists.child().values<std::int32_t>();
    const auto in = [&](std::int64_t row) {
        const auto range = lists.list(row).value();
        return std::vector<std::int32_t>(numbers.begin() + range.begin,
                                         numbers.begin() + range.end);
    };
    EXPECT_THAT(in(0), ElementsAre(1, 2));
    EXPECT_THAT(in(1), ElementsAre());
    EXPECT_TRUE(lists.is_null(2));
    EXPECT_FALSE(lists.list(2));
    EXPECT_THAT(in(3), ElementsAre(3));
    const auto arrays = column("select * from (values ([1, 2]::integer[2]), ([3, 4])) t(a)");
    const auto second = arrays.list(1).value();
    EXPECT_EQ((*arrays.child().values<std::int32_t>())[static_cast<std::size_t>(second.begin)], 3);
}

TEST_F(ColumnEngineTest, StructsMapsUnionsAndEnums) {
    const auto structs = column("select {'a': 7::bigint, 'b': 'text'} as s");
    EXPECT_EQ((*structs.child("a")->values<std::int64_t>())[0], 7);
    EXPECT_EQ(*structs.child("b")->view(0), "text");
    const auto missing = structs.child("c");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
    EXPECT_THAT(missing.error().message, HasSubstr("there is: a, b"));
    const auto maps = column("select map {'k': 1::bigint, 'l': 2} as m");
    const auto range = maps.list(0).value();
    EXPECT_EQ(range.end - range.begin, 2);
    EXPECT_EQ(*maps.child().child(0).view(range.begin + 1), "l");
    EXPECT_EQ((*maps.child().child(1).values<std::int64_t>())[1], 2);
    const auto unions = column("select union_value(number := 5::bigint) as u");
    const auto member = unions.member(0).value();
    EXPECT_EQ(unions.child(member.child).field().name, "number");
    EXPECT_EQ((*unions.child(member.child).values<std::int64_t>())[0], 5);
    const auto enums = column("select 'b'::enum('a', 'b') as e");
    EXPECT_EQ((*enums.values<std::uint8_t>())[0], 1);
    EXPECT_EQ(*enums.dictionary()->view(1), "b");
    EXPECT_EQ(*enums.view(0), "b");
}

}  // namespace
}  // namespace shortq
