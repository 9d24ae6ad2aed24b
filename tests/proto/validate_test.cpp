// Goal: no batch passes assemble() that a reader could be led out of.
// Method: one attack per rule on a column that is right otherwise, with the exact message; damage
// to every byte of every buffer, and a walk over what still passes (a sanitizer watches).
#include <gmock/gmock.h>

#include <functional>

#include "proto/columnar.h"
#include "tests/proto/arrays.h"
#include "tests/proto/walk.h"

namespace shortq::proto {
namespace {

using test::buffer_of;
using test::Column;

Result<Batch> through(const Column& column) {
    const Batch batch{column.array.length, {column.array}};
    const BatchFrames frames = split(batch);
    return assemble({{column.field}}, frames.layout, frames.buffers);
}

struct Attack {
    const char* name;
    Column column;
    std::function<void(Column&)> spoil;
    const char* problem;
};

// Names instead of bytes in GoogleTest's output.
void PrintTo(const Attack& attack, std::ostream* out) { *out << attack.name; }

class ValidateAttackTest : public testing::TestWithParam<Attack> {};

TEST_P(ValidateAttackTest, IsRefusedWithItsMessage) {
    Column column = GetParam().column;
    const auto good = through(column);
    ASSERT_TRUE(good) << good.error().message;
    GetParam().spoil(column);
    const auto batch = through(column);
    ASSERT_FALSE(batch);
    EXPECT_EQ(batch.error().code, ErrorCode::kBadRequest);
    EXPECT_EQ(batch.error().message, std::string("malformed batch: column ") + GetParam().problem);
}

template <class T>
auto set_buffer(std::size_t index, std::vector<T> items) {
    return [index, items](Column& column) { column.array.buffers.at(index) = buffer_of(items); };
}

// Takes one byte from the end of a buffer.
auto shorten(std::size_t index) {
    return [index](Column& column) {
        Buffer& buffer = column.array.buffers.at(index);
        buffer.bytes = buffer.bytes.first(buffer.bytes.size() - 1);
    };
}

auto set_format(const char* format) {
    return [format](Column& column) { column.field.format = format; };
}

void drop_buffer(Column& column) { column.array.buffers.pop_back(); }
void add_buffer(Column& column) { column.array.buffers.emplace_back(); }
void drop_child(Column& column) {
    column.field.children.pop_back();
    column.array.children.pop_back();
}
void shorten_child(Column& column) { --column.array.children[0].length; }

using I8 = std::int8_t;
using I32 = std::int32_t;
using I64 = std::int64_t;

INSTANTIATE_TEST_SUITE_P(
    Counts, ValidateAttackTest,
    testing::Values(
        Attack{"UnknownFormat", test::fixed("l", 8, 4), set_format("q"), "'x': unknown format 'q'"},
        Attack{"BufferMissing", test::fixed("l", 8, 4), drop_buffer, "'x': 1 buffers instead of 2"},
        Attack{"BufferTooMany", test::texts32("u"), add_buffer, "'x': 4 buffers instead of 3"},
        Attack{"ViewsMissing", test::views("vu"), [](Column& c) { c.array.buffers.resize(1); },
               "'x': 1 buffers instead of 2"},
        Attack{"NullWithABuffer", test::nulls(4), add_buffer, "'x': 1 buffers instead of 0"},
        Attack{"ListWithoutChild", test::list32("+l"), drop_child, "'x': 0 children instead of 1"},
        Attack{"UnionWithAChildLess", test::sparse_union(), drop_child,
               "'x': 1 children instead of 2"},
        Attack{"RunsWithoutValues", test::runs(), drop_child, "'x': 1 children instead of 2"},
        Attack{"NumberWithAChild", test::structure(),
               [](Column& c) {
                   c.field.format = "n";
                   c.array.buffers.clear();
               },
               "'x': 2 children instead of 0"},
        Attack{"DictionaryOfText", test::dictionary(), set_format("f"),
               "'x': a dictionary's indices are not integers"}),
    [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(Validity, ValidateAttackTest,
                         testing::Values(Attack{"AbsentButNulls", test::fixed("l", 8, 4),
                                                [](Column& c) { c.array.buffers[0] = {}; },
                                                "'x': 1 nulls but no validity bitmap"},
                                         Attack{"TooShort", test::fixed("l", 8, 8),
                                                [](Column& c) {
                                                    c.array.length = 9;
                                                    c.array.buffers[1] =
                                                        buffer_of(std::vector<I64>(9));
                                                },
                                                "'x': the validity bitmap is too short"},
                                         Attack{"CountTooSmall", test::fixed("l", 8, 4),
                                                [](Column& c) { c.array.null_count = 0; },
                                                "'x': the validity bitmap has 1 nulls, not 0"},
                                         Attack{"CountTooLarge", test::fixed("l", 8, 8),
                                                [](Column& c) { c.array.null_count = 2; },
                                                "'x': the validity bitmap has 1 nulls, not 2"}),
                         [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Values, ValidateAttackTest,
    testing::Values(Attack{"NumbersTooShort", test::fixed("l", 8, 4), shorten(1),
                           "'x': the values are too short"},
                    Attack{"NumbersAbsent", test::fixed("l", 8, 4),
                           [](Column& c) { c.array.buffers[1] = {}; },
                           "'x': the values are too short"},
                    Attack{"BitsAbsent", test::fixed("b", 1, 4),
                           [](Column& c) { c.array.buffers[1] = {}; },
                           "'x': the values are too short"},
                    Attack{"DecimalsTooShort", test::fixed("d:38,0", 16, 4), shorten(1),
                           "'x': the values are too short"},
                    Attack{"SmallDecimalsAsLargeOnes", test::fixed("d:9,2,32", 4, 4),
                           set_format("d:9,2,64"), "'x': the values are too short"},
                    Attack{"LargestDecimalsTooShort", test::fixed("d:76,0,256", 32, 4), shorten(1),
                           "'x': the values are too short"},
                    Attack{"BinaryTooShort", test::fixed("w:3", 3, 4), shorten(1),
                           "'x': the values are too short"},
                    Attack{"BinaryOfHugeWidth", test::fixed("w:3", 3, 4),
                           set_format("w:2147483647"), "'x': the values are too short"},
                    Attack{"IntervalsTooShort", test::fixed("tin", 16, 4), shorten(1),
                           "'x': the values are too short"},
                    Attack{"DatesAsTimestamps", test::fixed("tdD", 4, 4), set_format("tsu:"),
                           "'x': the values are too short"}),
    [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Texts, ValidateAttackTest,
    testing::Values(
        Attack{"OffsetsTooShort", test::texts32("u"), shorten(1), "'x': the offsets are too short"},
        Attack{"OffsetsAbsent", test::texts32("u"), [](Column& c) { c.array.buffers[1] = {}; },
               "'x': the offsets are too short"},
        Attack{"SmallOffsetsAsLargeOnes", test::texts32("u"), set_format("U"),
               "'x': the offsets are too short"},
        Attack{"FirstOffsetNegative", test::texts32("z"), set_buffer<I32>(1, {-1, 1, 1, 1, 4}),
               "'x': an offset is negative"},
        Attack{"OffsetsFall", test::texts32("u"), set_buffer<I32>(1, {0, 3, 1, 1, 4}),
               "'x': the offsets fall at row 1"},
        Attack{"OffsetsFallToNegative", test::texts64("Z"), set_buffer<I64>(1, {0, 1, 1, 1, -4}),
               "'x': the offsets fall at row 3"},
        Attack{"LastOffsetTooLarge", test::texts32("u"), set_buffer<I32>(1, {0, 1, 1, 1, 5}),
               "'x': an offset is out of bounds"},
        Attack{"HugeOffset", test::texts64("U"),
               set_buffer<I64>(1, {0, 1, 1, 1, std::numeric_limits<I64>::max()}),
               "'x': an offset is out of bounds"},
        Attack{"DataTooShort", test::texts64("U"), shorten(2), "'x': an offset is out of bounds"},
        Attack{"DataAbsent", test::texts32("u"), [](Column& c) { c.array.buffers[2] = {}; },
               "'x': an offset is out of bounds"}),
    [](const auto& tested) { return tested.param.name; });

// Four views of four int32s each; the second is null in test::views().
auto last_view(I32 length, I32 number, I32 offset) {
    return set_buffer<I32>(1, {0, 0, 0, 0, 99, 0, 99, 99, 0, 0, 0, 0, length, 0, number, offset});
}

INSTANTIATE_TEST_SUITE_P(
    Views, ValidateAttackTest,
    testing::Values(
        Attack{"TooShort", test::views("vu"), shorten(1), "'x': the views are too short"},
        Attack{"NegativeLength", test::views("vz"), last_view(-1, 0, 0),
               "'x': a view's length is negative"},
        Attack{"NegativeBuffer", test::views("vu"), last_view(13, -1, 0),
               "'x': a view points to a buffer that is not there"},
        Attack{"BufferNotThere", test::views("vu"), last_view(13, 2, 0),
               "'x': a view points to a buffer that is not there"},
        Attack{"NegativeOffset", test::views("vu"), last_view(13, 0, -1),
               "'x': a view is out of bounds"},
        Attack{"OverTheEnd", test::views("vu"), last_view(13, 0, 1),
               "'x': a view is out of bounds"},
        Attack{"LengthAndOffsetThatOverflow", test::views("vu"),
               last_view(std::numeric_limits<I32>::max(), 0, std::numeric_limits<I32>::max()),
               "'x': a view is out of bounds"},
        Attack{"DataTooShort", test::views("vu"), shorten(3), "'x': a view is out of bounds"}),
    [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Lists, ValidateAttackTest,
    testing::Values(
        Attack{"OffsetsTooShort", test::list32("+l"), shorten(1), "'x': the offsets are too short"},
        Attack{"OffsetsFall", test::list64("+L"), set_buffer<I64>(1, {0, 2, 1, 2, 3}),
               "'x': the offsets fall at row 1"},
        Attack{"ChildTooShort", test::list32("+l"), shorten_child,
               "'x': an offset is out of bounds"},
        Attack{"ViewOffsetsTooShort", test::list_view32(), shorten(1),
               "'x': the list views are too short"},
        Attack{"ViewSizesTooShort", test::list_view64(), shorten(2),
               "'x': the list views are too short"},
        Attack{"ViewOffsetNegative", test::list_view32(), set_buffer<I32>(1, {-1, 0, 3, 0}),
               "'x': a list view is out of bounds"},
        Attack{"ViewSizeNegative", test::list_view64(), set_buffer<I64>(2, {2, 0, -3, 1}),
               "'x': a list view is out of bounds"},
        Attack{"ViewOverTheEnd", test::list_view32(), set_buffer<I32>(2, {3, 0, 0, 1}),
               "'x': a list view is out of bounds"},
        Attack{"ViewThatOverflows", test::list_view64(),
               set_buffer<I64>(2, {std::numeric_limits<I64>::max(), 0, 0, 1}),
               "'x': a list view is out of bounds"},
        Attack{"FixedChildTooShort", test::fixed_list(), shorten_child,
               "'x': the child is too short"},
        Attack{"FixedOfHugeWidth", test::fixed_list(), set_format("+w:2147483647"),
               "'x': the child is too short"},
        Attack{"MapOfNumbers", test::list32("+l"), set_format("+m"),
               "'x': the child is not a struct of key and value"},
        Attack{"MapOfThree", test::map(),
               [](Column& c) {
                   c.field.children[0].children.push_back(c.field.children[0].children[0]);
                   c.array.children[0].children.push_back(c.array.children[0].children[0]);
               },
               "'x': the child is not a struct of key and value"},
        Attack{"MapChildTooShort", test::map(), shorten_child, "'x': an offset is out of bounds"}),
    [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Nested, ValidateAttackTest,
    testing::Values(Attack{"StructChildTooShort", test::structure(), shorten_child,
                           "'x': a child is too short"},
                    Attack{"GrandchildIsNamed", test::structure(),
                           [](Column& c) { c.array.children[1].buffers[2] = {}; },
                           "'x.b': an offset is out of bounds"},
                    Attack{"MapValueIsNamed", test::map(),
                           [](Column& c) { c.array.children[0].children[1].buffers[1] = {}; },
                           "'x.entries.value': the values are too short"},
                    Attack{"TypeIdsTooShort", test::sparse_union(), shorten(0),
                           "'x': the type ids are too short"},
                    Attack{"TypeIdUnknown", test::sparse_union(), set_buffer<I8>(0, {5, 0, 1, 5}),
                           "'x': a type id has no child"},
                    Attack{"TypeIdNegative", test::dense_union(), set_buffer<I8>(0, {5, 0, 0, -5}),
                           "'x': a type id has no child"},
                    Attack{"SparseChildTooShort", test::sparse_union(), shorten_child,
                           "'x': a child is too short"},
                    Attack{"DenseOffsetsTooShort", test::dense_union(), shorten(1),
                           "'x': the offsets are too short"},
                    Attack{"DenseOffsetTooLarge", test::dense_union(),
                           set_buffer<I32>(1, {4, 0, 3, 0}), "'x': an offset is out of bounds"},
                    Attack{"DenseOffsetNegative", test::dense_union(),
                           set_buffer<I32>(1, {3, -1, 3, 0}), "'x': an offset is out of bounds"}),
    [](const auto& tested) { return tested.param.name; });

auto set_run_ends(std::vector<I32> ends) {
    return [ends](Column& c) {
        c.array.children[0].length = static_cast<I64>(ends.size());
        c.array.children[0].buffers[1] = buffer_of(ends);
    };
}

INSTANTIATE_TEST_SUITE_P(
    Encoded, ValidateAttackTest,
    testing::Values(
        Attack{"IndexTooLarge", test::dictionary(), set_buffer<std::uint8_t>(1, {0, 200, 3, 1}),
               "'x': a dictionary index is out of bounds"},
        Attack{"IndexNegative", test::dictionary(),
               [](Column& c) {
                   c.field.format = "c";
                   c.array.buffers[1] = buffer_of(std::vector<I8>{0, 0, -1, 1});
               },
               "'x': a dictionary index is out of bounds"},
        Attack{"IndexHuge", test::dictionary(),
               [](Column& c) {
                   c.field.format = "L";
                   c.array.buffers[1] =
                       buffer_of(std::vector<std::uint64_t>{0, 0, std::uint64_t{1} << 63U, 1});
               },
               "'x': a dictionary index is out of bounds"},
        Attack{"IndicesTooShort", test::dictionary(), shorten(1), "'x': the values are too short"},
        Attack{"DictionaryItselfIsNamed", test::dictionary(),
               [](Column& c) { c.array.dictionary[0].buffers[2] = {}; },
               "'x.': an offset is out of bounds"},
        Attack{"RunEndsThatStayEqual", test::runs(), set_run_ends({4, 4}),
               "'x': the run ends do not rise"},
        Attack{"RunEndsFromZero", test::runs(), set_run_ends({0, 4}),
               "'x': the run ends do not rise"},
        Attack{"RunsTooShort", test::runs(), set_run_ends({2, 3}),
               "'x': the runs end before the last row"},
        Attack{"NoRuns", test::runs(), set_run_ends({}), "'x': the runs end before the last row"},
        Attack{"RunWithoutValue", test::runs(), set_run_ends({1, 2, 4}), "'x': a run has no value"},
        Attack{"RunEndsOfText", test::runs(), [](Column& c) { c.field.children[0].format = "I"; },
               "'x': the run ends are not integers"},
        Attack{"RunEndsWithoutValues", test::runs(),
               [](Column& c) { c.array.children[0].buffers.pop_back(); },
               "'x': the run ends are not integers"},
        Attack{"RunEndsBufferTooShort", test::runs(),
               [](Column& c) { c.array.children[0].buffers[1] = {}; },
               "'x': the run ends are too short"},
        Attack{"RunEndNull", test::runs(),
               [](Column& c) {
                   c.array.children[0].null_count = 1;
                   c.array.children[0].buffers[0] = buffer_of(std::vector<std::uint8_t>{1});
               },
               "'x': a run end is null"}),
    [](const auto& tested) { return tested.param.name; });

// Null slots of views and dictionaries may hold anything: nobody may look there.
TEST(ValidateTest, WildNullSlotsAreAccepted) {
    EXPECT_TRUE(through(test::views("vu")));
    EXPECT_TRUE(through(test::dictionary()));
}

TEST(ValidateTest, EveryIntegerFormatIndexesADictionary) {
    const std::vector<std::pair<const char*, Buffer>> indices = {
        {"c", buffer_of(std::vector<I8>(4))},
        {"C", buffer_of(std::vector<std::uint8_t>(4))},
        {"s", buffer_of(std::vector<std::int16_t>(4))},
        {"S", buffer_of(std::vector<std::uint16_t>(4))},
        {"i", buffer_of(std::vector<I32>(4))},
        {"I", buffer_of(std::vector<std::uint32_t>(4))},
        {"l", buffer_of(std::vector<I64>(4))},
        {"L", buffer_of(std::vector<std::uint64_t>(4))}};
    for (const auto& [format, buffer] : indices) {
        Column column = test::dictionary();
        column.field.format = format;
        column.array.buffers[1] = buffer;
        EXPECT_TRUE(through(column)) << format;
        column.array.dictionary[0].length = 0;
        EXPECT_FALSE(through(column)) << format;
    }
}

// Visits every buffer of an array and its descendants.
void for_each_buffer(Array& array, const std::function<void(Buffer&)>& visit) {
    for (Buffer& buffer : array.buffers) {
        visit(buffer);
    }
    for (Array& child : array.children) {
        for_each_buffer(child, visit);
    }
    for (Array& dictionary : array.dictionary) {
        for_each_buffer(dictionary, visit);
    }
}

// Every byte of every buffer flipped and set to extremes, every buffer cut: what passes is safe.
TEST(ValidateTest, DamagedBuffersAreRefusedOrSafeToRead) {
    std::size_t refused = 0;
    for (Column column : test::every_layout()) {
        for_each_buffer(column.array, [&](Buffer& buffer) {
            const Buffer original = buffer;
            const auto attempt = [&](std::vector<std::byte> bytes) {
                buffer = buffer_of(bytes);
                const auto batch = through(column);
                refused += batch ? 0U : 1U;
                if (batch) {
                    test::walk(column.field, batch->columns[0]);
                }
            };
            const std::vector<std::byte> bytes(original.bytes.begin(), original.bytes.end());
            for (std::size_t at = 0; at < bytes.size(); ++at) {
                attempt({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at)});
                for (const unsigned value : {0x00U, 0x01U, 0x7fU, 0x80U, 0xffU}) {
                    auto damaged = bytes;
                    damaged[at] = static_cast<std::byte>(value);
                    attempt(damaged);
                }
            }
            buffer = original;
        });
    }
    EXPECT_GT(refused, 1000U);
}

}  // namespace
}  // namespace shortq::proto
