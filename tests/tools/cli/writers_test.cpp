// Goal: each format can be read back, and nothing is confused with anything else. Method: one table
// with every awkward cell, printed through a pipe; JSON is parsed again.
#include <gmock/gmock.h>

#include <algorithm>
#include <clocale>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/client/arrays.h"
#include "tests/tools/cli/capture.h"

namespace shortq::cli {
namespace {

using shortq::test::field;
using shortq::test::fixed;
using shortq::test::texts;

using test::print;

// Case 16: results that look like markers.
Table awkward() {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    Schema schema{{field("n", "l"), field("t,1", "u"), field("d", "g")}};
    const auto words =
        shortq::test::with_nulls(texts({"", "x", "say \"hi\"", "a,b", "two\nlines", "NULL"}),
                                 {true, false, true, true, true, true});
    Batch batch{6,
                {shortq::test::with_nulls(fixed<std::int64_t>({1, -2, 3, 0, 5, 6}),
                                          {true, true, true, false, true, true}),
                 words, fixed<double>({1.5, nan, 1e300, 0, -1, 2})}};
    return {schema, {batch}, {}};
}

Table single(Field of, Array array) {
    const auto rows = array.length;
    return {Schema{{std::move(of)}}, {Batch{rows, {std::move(array)}}}, {}};
}

TEST(CsvWriterTest, QuotesAsTheRfcSays) {
    EXPECT_EQ(print(Format::kCsv, awkward()),
              "n,\"t,1\",d\n"
              "1,\"\",1.5\n"
              "-2,,nan\n"
              "3,\"say \"\"hi\"\"\",1e+300\n"
              ",\"a,b\",0.0\n"
              "5,\"two\nlines\",-1.0\n"
              "6,NULL,2.0\n");
}

TEST(CsvWriterTest, EmptyResultsHaveAHeaderAndNoResultHasNothing) {
    EXPECT_EQ(print(Format::kCsv, single(field("x", "l"), fixed<std::int64_t>({}))), "x\n");
    EXPECT_EQ(print(Format::kCsv, Table()), "");
}

// Run ends have no bitmap that could say which rows are null, whatever their count says.
TEST(CsvWriterTest, NullsWithoutABitmapAreNotLookedUp) {
    Array runs;
    runs.length = 3;
    runs.null_count = 2;
    runs.children = {fixed<std::int32_t>({1, 3}), fixed<std::int64_t>({7, 8})};
    const auto table =
        single(field("r", "+r", {field("run_ends", "i"), field("values", "l")}), runs);
    EXPECT_EQ(print(Format::kCsv, table), "r\n<+r>\n<+r>\n<+r>\n");
}

TEST(JsonWriterTest, ParsesBackToTheSameValues) {
    const auto parsed = nlohmann::json::parse(print(Format::kJson, awkward()));
    ASSERT_EQ(parsed.size(), 6U);
    EXPECT_EQ(parsed[0], (nlohmann::json{{"n", 1}, {"t,1", ""}, {"d", 1.5}}));
    EXPECT_EQ(parsed[1], (nlohmann::json{{"n", -2}, {"t,1", nullptr}, {"d", nullptr}}));
    EXPECT_EQ(parsed[2]["d"], 1e300);
    EXPECT_EQ(parsed[3]["n"], nullptr);
    EXPECT_EQ(parsed[4]["t,1"], "two\nlines");
    EXPECT_EQ(parsed[5]["t,1"], "NULL");
}

TEST(JsonWriterTest, OneObjectPerLine) {
    const auto text = print(Format::kNdjson, awkward());
    EXPECT_EQ(std::ranges::count(text, '\n'), 6);
    EXPECT_EQ(nlohmann::json::parse(text.substr(0, text.find('\n')))["n"], 1);
}

TEST(JsonWriterTest, AwkwardNumbersAndNamesStayValid) {
    EXPECT_EQ(print(Format::kNdjson, single(field("x", "d:2,2,64"), fixed<std::int64_t>({50, -5}))),
              "{\"x\":0.50}\n{\"x\":-0.05}\n");
    EXPECT_EQ(
        print(Format::kNdjson, single(field("b", "b"), shortq::test::booleans({true, false}))),
        "{\"b\":true}\n{\"b\":false}\n");
    EXPECT_EQ(print(Format::kNdjson, single(field("t", "u"), texts({"\x01\xff\"\\"}))),
              "{\"t\":\"\\u0001\xef\xbf\xbd\\\"\\\\\"}\n");
    const Table twice(Schema{{field("a", "l"), field("a", "l")}},
                      {Batch{1, {fixed<std::int64_t>({1}), fixed<std::int64_t>({2})}}}, {});
    EXPECT_EQ(print(Format::kNdjson, twice), "{\"a\":1,\"a_1\":2}\n");
}

TEST(JsonWriterTest, NothingIsAnEmptyArray) {
    EXPECT_EQ(print(Format::kJson, Table()), "[]\n");
    EXPECT_EQ(print(Format::kJson, single(field("x", "l"), fixed<std::int64_t>({}))), "[]\n");
    EXPECT_EQ(print(Format::kNdjson, Table()), "");
}

TEST(MarkdownWriterTest, EscapesWhatWouldBreakTheTable) {
    EXPECT_EQ(print(Format::kMarkdown, single(field("a|b", "u"), texts({"x|y\\", "1\n2"}))),
              "| a\\|b |\n| --- |\n| x\\|y\\\\ |\n| 1<br>2 |\n");
    EXPECT_EQ(print(Format::kMarkdown, single(field("n", "l"), fixed<std::int64_t>({7}))),
              "| n |\n| ---: |\n| 7 |\n");
}

TEST(MarkdownWriterTest, TextIsNoStyleNoLinkAndNoHtml) {
    const auto cell = [](const std::string& text) {
        const auto printed = print(Format::kMarkdown, single(field("x", "u"), texts({text})));
        return printed.substr(16, printed.size() - 19);
    };
    EXPECT_EQ(cell("my_table_1"), "my_table_1");
    EXPECT_EQ(cell("_a_ *b* ~c~ `d`"), "\\_a\\_ \\*b\\* \\~c\\~ \\`d\\`");
    EXPECT_EQ(cell("<b>&lt;"), "&lt;b>&amp;lt;");
    EXPECT_EQ(cell("[a](b) [1, 2]"), "[a\\](b) [1, 2]");
    EXPECT_EQ(cell("a\x1b\tb"), "a\\x1b\\tb");
}

TEST(TableWriterTest, AlignsNumbersAndCountsRows) {
    const Table table(Schema{{field("sym", "u"), field("price", "g")}},
                      {Batch{2, {texts({"A", "LONG"}), fixed<double>({1.5, 10})}}}, {});
    EXPECT_EQ(print(Format::kTable, table),
              " sym  | price \n"
              "------+-------\n"
              " A    |   1.5 \n"
              " LONG |  10.0 \n"
              "(2 rows)\n");
    EXPECT_EQ(print(Format::kTable, single(field("x", "l"), fixed<std::int64_t>({7}))),
              " x \n---\n 7 \n(1 row)\n");
}

TEST(TableWriterTest, ControlCharactersCannotSteerTheTerminal) {
    EXPECT_EQ(print(Format::kTable, single(field("x", "u"), texts({"1\n2"}))),
              " x    \n------\n 1\\n2 \n(1 row)\n");
}

TEST(TableWriterTest, CellsThatAreTooWideAreCut) {
    ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr);
    EXPECT_EQ(print(Format::kTable,
                    single(field("x", "u"), texts({"漢字かな漢字かな漢字かな", "b"})), {20, 0}),
              " x                  \n--------------------\n 漢字かな漢字かな…  \n b                "
              "  \n(2 rows)\n");
}

TEST(TableWriterTest, PlansAreNotCells) {
    const Table plan(Schema{{field("explain_key", "u"), field("explain_value", "u")}},
                     {Batch{1, {texts({"physical_plan"}), texts({"+---+\n| A |\x1b\n+---+\n"})}}},
                     {});
    EXPECT_EQ(print(Format::kTable, plan, {3, 0}), "+---+\n| A |\\x1b\n+---+\n");
}

// A locale that cannot measure "…" makes a table ugly at worst.
TEST(TableWriterTest, CellsAreCutInAnyLocale) {
    ASSERT_NE(std::setlocale(LC_CTYPE, "C"), nullptr);
    const auto printed =
        print(Format::kTable, single(field("x", "u"), texts({std::string(50, 'w')})), {20, 0});
    EXPECT_THAT(printed, ::testing::HasSubstr("wwww"));
    EXPECT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr);
}

TEST(TableWriterTest, ColumnsLeftOutAreCounted) {
    ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr);
    Schema schema;
    Batch batch{1, {}};
    for (const auto* name : {"first", "second", "third", "fourth"}) {
        schema.fields.push_back(field(name, "l"));
        batch.columns.push_back(fixed<std::int64_t>({1234567}));
    }
    EXPECT_EQ(print(Format::kTable, Table(schema, {batch}, {}), {26, 0}),
              " first   | … | fourth  \n---------+---+---------\n 1234567 | … | 1234567 \n"
              "(1 row; 2 of 4 columns left out)\n");
}

TEST(TableWriterTest, RowsLeftOutAreAVisibleGap) {
    ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr);
    std::vector<std::int64_t> numbers(100);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
    const auto table = single(field("x", "l"), fixed<std::int64_t>(numbers));
    EXPECT_EQ(print(Format::kTable, table, {0, 4}),
              " x  \n----\n  0 \n  1 \n …  \n 98 \n 99 \n(100 rows, the first and last 2 shown)\n");
    EXPECT_EQ(print(Format::kTable, table, {0, 100}), print(Format::kTable, table));
}

}  // namespace
}  // namespace shortq::cli
