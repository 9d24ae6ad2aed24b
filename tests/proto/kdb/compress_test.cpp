// Goal: our compression is KX's, and bad data cannot harm. Method: the same bytes as KX's -18! for
// a vector that can be followed by hand, seeded round trips, truncations and edits of all kinds.
#include "proto/kdb/compress.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/proto/bytes.h"
#include "tests/proto/kdb/objects.h"

namespace shortq::kdb {
namespace {

using shortq::test::Bytes;
using shortq::test::from_hex;
using shortq::test::to_hex;

constexpr std::uint64_t kNoLimit = kMessageBytesMax;

Bytes trues(std::size_t count) {
    return encode_message(vector_of(Type::kBoolean, std::vector<std::uint8_t>(count, 1)),
                          Kind::kAsync);
}

// Two items of a group repeat; the header of the plain message is not part of it.
std::string plain_of(const Bytes& packed, ByteOrder order = ByteOrder::kLittle) {
    Bytes out;
    const auto done = decompress(packed, order, kNoLimit, out);
    if (!done) return done.error().message;
    return to_hex(std::span(out).subspan(kHeaderBytes));
}

// 2000#1b: the head and the first two trues as they are, then repeats of 2 and 255 bytes from slot
// 01^01, the last one shorter, and three bytes that are too near the end to be looked up.
TEST(CompressTest, ManyTruesAreFewRepeats) {
    const Bytes message = trues(2000);
    const auto packed = compress(message);
    ASSERT_TRUE(packed);
    EXPECT_EQ(plain_of(*packed), to_hex(std::span(message).subspan(kHeaderBytes)));
    EXPECT_EQ(to_hex(*packed), to_hex(from_hex("01000100 26000000 de070000 "
                                               "00 0100d007000001 01 "
                                               "ff 00ff 00ff 00ff 00ff 00ff 00ff 00ff 00c5")));
}

TEST(CompressTest, KnowsWhenItDoesNotPay) {
    std::mt19937_64 random(5);
    std::vector<std::uint8_t> noise(5000);
    for (auto& byte : noise) byte = static_cast<std::uint8_t>(random());
    EXPECT_FALSE(compress(encode_message(vector_of(Type::kByte, noise), Kind::kSync)));
    EXPECT_FALSE(compress(trues(4)));
    EXPECT_FALSE(compress(Bytes(8)));
}

// Of bytes that repeat at many distances, as tables do.
Bytes patterned(std::mt19937_64& random) {
    std::vector<std::uint8_t> bytes;
    const std::size_t size = 100 + random() % 5000;
    while (bytes.size() < size) {
        if (bytes.empty() || random() % 4 == 0) {
            bytes.push_back(static_cast<std::uint8_t>(random() % 4));
        } else {
            const std::size_t from = random() % bytes.size();
            for (std::size_t left = random() % 400, i = from; left > 0; --left)
                bytes.push_back(bytes[i++]);
        }
    }
    return encode_message(vector_of(Type::kByte, bytes), Kind::kResponse);
}

TEST(CompressTest, RoundTripsAreExact) {
    std::mt19937_64 random(6);
    int packed_ones = 0;
    for (int i = 0; i < 120; ++i) {
        const Bytes message = patterned(random);
        const auto packed = compress(message);
        if (!packed) continue;
        ++packed_ones;
        ASSERT_LE(packed->size(), message.size() / 2);
        ASSERT_EQ(plain_of(*packed), to_hex(std::span(message).subspan(kHeaderBytes)));
        Bytes big = *packed;  // Only the length knows of byte orders.
        std::reverse(big.begin() + 8, big.begin() + 12);
        ASSERT_EQ(plain_of(big, ByteOrder::kBig), plain_of(*packed));
    }
    EXPECT_GT(packed_ones, 40);
}

TEST(CompressTest, TruncatedDataAreErrors) {
    std::mt19937_64 random(7);
    const auto packed = compress(patterned(random));
    ASSERT_TRUE(packed);
    for (std::size_t size = kHeaderBytes; size < packed->size(); ++size) {
        Bytes out;
        const Bytes cut(packed->begin(), packed->begin() + static_cast<std::ptrdiff_t>(size));
        ASSERT_FALSE(decompress(cut, ByteOrder::kLittle, kNoLimit, out)) << size;
    }
}

TEST(CompressTest, EditedDataDoNoHarm) {
    std::mt19937_64 random(8);
    const auto packed = compress(trues(3000));
    ASSERT_TRUE(packed);
    for (std::size_t i = 0; i < 5000; ++i) {
        Bytes edited = *packed;
        for (int edits = 0; edits < 3; ++edits)
            edited[12 + random() % (edited.size() - 12)] = static_cast<std::byte>(random());
        Bytes out;
        const auto done = decompress(edited, ByteOrder::kLittle, kNoLimit, out);
        EXPECT_TRUE(done || done.error().code == ErrorCode::kBadRequest);
    }
}

TEST(CompressTest, LengthsAreBounded) {
    const auto packed = compress(trues(2000));
    ASSERT_TRUE(packed);
    Bytes out;
    EXPECT_TRUE(decompress(*packed, ByteOrder::kLittle, 2014, out));
    EXPECT_EQ(decompress(*packed, ByteOrder::kLittle, 2013, out).error().code,
              ErrorCode::kTooLarge);
    // A promise that these bytes cannot keep takes no memory.
    Bytes none;
    Bytes promise = *packed;
    promise[11] = std::byte{0x7f};
    EXPECT_EQ(decompress(promise, ByteOrder::kLittle, kNoLimit, none).error().code,
              ErrorCode::kBadRequest);
    EXPECT_EQ(none.capacity(), 0U);
}

TEST(CompressTest, ARepeatOfWhatWasNeverThereIsAnError) {
    Bytes out;
    const auto done = decompress(from_hex("01000100 0f000000 0c000000 01 00 02"),
                                 ByteOrder::kLittle, kNoLimit, out);
    EXPECT_FALSE(done);
}

}  // namespace
}  // namespace shortq::kdb
