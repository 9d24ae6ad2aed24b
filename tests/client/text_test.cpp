// Goal: cells print as DuckDB's casts to VARCHAR do. Method: hand-made arrays of every format; the
// expected texts were taken from DuckDB 1.5 (`select x::varchar`).
#include "client/text.h"

#include <gtest/gtest.h>

#include <limits>

#include "proto/cells.h"
#include "tests/client/arrays.h"

namespace shortq::detail {
namespace {

using test::field;
using test::fixed;
using test::texts;

std::string text(const Field& of, const Array& array, std::int64_t row = 0) {
    std::string out;
    append_text(out, of, of.engine_type, array, row);
    return out;
}

template <class T>
std::string fixed_text(const std::string& format, T value, const std::string& type = {}) {
    return text(field("x", format, {}, type), fixed<T>({value}));
}

TEST(TextTest, Integers) {
    EXPECT_EQ(fixed_text<std::int8_t>("c", -128), "-128");
    EXPECT_EQ(fixed_text<std::uint8_t>("C", 255), "255");
    EXPECT_EQ(fixed_text<std::int16_t>("s", -32768), "-32768");
    EXPECT_EQ(fixed_text<std::uint16_t>("S", 65535), "65535");
    EXPECT_EQ(fixed_text<std::int32_t>("i", -1), "-1");
    EXPECT_EQ(fixed_text<std::uint32_t>("I", 4294967295), "4294967295");
    EXPECT_EQ(fixed_text<std::int64_t>("l", std::numeric_limits<std::int64_t>::min()),
              "-9223372036854775808");
    EXPECT_EQ(fixed_text<std::uint64_t>("L", std::numeric_limits<std::uint64_t>::max()),
              "18446744073709551615");
    EXPECT_EQ(text(field("x", "b"), test::booleans({true, false}), 1), "false");
}

TEST(TextTest, HugeIntegersAndDecimals) {
    const Int128 lowest = static_cast<Int128>(static_cast<UInt128>(1) << 127);
    EXPECT_EQ(fixed_text<Int128>("d:38,0", lowest, "HUGEINT"),
              "-170141183460469231731687303715884105728");
    EXPECT_EQ(fixed_text<Int128>("d:38,0", -1, "UHUGEINT"),
              "340282366920938463463374607431768211455");
    EXPECT_EQ(fixed_text<Int128>("d:18,2", 150), "1.50");
    EXPECT_EQ(fixed_text<Int128>("d:5,2,128", -5), "-0.05");
    EXPECT_EQ(fixed_text<std::int64_t>("d:18,4,64", -999999999), "-99999.9999");
    EXPECT_EQ(fixed_text<std::int32_t>("d:9,0,32", 12), "12");
    EXPECT_EQ(fixed_text<Int128>("d:2,2", -5), "-.05") << "no digit fits before the point";
}

TEST(TextTest, FloatingPointIsShortest) {
    EXPECT_EQ(fixed_text("g", 1.0), "1.0");
    EXPECT_EQ(fixed_text("g", -0.0), "-0.0");
    EXPECT_EQ(fixed_text("g", 0.1), "0.1");
    EXPECT_EQ(fixed_text("g", 1e15), "1000000000000000.0");
    EXPECT_EQ(fixed_text("g", 1e16), "1e+16");
    EXPECT_EQ(fixed_text("g", 123456789012345678.0), "1.2345678901234568e+17");
    EXPECT_EQ(fixed_text("g", 0.0001), "0.0001");
    EXPECT_EQ(fixed_text("g", 0.00001), "1e-05");
    EXPECT_EQ(fixed_text("g", 1.7976931348623157e308), "1.7976931348623157e+308");
    EXPECT_EQ(fixed_text("g", std::numeric_limits<double>::quiet_NaN()), "nan");
    EXPECT_EQ(fixed_text("g", -std::numeric_limits<double>::infinity()), "-inf");
    EXPECT_EQ(fixed_text("f", 0.1F), "0.1");
    EXPECT_EQ(fixed_text("f", 1234567.891F), "1234567.9");
    EXPECT_EQ(fixed_text("f", 3.4028235e38F), "3.4028235e+38");
}

TEST(TextTest, Dates) {
    EXPECT_EQ(fixed_text<std::int32_t>("tdD", 0), "1970-01-01");
    EXPECT_EQ(fixed_text<std::int32_t>("tdD", 19753), "2024-01-31");
    EXPECT_EQ(fixed_text<std::int32_t>("tdD", -719162), "0001-01-01");
    EXPECT_EQ(fixed_text<std::int32_t>("tdD", -719163), "0001-12-31 (BC)");
    EXPECT_EQ(fixed_text<std::int32_t>("tdD", -2147483646), "5877642-06-25 (BC)");
    EXPECT_EQ(fixed_text<std::int32_t>("tdD", 2147483646), "5881580-07-10");
    EXPECT_EQ(fixed_text<std::int32_t>("tdD", 2147483647), "infinity");
    EXPECT_EQ(fixed_text<std::int32_t>("tdD", -2147483647), "-infinity");
}

TEST(TextTest, Times) {
    EXPECT_EQ(fixed_text<std::int64_t>("ttu", 3723000004), "01:02:03.000004");
    EXPECT_EQ(fixed_text<std::int64_t>("ttu", 86400000000), "24:00:00");
    EXPECT_EQ(fixed_text<std::int64_t>("ttn", 3723123456789), "01:02:03.123456789");
    EXPECT_EQ(fixed_text<std::int32_t>("tts", 59), "00:00:59");
    EXPECT_EQ(fixed_text<std::int32_t>("ttm", 1500), "00:00:01.5");
}

TEST(TextTest, Timestamps) {
    EXPECT_EQ(fixed_text<std::int64_t>("tss:", 1704067200), "2024-01-01 00:00:00");
    EXPECT_EQ(fixed_text<std::int64_t>("tsm:", 1704067200120), "2024-01-01 00:00:00.12");
    EXPECT_EQ(fixed_text<std::int64_t>("tsu:", -1), "1969-12-31 23:59:59.999999");
    EXPECT_EQ(fixed_text<std::int64_t>("tsu:", -9223372022400000000), "290309-12-22 (BC) 00:00:00");
    EXPECT_EQ(fixed_text<std::int64_t>("tsn:", 1704067200123456700), "2024-01-01 00:00:00.1234567");
    EXPECT_EQ(fixed_text<std::int64_t>("tsu:Europe/Paris", 0), "1970-01-01 00:00:00+00");
    EXPECT_EQ(fixed_text<std::int64_t>("tsu:UTC", std::numeric_limits<std::int64_t>::max()),
              "infinity");
    EXPECT_EQ(fixed_text<std::int64_t>("tsn:", -std::numeric_limits<std::int64_t>::max()),
              "-infinity");
}

struct IntervalCell {
    std::int32_t months;
    std::int32_t days;
    std::int64_t nanoseconds;
};

TEST(TextTest, Intervals) {
    const auto interval = [](IntervalCell cell) { return fixed_text("tin", cell); };
    EXPECT_EQ(interval({14, 3, 14706000000000}), "1 year 2 months 3 days 04:05:06");
    EXPECT_EQ(interval({-14, 0, 0}), "-1 year -2 months");
    EXPECT_EQ(interval({1, -1, 0}), "1 month -1 day");
    EXPECT_EQ(interval({0, 0, 0}), "00:00:00");
    EXPECT_EQ(interval({0, 0, -1500000000}), "-00:00:01.5");
    EXPECT_EQ(interval({0, 2, 360000500000000}), "2 days 100:00:00.5");
    EXPECT_EQ(interval({999, 999, 999999999000}), "83 years 3 months 999 days 00:16:39.999999");
    EXPECT_FALSE(interval({0, 0, std::numeric_limits<std::int64_t>::min()}).empty());
}

TEST(TextTest, BytesAndTheirDisguises) {
    const auto bytes = [](const std::string& value, const std::string& type) {
        return text(field("x", "z", {}, type), texts({value}));
    };
    EXPECT_EQ(text(field("x", "u"), texts({"ab", "c\"d"}), 1), "c\"d");
    EXPECT_EQ(bytes(std::string("\xAB\0a'\"\\~ ", 8), "BLOB"), R"(\xAB\x00a\x27\x22\x5C~ )");
    EXPECT_EQ(bytes(std::string("\x03\xF5", 2), "BIT"), "10101");
    EXPECT_EQ(bytes(std::string("\x80\0\x02\x01\0", 5), "BIGNUM"), "256");
    EXPECT_EQ(bytes(std::string("\x7f\xff\xfd\xfe\xff", 5), "BIGNUM"), "-256");
    EXPECT_EQ(bytes("", "BIT"), "");
    EXPECT_EQ(text(field("x", "w:2", {}, "BLOB"), fixed<std::uint8_t>({1, 2, 65, 66}), 1), "AB");
    std::vector<std::uint8_t> uuid(16, 0);
    uuid[15] = 0xAF;
    EXPECT_EQ(text(field("x", "w:16", {}, "UUID"), fixed(uuid)),
              "00000000-0000-0000-0000-0000000000af");
}

TEST(TextTest, TextViews) {
    struct View {
        std::int32_t length;
        char inline_bytes[4];
        std::int32_t buffer;
        std::int32_t offset;
    };
    auto array = fixed<View>({{2, {'h', 'i', 0, 0}, 0, 0}, {14, {'a', ' ', 'l', 'o'}, 0, 1}});
    array.buffers.push_back(test::buffer_of(std::vector<char>{
        '_', 'a', ' ', 'l', 'o', 'n', 'g', 'e', 'r', ' ', 't', 'e', 'x', 't', '!'}));
    EXPECT_EQ(text(field("x", "vu"), array, 0), "hi");
    EXPECT_EQ(text(field("x", "vu"), array, 1), "a longer text!");
}

TEST(TextTest, ListsQuoteWhatCouldBeMisread) {
    const auto of = field("x", "+l", {field("l", "u")});
    const auto values = test::with_nulls(
        texts({"a b", "a, b", "", "x", "nUll", "it's", " lead", "back\\s", "\"q\"", "k=v", "k:v"}),
        {true, true, true, false, true, true, true, true, true, true, true});
    const auto array = test::list({0, 4, 4, 11}, values);
    EXPECT_EQ(text(of, array, 0), "[a b, 'a, b', '', NULL]");
    EXPECT_EQ(text(of, array, 1), "[]");
    EXPECT_EQ(text(of, array, 2), R"(['nUll', 'it\'s', ' lead', back\s, '"q"', 'k=v', 'k:v'])");
}

TEST(TextTest, OtherListLayouts) {
    const auto child = field("l", "i");
    const auto numbers = fixed<std::int32_t>({1, 2, 3, 4});
    Array fixed_size = test::structure(2, {numbers});
    EXPECT_EQ(text(field("x", "+w:2", {child}), fixed_size, 1), "[3, 4]");
    Array large;
    large.length = 1;
    large.buffers = {Buffer{}, test::buffer_of<std::int64_t>({1, 3})};
    large.children = {numbers};
    EXPECT_EQ(text(field("x", "+L", {child}), large), "[2, 3]");
    Array view;
    view.length = 1;
    view.buffers = {Buffer{}, test::buffer_of<std::int32_t>({2}),
                    test::buffer_of<std::int32_t>({2})};
    view.children = {numbers};
    EXPECT_EQ(text(field("x", "+vl", {child}), view), "[3, 4]");
}

TEST(TextTest, ElementsOfListsAreQuotedByTheirText) {
    EXPECT_EQ(text(field("x", "+l", {field("l", "ttu")}),
                   test::list({0, 1}, fixed<std::int64_t>({3723000000}))),
              "['01:02:03']");
    EXPECT_EQ(text(field("x", "+l", {field("l", "u")}, "JSON[]"),
                   test::list({0, 1}, texts({R"({"a": 1})"}))),
              R"([{"a": 1}])");
    EXPECT_EQ(text(field("x", "+l", {field("l", "z")}, "BIT[]"),
                   test::list({0, 1}, texts({std::string("\x03\xF5", 2)}))),
              "[10101]");
}

TEST(TextTest, StructsMapsAndUnions) {
    const auto numbers = fixed<std::int32_t>({1, 2});
    const auto words = texts({"x, y", "z"});
    const auto pair = test::structure(2, {numbers, words});
    EXPECT_EQ(text(field("x", "+s", {field("a", "i"), field("it's", "u")}), pair),
              R"({'a': 1, 'it\'s': 'x, y'})");
    EXPECT_EQ(text(field("x", "+s", {field("", "i"), field("", "u")}), pair, 1), "(2, z)");

    const auto entries = field("entries", "+s", {field("key", "u"), field("value", "i")});
    EXPECT_EQ(
        text(field("x", "+m", {entries}), test::list({0, 2}, test::structure(2, {words, numbers}))),
        "{'x, y'=1, z=2}");

    const std::vector<Field> members{field("n", "i"), field("t", "u")};
    Array sparse = test::structure(2, {numbers, words});
    sparse.buffers = {test::buffer_of<std::int8_t>({7, 5})};
    EXPECT_EQ(text(field("x", "+us:5,7", members), sparse, 0), "x, y");
    EXPECT_EQ(text(field("x", "+us:5,7", members), sparse, 1), "2");
    Array dense = test::structure(2, {numbers, words});
    dense.buffers = {test::buffer_of<std::int8_t>({1, 1}), test::buffer_of<std::int32_t>({1, 0})};
    EXPECT_EQ(text(field("x", "+ud:0,1", members), dense, 0), "z");
}

TEST(TextTest, DictionariesAndNulls) {
    auto of = field("x", "C", {}, "ENUM('a','b')");
    of.dictionary.push_back(field("", "u"));
    auto array = test::with_nulls(fixed<std::uint8_t>({1, 0}), {true, false});
    array.dictionary.push_back(texts({"a", "b"}));
    EXPECT_EQ(text(of, array, 0), "b");
    EXPECT_EQ(text(of, array, 1), "NULL");
    Array nothing;
    nothing.length = 1;
    EXPECT_EQ(text(field("x", "n"), nothing), "NULL");
}

}  // namespace
}  // namespace shortq::detail
