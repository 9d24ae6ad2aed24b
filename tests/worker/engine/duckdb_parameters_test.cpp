// tests/worker/engine/duckdb_parameters_test.cpp: parameters, and statements kept prepared.
#include <gmock/gmock.h>

#include "tests/worker/engine/fixture.h"
#include "worker/engine/prepared_cache.h"

namespace shortq::engine::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Parameters in_order(std::vector<Value> values) {
    Parameters parameters;
    for (Value& value : values) parameters.push_back({"", std::move(value)});
    return parameters;
}

class DuckDbParametersTest : public ::testing::Test {
protected:
    std::unique_ptr<Engine> engine_ = start("");
};

// Each kind of value arrives as its SQL type. Method: typeof() and the value, each kind.
TEST_F(DuckDbParametersTest, EveryKindOfValueArrives) {
    const auto typed = [&](Value value) {
        return ask(*engine_, "select typeof($1), $1", in_order({std::move(value)}));
    };
    EXPECT_EQ(typed(true), "BOOLEAN|true\n");
    EXPECT_EQ(typed(std::int64_t{-7}), "BIGINT|-7\n");
    EXPECT_EQ(typed(1.5), "DOUBLE|1.5\n");
    EXPECT_EQ(typed(std::string("it's")), "VARCHAR|it's\n");
    EXPECT_EQ(typed(Blob{std::string("a\0b", 3)}), "BLOB|a\\x00b\n");
    EXPECT_EQ(typed(Date{19723}), "DATE|2024-01-01\n");
    EXPECT_EQ(typed(Timestamp{1704067200000001}), "TIMESTAMP|2024-01-01 00:00:00.000001\n");
    EXPECT_EQ(ask(*engine_, "select $1 is null", in_order({Null{}})), "true\n");
    EXPECT_EQ(ask(*engine_, "select length($1)", in_order({std::string("a\0b", 3)})), "3\n");
}

// Positional and named parameters find their places. Method: out of order, used twice.
TEST_F(DuckDbParametersTest, ParametersFindTheirPlaces) {
    EXPECT_EQ(ask(*engine_, "select ?, ?", in_order({std::int64_t{1}, std::int64_t{2}})), "1|2\n");
    EXPECT_EQ(ask(*engine_, "select $2, $1, $2", in_order({std::int64_t{1}, std::int64_t{2}})),
              "2|1|2\n");
    EXPECT_EQ(ask(*engine_, "select $b, $a, $b", {{"a", std::int64_t{1}}, {"b", std::string("x")}}),
              "x|1|x\n");
    EXPECT_EQ(ask(*engine_, "select 1; select $1", in_order({std::int64_t{5}})), "5\n");
    EXPECT_THAT(ask(*engine_, "explain select $1::int", in_order({std::int64_t{5}})),
                HasSubstr("plan"));
}

// What does not fit is said exactly. Method: each way to give the wrong parameters.
TEST_F(DuckDbParametersTest, MisfitsAreNamed) {
    const std::int64_t one = 1;
    EXPECT_EQ(ask(*engine_, "select ?, ?", in_order({one})),
              "bad_request: the query takes 2 parameters, 1 was given");
    EXPECT_EQ(ask(*engine_, "select ?", in_order({one, one})),
              "bad_request: the query takes 1 parameter, 2 were given");
    EXPECT_EQ(ask(*engine_, "select ?"), "bad_request: the query takes 1 parameter, 0 were given");
    EXPECT_EQ(ask(*engine_, "select 1", in_order({one})),
              "bad_request: the query takes no parameters, 1 was given");
    EXPECT_EQ(ask(*engine_, "select $a, $b", {{"a", one}}),
              "bad_request: no value was given for $b");
    EXPECT_EQ(ask(*engine_, "select $a, $b", {{"a", one}, {"c", one}}),
              "bad_request: the query has no parameter $c; it has $a, $b");
    EXPECT_EQ(ask(*engine_, "select $a", {{"a", one}, {"a", one}}),
              "bad_request: parameter $a is given twice");
    EXPECT_EQ(ask(*engine_, "select $1; select $1", in_order({one})),
              "bad_request: several statements of the text take parameters; only one may");
}

// A kept statement takes new parameters, also of another type, and forgets the old. Method: the
// same text again and again, with a wrong call between.
TEST_F(DuckDbParametersTest, KeptStatementsTakeNewParameters) {
    const std::string text = "select $1, typeof($1)";
    EXPECT_EQ(ask(*engine_, text, in_order({std::int64_t{1}})), "1|BIGINT\n");
    EXPECT_EQ(ask(*engine_, text, in_order({std::string("x")})), "x|VARCHAR\n");
    EXPECT_THAT(ask(*engine_, text), StartsWith("bad_request"));
    EXPECT_EQ(ask(*engine_, text, in_order({std::int64_t{2}})), "2|BIGINT\n");
    EXPECT_EQ(ask(*engine_, text, in_order({Null{}})).substr(0, 5), "NULL|");
}

// A kept statement follows changes of its table. Method: drop and recreate it with another type.
TEST(PreparedStatementsTest, KeptStatementsFollowTheCatalog) {
    const auto engine = start("", {.access = Access::kSync});
    ASSERT_EQ(ask(*engine, "create table t as select 1 as i"), "");
    EXPECT_EQ(ask(*engine, "from t"), "1\n");
    EXPECT_EQ(ask(*engine, "from t"), "1\n");
    ASSERT_EQ(ask(*engine, "drop table t"), "");
    EXPECT_THAT(ask(*engine, "from t"), StartsWith("query_error"));
    ASSERT_EQ(ask(*engine, "create table t as select 'x' as a, 2 as b"), "");
    EXPECT_EQ(ask(*engine, "from t"), "x|2\n");
    EXPECT_EQ(ask(*engine, "from t"), "x|2\n");
}

// The cache keeps a bounded number of texts. Method: more texts than it may keep; each answers
// still.
TEST(PreparedStatementsTest, ManyTextsAreAnswered) {
    const auto engine = start("");
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 400; ++i) {
            ASSERT_EQ(ask(*engine, "select " + std::to_string(i)), std::to_string(i) + "\n");
        }
    }
}

// The least recently used text is dropped first. Method: fill the cache past its bound.
TEST(PreparedCacheTest, DropsTheLeastRecentlyUsed) {
    PreparedCache cache;
    for (std::size_t i = 0; i < PreparedCache::kEntriesMax; ++i) {
        cache.put("text " + std::to_string(i), Prepared());
    }
    (void)cache.take("text 0");
    cache.put("text 0", Prepared());
    EXPECT_EQ(cache.size(), PreparedCache::kEntriesMax);
    cache.put("one more", Prepared());
    EXPECT_EQ(cache.size(), PreparedCache::kEntriesMax);
    cache.put(std::string(PreparedCache::kTextBytesMax + 1, 'x'), Prepared());
    EXPECT_EQ(cache.size(), PreparedCache::kEntriesMax);
}

}  // namespace
}  // namespace shortq::engine::testing
