// Goal: every format is complete for every type of DuckDB's, and csv is what the engine's own COPY
// writes. Method: the engine answers queries and writes files; both are compared.
#include <gmock/gmock.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/temporary_folder.h"
#include "tests/tools/cli/capture.h"
#include "tests/worker/engine/fixture.h"
#include "worker/engine/engine.h"

namespace shortq::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kManyRows = 100'000;  // Instrumented, a million takes minutes.
#else
constexpr int kManyRows = 1'000'000;
#endif

class EngineFormatsTest : public ::testing::Test {
protected:
    EngineFormatsTest() : engine_(engine::make_engine("duckdb", {}).value()) {}

    void load(const std::string& script) {
        const auto loaded =
            engine_->load(script.empty() ? std::string() : folder_.write("startup.sql", script));
        ASSERT_TRUE(loaded) << loaded.error().message;
    }

    Table run(const std::string& query) {
        engine::testing::Collector collector;
        const auto done = engine_->run({query, {}}, collector);
        EXPECT_TRUE(done) << query << ": " << (done ? "" : done.error().message);
        return collector.table();
    }

    json as_json(const std::string& query) {
        return json::parse(test::print(Format::kJson, run(query)));
    }
    // The JSON of the only cell, digit for digit.
    std::string value(const std::string& expression) {
        const auto text = test::print(Format::kNdjson, run("select " + expression + " as x"));
        EXPECT_TRUE(json::accept(text)) << text;
        return text.substr(5, text.size() - 7);  // {"x":...}
    }

    // The query's csv, and what COPY writes for it.
    void compare_with_copy(const std::string& query, const std::string& prepare = {}) {
        const auto copied = folder_.path() / "copied.csv";
        load(prepare + ";\ncopy (" + query + ") to '" + copied.string() +
             "' (format csv, header true);\n");
        std::ifstream file(copied, std::ios::binary);
        const std::string expected(std::istreambuf_iterator<char>(file), {});
        ASSERT_FALSE(expected.empty());
        const auto printed = test::print(Format::kCsv, run(query));
        if (printed == expected) return;
        const auto at = std::ranges::mismatch(printed, expected).in1 - printed.begin();
        const auto from = static_cast<std::size_t>(std::max<std::ptrdiff_t>(at - 60, 0));
        ADD_FAILURE() << "first difference at byte " << at << "\nprinted: ..."
                      << printed.substr(from, 120) << "\ncopied:  ..."
                      << expected.substr(from, 120);
    }

    shortq::test::TemporaryFolder folder_;
    std::unique_ptr<engine::Engine> engine_;
};

// A million rows of the types that exports are made of, with nulls, quotes and line ends.
TEST_F(EngineFormatsTest, CsvOfAMillionMixedRowsEqualsCopy) {
    compare_with_copy("select * from wide order by i", R"sql(
        create table wide as select i, i % 2 = 0 as even, (i * 7919) % 30000 as amount,
            case when i % 5 = 0 then null else i / 7.0 end as ratio,
            (i % 100000)::decimal(12, 3) / 8 as price,
            date '1969-01-01' + (i % 40000)::int as day,
            timestamp '2001-01-01' + interval (i * 997) millisecond as stamp,
            case i % 9 when 0 then null when 1 then '' when 2 then 'a,b' when 3 then 'say "hi"'
                when 4 then 'two' || chr(10) || 'lines' when 5 then 'cr' || chr(13)
                when 6 then ' padded ' when 7 then '漢字' else 'text ' || i end as words
        from range()sql" + std::to_string(kManyRows) + ") as numbers(i)");
}

// FLOATs may have fewer digits than the engine's, which are not always the shortest; they are the
// same numbers.
TEST_F(EngineFormatsTest, CsvOfFloatsReadsBackTheSame) {
    load({});
    const auto values = run("select (i * 0.37)::float as single from range(20000) t(i)");
    const auto text = test::print(Format::kCsv, values);
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    for (std::uint64_t row = 0; row < values.rows(); ++row) {
        ASSERT_TRUE(std::getline(lines, line));
        float read = 0;
        std::from_chars(line.data(), line.data() + line.size(), read);
        EXPECT_EQ(read, static_cast<float>(*values.number(row, 0))) << line;
    }
}

// Left out: GEOMETRY, which is printed as its bytes; the last instant of TIMESTAMPTZ, which the
// engine's own cast misprints by a millisecond.
TEST_F(EngineFormatsTest, CsvOfEveryTypeEqualsCopy) {
    compare_with_copy("select * from types", R"(set timezone = 'UTC';
        create table types as select * exclude (geometry) replace (
            case when timestamp_tz < '294247-01-01' then timestamp_tz end as timestamp_tz)
        from test_all_types())");
}

TEST_F(EngineFormatsTest, CsvOfAwkwardTextsEqualsCopy) {
    compare_with_copy(R"(select * from (values ('#comment', 'NULL', 'null'), ('''q''', '\', 'a;b'),
        ('|', chr(9), ' '), ('"', '""', '",'), (chr(13) || chr(10), chr(1), '-'),
        ('', null, 'x'), ('a#b', ' #', '#')) as t("a,b", "say ""x""", " c# "))");
}

