// tests/worker/engine/duckdb_session_test.cpp: what a startup script leaves in its session is there
// for queries, which run in another one.
#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/worker/engine/fixture.h"

namespace shortq::engine::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DuckDbSessionTest : public ::testing::Test {
protected:
    [[nodiscard]] std::unique_ptr<Engine> after(std::string_view script,
                                                EngineOptions options = {}) const {
        return start(folder_.write("startup.sql", script), std::move(options));
    }
    // A database file with a table t of one row.
    [[nodiscard]] std::filesystem::path write_database(const std::string& name) const {
        const auto file = folder_.path() / name;
        const auto script = folder_.write("make.sql", "ATTACH '" + file.string() +
                                                          "' AS made; CREATE TABLE made.t AS "
                                                          "SELECT '" +
                                                          name +
                                                          "' AS v;"
                                                          "DETACH made;");
        (void)start(script);
        return file;
    }
    // Only these may EXECUTE what a script has prepared.
    [[nodiscard]] static EngineOptions writable() { return {.access = Access::kWritable}; }
    TempFolder folder_;
};

// Goal: a variable keeps its value and type, whatever they are. Method: set each in a script, and
// compare what queries see with the expression itself.
TEST_F(DuckDbSessionTest, VariablesKeepValueAndType) {
    const std::vector<std::string> expressions{
        "42",
        "'it''s'",
        "''",
        "'NULL'",
        "NULL",
        "'a' || chr(10) || 'b\\n\\x41\"'",
        "' leading and trailing '",
        "true",
        "DATE '2020-02-29'",
        "TIMESTAMP '2020-02-29 12:34:56.789012'",
        "TIME '12:34:56.789'",
        "INTERVAL '3 days 2 hours'",
        "12345678901234567890.123::DECIMAL(38, 3)",
        "170141183460469231731687303715884105727",
        "0.1::DOUBLE + 0.2::DOUBLE",
        "0.1::FLOAT + 0.2::FLOAT",
        "1e300::DOUBLE",
        "'-inf'::DOUBLE",
        "'\\x00ab\\xFF''\\x5C'::BLOB",
        "'101'::BIT",
        "'b''x'::ENUM('a', 'b''x')",
        "'6d3f1d4e-0000-4000-8000-000000000001'::UUID",
        "[1, NULL, 3]",
        "[]::INTEGER[]",
        "['a,b', 'it''s', NULL, 'NULL', ' x ', '\"q\"', '[1]', '', 'null', '\\']",
        "[[''], ['NULL', NULL], NULL]",
        "{'k': 1, 'it''s \"q\"': ['x', NULL]}",
        "{'a': NULL::INTEGER, 'b': {'c': 'NULL'}}",
        "MAP {'a,=b': 1, 'c': NULL, '': 3}",
        "[1, 2]::INTEGER[2]",
        "['\\x00ab'::BLOB]",
    };
    std::string script;
    for (std::size_t i = 0; i < expressions.size(); ++i) {
        script += "SET VARIABLE v" + std::to_string(i) + " = " + expressions[i] + ";\n";
    }
    const auto engine = after(script);
    for (std::size_t i = 0; i < expressions.size(); ++i) {
        const auto value = "getvariable('v" + std::to_string(i) + "')";
        EXPECT_EQ(ask(*engine, "SELECT " + value + " IS NOT DISTINCT FROM (" + expressions[i] +
                                   "), typeof(" + value + ") = typeof(" + expressions[i] + ")"),
                  "true|true\n")
            << expressions[i] << " became " << ask(*engine, "SELECT " + value);
    }
}

// Goal: what a new connection cannot be given harms nobody, and is told. Method: a variable of a
// type that cannot be written down, a prepared statement whose table is gone, and good ones about
// them.
TEST_F(DuckDbSessionTest, WhatCannotBeKeptIsNoted) {
    const auto engine = after(
        "SET VARIABLE a = 1; SET VARIABLE b = row(1, 'x'); "
        "SET VARIABLE \"b too\" = union_value(num := 2); SET VARIABLE c = 3; "
        "CREATE TABLE t AS SELECT 1 AS i; PREPARE p AS FROM t; DROP TABLE t; "
        "PREPARE q AS SELECT 4;",
        writable());
    EXPECT_THAT(engine->notes(),
                ElementsAre(HasSubstr("SET VARIABLE \"b\""), HasSubstr("SET VARIABLE \"b too\""),
                            HasSubstr("PREPARE \"p\"")));
    EXPECT_EQ(ask(*engine, "SELECT getvariable('a'), getvariable('b'), getvariable('c')"),
              "1|NULL|3\n");
    EXPECT_EQ(ask(*engine, "EXECUTE q"), "4\n");
}

