// Goal: Table::text() prints what DuckDB's own cast to VARCHAR prints, for every type. Method: the
// engine answers each expression twice, as itself and cast; both results are compared cell by cell.
#include <gtest/gtest.h>

#include <set>

#include "tests/client/engine_runner.h"

namespace shortq {
namespace {

class TextEngineTest : public ::testing::Test {
protected:
    Table run(const std::string& query) { return runner_.run(query); }

    void compare(const Table& values, const Table& texts, const std::set<std::string>& except) {
        ASSERT_EQ(values.columns(), texts.columns());
        ASSERT_EQ(values.rows(), texts.rows());
        ASSERT_GT(values.rows(), 0U);
        for (std::size_t column = 0; column < values.columns(); ++column) {
            const auto& field = values.schema().fields[column];
            if (except.contains(field.name)) continue;
            for (std::uint64_t row = 0; row < values.rows(); ++row) {
                EXPECT_EQ(values.text(row, column), texts.text(row, column))
                    << field.name << " " << field.engine_type << " " << field.format << " row "
                    << row;
            }
        }
    }

    void compare(const std::string& expression) {
        SCOPED_TRACE(expression);
        compare(run("select " + expression), run("select (" + expression + ")::varchar"), {});
    }

    test::EngineRunner runner_;
};

// Left out: the last instant of timestamptz, which DuckDB's cast misprints by a millisecond
// ("...54.776806"; the value is ...54.775806); and GEOMETRY, which prints as its bytes.
TEST_F(TextEngineTest, EveryTypeOfDuckDb) {
    compare(run("select * from test_all_types()"),
            run("select columns(*)::varchar from test_all_types()"), {"timestamp_tz", "geometry"});
}

TEST_F(TextEngineTest, NumbersAtTheirEdges) {
    for (const auto* expression : {"1e15::double",
                                   "1e16::double",
                                   "0.0001::double",
                                   "0.00001::double",
                                   "1e-310::double",
                                   "123456789012345678::double",
                                   "16777217::float",
                                   "1e10::float",
                                   "1e-5::float",
                                   "'-0.0'::double",
                                   "'nan'::float",
                                   "0.5::decimal(1,1)",
                                   "(-0.05)::decimal(2,2)",
                                   "0.05::decimal(38,37)",
                                   "12::decimal(4,0)",
                                   "(-12.3)::decimal(9,1)",
                                   "(-170141183460469231731687303715884105728)::hugeint",
                                   "340282366920938463463374607431768211455::uhugeint",
                                   "(-1)::bignum",
                                   "'123456789012345678901234567890'::bignum",
                                   "0::bignum"}) {
        compare(expression);
    }
}

TEST_F(TextEngineTest, TimesAtTheirEdges) {
    for (const auto* expression : {"date '0044-03-15 (BC)'",
                                   "'infinity'::date",
                                   "'-infinity'::timestamp",
                                   "date '12345-01-01'",
                                   "timestamp '0044-03-15 (BC) 12:00:00.5'",
                                   "time '24:00:00'",
                                   "'01:02:03.123456789'::time_ns",
                                   "timestamp '1969-12-31 23:59:59.999999'",
                                   "'2024-01-01 00:00:00.120'::timestamp_ms",
                                   "'2024-01-01 00:00:00.1234567'::timestamp_ns",
                                   "'2024-01-01'::timestamp_s",
                                   "'2024-01-01 00:00:00.12+00'::timestamptz",
                                   "'infinity'::timestamptz",
                                   "'01:02:03+05:30'::timetz",
                                   "'00:00:00-15:59:59'::timetz",
                                   "interval '1 year 2 months 3 days 04:05:06'",
                                   "interval '-14 months'",
                                   "interval '100 hours 0.5 s'",
                                   "interval '1 month -1 day'",
                                   "interval '0 s'"}) {
        compare(expression);
    }
}

TEST_F(TextEngineTest, TextsAndBytes) {
    for (const auto* expression :
         {R"('\xAB\x00abc\x22\x5C'::blob)", "''::blob", "''", "'101'::bit", "'0'::bit",
          "'11111111000000001'::bit", "'00000000-0000-0000-0000-0000000000af'::uuid",
          "'b,c'::enum('a','b,c')", R"('{"a": [1, null]}'::json)", "chr(0) || 'x'"}) {
        compare(expression);
    }
}

TEST_F(TextEngineTest, NestedValuesAreQuotedAlike) {
    for (const auto* expression :
         {R"(['a','a b','a, b','',null,'null','it''s','"q"','x]',' l','t ','a=b','a:b','b\s'])",
          R"(['a\b''c', '\', 'nUlL', '(', '{', 'a;b', e'new\nline', e'tab\t'])",
          "[date '2024-01-01']",
          "[timestamp '2024-01-01 01:02:03']",
          "[interval '1 day 01:00:00']",
          "['b,c'::enum('a','b,c')]",
          "['101'::bit]",
          "[{'a': '10'::bit, 'b': 1::uhugeint}]",
          "[340282366920938463463374607431768211455::uhugeint]",
          R"(['{"a": 1}'::json])",
          R"(['a,b'::blob, '\xAB'::blob])",
          "[[1, null], [], null]",
          "[1, 2]::int[2]",
          "{'a': 1, 'b c': 'x, y', 'd': null, 'it''s': [1.50, 2]}",
          "row(1, 'a b', 'c,d')",
          "{'a': row('a:b', 1)}",
          "map {'k': 'v', 'k 2': 'v=2', '': null}",
          "map {1: [1, 2], 2: []}",
          "map {[1]: {'a': 'b'}}",
          "map {}",
          "union_value(a := 'x, y')",
          "[union_value(a := 'x:y')]",
          "union_value(a := ['x, y'])",
          "union_value(a := null::int)",
          "[map {'a': 'b:c'}]",
          "{'u': union_value(n := 1.5)}",

          "[12::bignum, -1::bignum]",
          "[null::int]",
          "[uuid '00000000-0000-0000-0000-0000000000af']",
          "[0.5::decimal(1,1)]"}) {
        compare(expression);
    }
}

}  // namespace
}  // namespace shortq
