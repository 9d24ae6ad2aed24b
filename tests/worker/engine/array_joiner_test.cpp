// tests/worker/engine/array_joiner_test.cpp: arrays behind each other, and the memory below them.
#include "worker/engine/array_joiner.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>

namespace shortq::engine::testing {
namespace {

template <class T>
Buffer buffer_of(const std::vector<T>& values) {
    const auto owner = std::make_shared<const std::vector<T>>(values);
    return {std::as_bytes(std::span(*owner)), owner};
}

template <class T>
std::vector<T> values_in(const Buffer& buffer) {
    std::vector<T> values(buffer.bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), buffer.bytes.data(), buffer.bytes.size());
    return values;
}

Array number_array(const std::vector<std::int32_t>& values, std::vector<std::uint8_t> bitmap = {},
                   std::int64_t nulls = 0) {
    return {static_cast<std::int64_t>(values.size()),
            nulls,
            {bitmap.empty() ? Buffer{} : buffer_of(bitmap), buffer_of(values)},
            {},
            {}};
}

Array text_array(const std::vector<std::string>& values) {
    std::vector<std::int32_t> offsets{0};
    std::vector<char> data;
    for (const auto& value : values) {
        data.insert(data.end(), value.begin(), value.end());
        offsets.push_back(static_cast<std::int32_t>(data.size()));
    }
    return {static_cast<std::int64_t>(values.size()),
            0,
            {Buffer{}, buffer_of(offsets), buffer_of(data)},
            {},
            {}};
}

Field field_of_format(std::string format, std::vector<Field> children = {}) {
    Field out;
    out.format = std::move(format);
    out.children = std::move(children);
    return out;
}

class ArrayBuilderTest : public ::testing::Test {
protected:
    Array join(const Field& type, const std::vector<Array>& arrays) {
        ArrayBuilder builder(type, pool_);
        for (const Array& array : arrays) {
            EXPECT_TRUE(builder.can_append(array));
            builder.append(array);
        }
        return builder.take();
    }

    std::shared_ptr<BlockPool> pool_ = std::make_shared<BlockPool>();
};

// Bitmaps join at any bit, and appear with the first null. Method: 3 valid rows, then 6 with nulls,
// then 3 valid ones.
TEST_F(ArrayBuilderTest, ValidityJoinsAtAnyBit) {
    const Array joined =
        join(field_of_format("i"),
             {number_array({1, 2, 3}), number_array({4, 5, 6, 7, 8, 9}, {0b101101}, 2),
              number_array({10, 11, 12})});
    EXPECT_EQ(joined.length, 12);
    EXPECT_EQ(joined.null_count, 2);
    EXPECT_EQ(values_in<std::uint8_t>(joined.buffers[0]),
              (std::vector<std::uint8_t>{0b01101111, 0b1111}));
    std::vector<std::int32_t> expected(12);
    std::iota(expected.begin(), expected.end(), 1);
    EXPECT_EQ(values_in<std::int32_t>(joined.buffers[1]), expected);
}

// Offsets go on where those before end. Method: texts, then a list of texts, some of them empty.
TEST_F(ArrayBuilderTest, OffsetsGoOn) {
    const Array joined = join(field_of_format("u"), {text_array({"a", "", "bcd"}), text_array({}),
                                                     text_array({"ef", "g"})});
    EXPECT_EQ(values_in<std::int32_t>(joined.buffers[1]),
              (std::vector<std::int32_t>{0, 1, 1, 4, 6, 7}));
    const auto data = values_in<char>(joined.buffers[2]);
    EXPECT_EQ(std::string(data.begin(), data.end()), "abcdefg");

    const auto list = [](const std::vector<std::int32_t>& offsets, Array child) {
        return Array{static_cast<std::int64_t>(offsets.size()) - 1,
                     0,
                     {Buffer{}, buffer_of(offsets)},
                     {std::move(child)},
                     {}};
    };
    const Array lists = join(field_of_format("+l", {field_of_format("u")}),
                             {list({0, 2, 2}, text_array({"a", "b"})), list({0, 0}, text_array({})),
                              list({0, 1}, text_array({"c"}))});
    EXPECT_EQ(values_in<std::int32_t>(lists.buffers[1]),
              (std::vector<std::int32_t>{0, 2, 2, 2, 3}));
    EXPECT_EQ(lists.children[0].length, 3);
}

// What 32-bit offsets cannot reach is not joined. Method: a list whose child says that it is long.
TEST_F(ArrayBuilderTest, RefusesWhatOffsetsCannotReach) {
    const Field type = field_of_format("+l", {field_of_format("n")});
    ArrayBuilder builder(type, pool_);
    Array child{std::numeric_limits<std::int32_t>::max(), 0, {}, {}, {}};
    child.null_count = child.length;
    const Array array{1,
                      0,
                      {Buffer{}, buffer_of(std::vector<std::int32_t>{
                                     0, std::numeric_limits<std::int32_t>::max()})},
                      {child},
                      {}};
    ASSERT_TRUE(builder.can_append(array));
    builder.append(array);
    EXPECT_FALSE(builder.can_append(array));
}

// Indices join only if they mean the same. Method: the same dictionary twice, then another one.
TEST_F(ArrayBuilderTest, RefusesAnotherDictionary) {
    Field type = field_of_format("i");
    type.dictionary.push_back(field_of_format("u"));
    const auto indices = [](const std::vector<std::string>& words) {
        Array array = number_array({0, 1});
        array.dictionary.push_back(text_array(words));
        return array;
    };
    ArrayBuilder builder(type, pool_);
    builder.append(indices({"x", "y"}));
    EXPECT_TRUE(builder.can_append(indices({"x", "y"})));
    EXPECT_FALSE(builder.can_append(indices({"x", "z"})));
}

// Layouts that cannot be joined leave one by one, and without a copy. Method: string views.
TEST(ArrayJoinerTest, KeepsASingleArrayAsItIs) {
    ArrayJoiner joiner(field_of_format("vu"), std::make_shared<BlockPool>());
    const Array views{1, 0, {Buffer{}, buffer_of(std::vector<std::int64_t>{0, 0})}, {}, {}};
    ASSERT_TRUE(joiner.can_append(views));
    joiner.append(views);
    EXPECT_FALSE(joiner.can_append(views));
    EXPECT_EQ(joiner.take().buffers[1].bytes.data(), views.buffers[1].bytes.data());
    EXPECT_TRUE(joiner.can_append(views));
}

// A block is used again once its last reader is gone, not before. Method: the addresses of what a
// builder gives away.
TEST(BlockPoolTest, GivesBlocksOutAgain) {
    constexpr std::size_t kBytes = 10000;
    ByteBuilder builder(std::make_shared<BlockPool>());
    const auto fill = [&] {
        std::memset(builder.extend(kBytes), 'x', kBytes);
        return builder.take();
    };
    Buffer first = fill();
    const auto* address = first.bytes.data();
    const Buffer second = fill();
    EXPECT_NE(second.bytes.data(), address);
    first = {};
    EXPECT_EQ(fill().bytes.data(), address);
}

}  // namespace
}  // namespace shortq::engine::testing