// Goal: names need no care. Method: a variable and a statement with quotes and spaces in theirs.
TEST_F(DuckDbSessionTest, NamesWithQuotesAreKept) {
    const auto engine = after(
        "SET VARIABLE \"we\"\"ird na'me\" = 5; PREPARE \"the \"\"one's\" AS SELECT 'it''s', $1;",
        writable());
    EXPECT_EQ(ask(*engine, "SELECT getvariable('we\"ird na''me')"), "5\n");
    EXPECT_EQ(ask(*engine, "EXECUTE \"the \"\"one's\"(7)"), "it's|7\n");
}

// Goal: prepared statements are there, whatever their parameters. Method: by position and by name,
// twice, and one that reads a table and a variable.
TEST_F(DuckDbSessionTest, PreparedStatementsAreKept) {
    const auto engine = after(
        "CREATE TABLE t AS SELECT range AS i FROM range(10);"
        "SET VARIABLE least = 7;"
        "PREPARE add AS SELECT $1::INTEGER + $2::INTEGER;"
        "PREPARE called AS SELECT $name;"
        "PREPARE big AS\n  -- those that count;\n  SELECT count(*) FROM t WHERE i >= "
        "getvariable('least');",
        writable());
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(ask(*engine, "EXECUTE add(1, 2)"), "3\n");
        EXPECT_EQ(ask(*engine, "EXECUTE called(name := 'x')"), "x\n");
        EXPECT_EQ(ask(*engine, "EXECUTE big"), "3\n");
    }
}

// Goal: settings of the session are kept, those of the engine as well. Method: one of each kind:
// texts with quotes, numbers, switches, enumerations.
TEST_F(DuckDbSessionTest, SettingsAreKept) {
    const auto engine = after(
        "SET SESSION default_null_order = 'nulls_first';"
        "SET SESSION default_order = 'desc';"
        "SET SESSION preserve_identifier_case = false;"
        "SET SESSION integer_division = true;"
        "SET SESSION scalar_subquery_error_on_multiple_rows = false;"
        "SET SESSION max_expression_depth = 321;"
        "SET SESSION file_search_path = 'it''s a place,b';"
        "SET SESSION ordered_aggregate_threshold = 1234;"
        "SET GLOBAL default_collation = 'nocase';");
    EXPECT_EQ(ask(*engine, "SELECT 7 / 2"), "3\n");
    EXPECT_EQ(ask(*engine, "SELECT (SELECT unnest([5, 6]))"), "5\n");
    EXPECT_EQ(ask(*engine, "FROM (VALUES (1), (NULL), (2)) t(i) ORDER BY i"), "NULL\n2\n1\n");
    EXPECT_EQ(ask(*engine, "SELECT 'a' = 'A'"), "true\n");
    EXPECT_EQ(ask(*engine,
                  "SELECT current_setting('max_expression_depth'), "
                  "current_setting('ordered_aggregate_threshold'), "
                  "current_setting('preserve_identifier_case'), "
                  "current_setting('file_search_path')"),
              "321|1234|false|it's a place,b\n");
}

// Goal: settings that change how this engine's own questions are answered do no harm. Method: the
// order of sorting reversed; no setting but that one is taken for the script's, so nothing is
// noted.
TEST_F(DuckDbSessionTest, SettingsThatTurnQueriesRoundDoNoHarm) {
    const auto engine = after("SET SESSION default_order = 'desc'; SET VARIABLE a = 1;");
    EXPECT_THAT(engine->notes(), IsEmpty());
    EXPECT_EQ(ask(*engine, "FROM (VALUES (1), (2)) t(i) ORDER BY i"), "2\n1\n");
    EXPECT_EQ(ask(*engine, "SELECT getvariable('a')"), "1\n");
}

// Goal: the time zone is that of the script. Method: a time that the zone shows.
TEST_F(DuckDbSessionTest, TheTimeZoneIsKept) {
    const auto engine = after("SET TimeZone = 'Asia/Kathmandu';");
    EXPECT_EQ(ask(*engine, "SELECT current_setting('TimeZone')"), "Asia/Kathmandu\n");
    EXPECT_EQ(ask(*engine, "SELECT (TIMESTAMPTZ '2020-01-01 00:00:00+00')::VARCHAR"),
              "2020-01-01 05:45:00+05:45\n");
}