// Every type and every row is JSON; what the engine's own to_json says for the same cell is the
// same value, apart from what is left out: blobs and bits (it prints their text), 128-bit and
// larger numbers (compared as digits below), FLOATs (their digits as a
// double), non-finite numbers and unions.
TEST_F(EngineFormatsTest, JsonOfEveryTypeEqualsTheEnginesOwn) {
    load({});
    const auto printed = as_json("select * from test_all_types()");
    const auto expected =
        run("select to_json(columns(* exclude (geometry))) from test_all_types()");
    ASSERT_EQ(printed.size(), expected.rows());
    const std::set<std::string> except{"blob",  "bit",   "bignum",      "double_array",
                                       "union", "float", "timestamp_tz"};
    std::size_t compared = 0;
    for (std::size_t column = 0; column < expected.columns(); ++column) {
        const auto& name = expected.schema().fields[column].name;
        if (except.contains(name)) continue;
        for (std::uint64_t row = 0; row < expected.rows(); ++row) {
            ASSERT_TRUE(printed[row].contains(name)) << name;
            const auto own = expected.is_null(row, column)
                                 ? json(nullptr)
                                 : json::parse(expected.text(row, column), nullptr, false);
            EXPECT_EQ(printed[row][name], own) << name << " row " << row;
            ++compared;
        }
    }
    EXPECT_GT(compared, 100U);
}

TEST_F(EngineFormatsTest, JsonNumbersKeepEveryDigit) {
    load({});
    EXPECT_EQ(value("170141183460469231731687303715884105727::hugeint"),
              "170141183460469231731687303715884105727");
    EXPECT_EQ(value("9007199254740993"), "9007199254740993");
    EXPECT_EQ(value("123456789012345678901234567890.12345678::decimal(38, 8)"),
              "123456789012345678901234567890.12345678");
    EXPECT_EQ(value("-0.05::decimal(2, 2)"), "-0.05");
    EXPECT_EQ(value("(repeat('9', 60))::bignum"), std::string(60, '9'));
    EXPECT_EQ(value("[1.5::double, 'nan'::double, 'inf'::double, '-inf'::double, null]"),
              "[1.5,null,null,null,null]");
    EXPECT_EQ(value("'nan'::double"), "null");
    EXPECT_EQ(value("'-inf'::float"), "null");
}

TEST_F(EngineFormatsTest, JsonBytesAreBase64AndBitsAreText) {
    load({});
    EXPECT_EQ(value(R"('\x00\xFF\x10'::blob)"), "\"AP8Q\"");
    EXPECT_EQ(value("'a'::blob"), "\"YQ==\"");
    EXPECT_EQ(value("'ab'::blob"), "\"YWI=\"");
    EXPECT_EQ(value("''::blob"), "\"\"");
    EXPECT_EQ(value("['ab'::blob]"), "[\"YWI=\"]");
    EXPECT_EQ(value("'0101'::bit"), "\"0101\"");
    EXPECT_EQ(value("{'b': '011'::bit, 'u': uuid '00000000-0000-0000-0000-00000000000a'}"),
              R"({"b":"011","u":"00000000-0000-0000-0000-00000000000a"})");
}

TEST_F(EngineFormatsTest, JsonHasNestedValuesAsStructures) {
    load({});
    EXPECT_EQ(value("[[1, null], [], null]"), "[[1,null],[],null]");
    EXPECT_EQ(value("{'a': 1, 'b, c': [true], 'd': {'e': null}}"),
              R"({"a":1,"b, c":[true],"d":{"e":null}})");
    EXPECT_EQ(value("row(1, 'x')"), R"([1,"x"])");
    EXPECT_EQ(value("map {1: 'x', 2: null}"), R"({"1":"x","2":null})");
    EXPECT_EQ(value("array_value(1, 2)"), "[1,2]");
    EXPECT_EQ(value("union_value(num := 2)"), R"({"num":2})");
    EXPECT_EQ(value("[union_value(num := 2)]"), R"([{"num":2}])");
    EXPECT_EQ(value("['x'::enum('x', 'y')]"), R"(["x"])");
    EXPECT_EQ(value("[date '2024-01-31']"), R"(["2024-01-31"])");
}

TEST_F(EngineFormatsTest, JsonColumnsAreEmbeddedOnOneLine) {
    load({});
    EXPECT_EQ(value(R"('{"a": [1, "x"]}'::json)"), R"({"a": [1, "x"]})");
    EXPECT_EQ(value("('{\"a\":' || chr(10) || '1}')::json"), "{\"a\": 1}");
    EXPECT_EQ(value(R"(['{"a":1}'::json])"), R"([{"a":1}])");
    EXPECT_EQ(value("'null'::json"), "null");
}

TEST_F(EngineFormatsTest, TablesAndMarkdownHoldEveryType) {
    load({});
    const auto table = run("select * from test_all_types()");
    const auto text = test::print(Format::kTable, table);
    EXPECT_THAT(text, HasSubstr("170141183460469231731687303715884105727"));
    EXPECT_THAT(text, HasSubstr("goo\\x00se"));
    EXPECT_EQ(std::ranges::count(text, '\n'), 6) << "header, rule, three rows, count";
    EXPECT_EQ(std::ranges::count(test::print(Format::kMarkdown, table), '\n'), 5);
}

}  // namespace
}  // namespace shortq::cli
