// Goal: the msgpack reader takes every format of the items it knows, and moves only on success.
// Method: items at the edges of each format, packed by msgpack-c or written by hand.
#include "proto/reader.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <msgpack.hpp>

#include "tests/proto/bytes.h"

namespace shortq::proto {
namespace {

template <class T>
test::Bytes packed(const T& value) {
    msgpack::sbuffer buffer;
    msgpack::pack(buffer, value);
    return test::bytes_of({buffer.data(), buffer.size()});
}

// msgpack-c picks the shortest format; the edges of each are here.
TEST(ReaderTest, UnsignedIntegersOfEveryFormat) {
    for (unsigned bits = 0; bits < 64; ++bits) {
        for (const std::uint64_t delta : {std::uint64_t{0}, std::uint64_t{1}}) {
            const std::uint64_t value = (std::uint64_t{1} << bits) - delta;
            const auto bytes = packed(value);
            Reader reader(bytes);
            std::uint64_t read = 0;
            ASSERT_TRUE(reader.unsigned_int(read)) << value;
            EXPECT_EQ(read, value);
            EXPECT_TRUE(reader.done());
        }
    }
}

TEST(ReaderTest, SignedIntegersOfEveryFormat) {
    for (unsigned bits = 0; bits < 63; ++bits) {
        const std::int64_t power = std::int64_t{1} << bits;
        for (const std::int64_t value : {power, power - 1, -power, -power - 1}) {
            const auto bytes = packed(value);
            Reader reader(bytes);
            std::int64_t read = 0;
            ASSERT_TRUE(reader.signed_int(read)) << value;
            EXPECT_EQ(read, value);
        }
    }
    const auto least = packed(std::numeric_limits<std::int64_t>::min());
    std::int64_t read = 0;
    EXPECT_TRUE(Reader(least).signed_int(read));
    EXPECT_EQ(read, std::numeric_limits<std::int64_t>::min());
}

TEST(ReaderTest, ANumberThatDoesNotFitIsNotTaken) {
    const auto big = packed(std::numeric_limits<std::uint64_t>::max());
    const auto negative = packed(-1);
    std::int64_t number = 0;
    std::uint64_t count = 0;
    EXPECT_FALSE(Reader(big).signed_int(number));
    EXPECT_FALSE(Reader(negative).unsigned_int(count));
    EXPECT_FALSE(Reader(test::from_hex("d1 80 00")).unsigned_int(count));
}

TEST(ReaderTest, TextsBytesAndArraysOfEverySizeFormat) {
    for (const std::size_t size : {0, 1, 15, 16, 31, 32, 255, 256, 65535, 65536}) {
        const auto text = packed(std::string(size, 'x'));
        const auto blob = packed(std::vector<char>(size, 'y'));
        const auto list = packed(std::vector<int>(size, 0));
        std::string_view view;
        std::uint64_t items = 0;
        EXPECT_TRUE(Reader(text).str(view));
        EXPECT_EQ(view, std::string(size, 'x'));
        EXPECT_TRUE(Reader(blob).bin(view));
        EXPECT_EQ(view, std::string(size, 'y'));
        EXPECT_TRUE(Reader(list).array(items));
        EXPECT_EQ(items, size);
        EXPECT_FALSE(Reader(text).bin(view));
        EXPECT_FALSE(Reader(blob).str(view));
    }
}

TEST(ReaderTest, FloatsOfBothWidths) {
    double value = 0;
    EXPECT_TRUE(Reader(test::from_hex("ca 3f c0 00 00")).floating(value));
    EXPECT_EQ(value, 1.5);
    EXPECT_TRUE(Reader(test::from_hex("cb bf f0 00 00 00 00 00 00")).floating(value));
    EXPECT_EQ(value, -1.0);
    EXPECT_TRUE(Reader(test::from_hex("cb 7f f8 00 00 00 00 00 00")).floating(value));
    EXPECT_TRUE(std::isnan(value));
    EXPECT_FALSE(Reader(test::from_hex("cc 01")).floating(value));
}

// A wrong question costs nothing: the right one still finds the item.
TEST(ReaderTest, AFailedReadDoesNotMove) {
    const auto bytes = test::from_hex("a1 78 c3 c0");
    Reader reader(bytes);
    std::uint64_t number = 0;
    std::string_view view;
    bool flag = false;
    EXPECT_FALSE(reader.array(number));
    EXPECT_FALSE(reader.unsigned_int(number));
    EXPECT_FALSE(reader.boolean(flag));
    EXPECT_TRUE(reader.str(view));
    EXPECT_FALSE(reader.nil());
    EXPECT_TRUE(reader.boolean(flag));
    EXPECT_TRUE(flag);
    EXPECT_TRUE(reader.nil());
    EXPECT_TRUE(reader.done());
    EXPECT_FALSE(reader.nil());
}

}  // namespace
}  // namespace shortq::proto