// Goal: USE holds for queries. Method: two files with a table of the same name; one's database and
// schema have names that need quotes.
TEST_F(DuckDbSessionTest, UseIsKept) {
    const auto first = write_database("first.duckdb").string();
    const auto second = write_database("second.duckdb").string();
    const auto attach = "ATTACH '" + first + "' AS one (READ_ONLY); ATTACH '" + second +
                        "' AS \"the \"\"other.one\" (READ_ONLY); CREATE SCHEMA s; "
                        "CREATE TABLE s.t AS SELECT 'memory' AS v;";
    EXPECT_EQ(ask(*after(attach + "USE one;"), "SELECT v FROM t"), "first.duckdb\n");
    EXPECT_EQ(ask(*after(attach + "USE \"the \"\"other.one\";"), "SELECT v FROM t"),
              "second.duckdb\n");
    EXPECT_EQ(ask(*after(attach + "USE s;"), "SELECT v FROM t"), "memory\n");
    EXPECT_EQ(ask(*after(attach + "SET search_path = 'one,memory.s';"), "SELECT v FROM t"),
              "first.duckdb\n");
}

// Goal: what cannot be kept is told. Method: one temporary object of each kind.
TEST_F(DuckDbSessionTest, TemporaryObjectsAreNoted) {
    const auto engine = after(
        "CREATE TEMP TABLE tt AS SELECT 1 AS a; CREATE TEMP VIEW tv AS SELECT 1 AS a; "
        "CREATE TEMP MACRO tm(x) AS x + 1; CREATE TABLE kept AS SELECT 1 AS a; "
        "CREATE MACRO kept_too(x) AS x + 1; CREATE VIEW kept_as_well AS SELECT 1 AS a;");
    EXPECT_THAT(engine->notes(),
                ElementsAre(HasSubstr("temporary macro tm"), HasSubstr("temporary table tt"),
                            HasSubstr("temporary view tv")));
    EXPECT_THAT(ask(*engine, "FROM tt"), HasSubstr("query_error"));
    EXPECT_EQ(ask(*engine, "SELECT kept_too(a) FROM kept, kept_as_well AS w(b)"), "2\n");
}

// Goal: a script's threads and memory hold for its load only, in a worker that loads for itself as
// in one that is forked, and one worker says so. Method: a script that needs the memory it sets;
// the settings that queries see; the notes.
TEST_F(DuckDbSessionTest, LimitsOfAScriptHoldForItsLoad) {
    constexpr std::string_view kScript =
        "SET threads = 3; SET memory_limit = '128MB';"
        "CREATE TABLE t AS SELECT count(DISTINCT hash(range)) AS n FROM range(1000000);"
        "CREATE TABLE seen AS SELECT current_setting('threads')::VARCHAR AS threads;";
    EngineOptions options{.threads = 2, .memory_limit_bytes = 64ULL << 20, .seat = 1};
    const auto first = after(kScript, options);
    EXPECT_EQ(ask(*first,
                  "SELECT n, threads, current_setting('threads'), current_setting('memory_limit') "
                  "FROM t, seen"),
              "1000000|3|2|64.0 MiB\n");
    EXPECT_THAT(first->notes(), ElementsAre(AllOf(HasSubstr("threads"), HasSubstr("--threads")),
                                            HasSubstr("--memory-limit")));
    options.seat = 2;
    EXPECT_THAT(after(kScript, options)->notes(), IsEmpty());
    EXPECT_THAT(after("SET threads = 2;", {.threads = 2})->notes(), IsEmpty()) << "no other value";
}

// Goal: a script cannot load more than the memory given by setting another limit, where it must not
// spill. Method: a fork server's load; the figure.
TEST_F(DuckDbSessionTest, AScriptsLimitDoesNotMakeDataFit) {
    const auto engine =
        make({.memory_limit_bytes = 20ULL << 20, .measure_directory = folder_.path() / "measure"});
    const auto loaded = engine->load_base(folder_.write(
        "startup.sql",
        "SET memory_limit = '1GB'; CREATE TABLE t AS SELECT hash(range) FROM range(4000000);"));
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().message,
                AllOf(HasSubstr("does not fit into memory: it needs "), HasSubstr("20 MiB")));
}

}  // namespace
}  // namespace shortq::engine::testing
