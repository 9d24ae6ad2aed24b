// Goal: messages are found in a stream however it is cut, and lengths are judged before bodies are
// held. Method: streams of examples cut at every place; headers that lie.
#include "proto/kdb/message.h"

#include <gmock/gmock.h>

#include "proto/kdb/compress.h"
#include "tests/proto/bytes.h"
#include "tests/proto/kdb/objects.h"

namespace shortq::kdb {
namespace {

using shortq::test::Bytes;
using shortq::test::from_hex;

constexpr std::uint64_t kMax = 1 << 20;

// Everything that comes out of a stream that arrives in pieces of `size`.
std::vector<std::string> read_all(const Bytes& stream, std::size_t size) {
    MessageReader reader(kMax);
    std::vector<std::string> found;
    for (std::size_t at = 0; at < stream.size(); at += size) {
        const Bytes piece(
            stream.begin() + static_cast<std::ptrdiff_t>(at),
            stream.begin() + static_cast<std::ptrdiff_t>(std::min(at + size, stream.size())));
        std::span<const std::byte> input = piece;
        while (true) {
            const auto message = reader.read(input);
            if (!message) return {message.error().message};
            if (!*message) break;
            found.push_back(std::to_string(static_cast<int>((*message)->kind)) + ' ' +
                            test::shown(test::decoded((*message)->body, (*message)->order)));
        }
        EXPECT_TRUE(input.empty());
    }
    return found;
}

TEST(MessageTest, AStreamMayBeCutAnywhere) {
    Bytes stream;
    std::vector<std::string> expected;
    const auto add = [&](const Bytes& message, Kind kind, const Object& object) {
        stream.insert(stream.end(), message.begin(), message.end());
        expected.push_back(std::to_string(static_cast<int>(kind)) + ' ' + test::shown(object));
    };
    const Object text = text_of("select 1");
    const Object numbers = test::longs(std::vector<std::int64_t>(60, 7));
    add(encode_message(text, Kind::kSync), Kind::kSync, text);
    add(encode_message(numbers, Kind::kAsync, ByteOrder::kBig), Kind::kAsync, numbers);
    add(*compress(encode_message(numbers, Kind::kResponse)), Kind::kResponse, numbers);
    add(encode_message(Object{}, Kind::kAsync), Kind::kAsync, Object{});
    for (std::size_t size = 1; size <= stream.size(); ++size)
        ASSERT_EQ(read_all(stream, size), expected) << "pieces of " << size;
}

TEST(MessageTest, AWholeMessageIsNotCopied) {
    const Bytes bytes = encode_message(text_of("select 1"), Kind::kSync);
    MessageReader reader(kMax);
    std::span<const std::byte> input = bytes;
    const auto message = reader.read(input);
    ASSERT_TRUE(message && *message);
    EXPECT_EQ((*message)->body.data(), bytes.data() + kHeaderBytes);
    EXPECT_EQ(reader.buffered(), 0U);
}

TEST(MessageTest, LengthsAreJudgedBeforeTheBodyIsThere) {
    for (const auto& [header, code] : std::vector<std::pair<const char*, ErrorCode>>{
             {"01010000 01001000", ErrorCode::kTooLarge},
             {"00010000 00100001", ErrorCode::kTooLarge},
             {"01010000 ffffffff", ErrorCode::kTooLarge},
             {"01010001 09000000", ErrorCode::kTooLarge},
             {"01010000 08000000", ErrorCode::kBadRequest},
             {"01010000 00000000", ErrorCode::kBadRequest},
             {"02010000 09000000", ErrorCode::kBadRequest},
             {"01030000 09000000", ErrorCode::kBadRequest},
             {"01010200 09000000", ErrorCode::kBadRequest}}) {
        const Bytes bytes = from_hex(header);
        MessageReader reader(kMax);
        std::span<const std::byte> input = bytes;
        const auto message = reader.read(input);
        ASSERT_FALSE(message) << header;
        EXPECT_EQ(message.error().code, code) << header;
        // To know how to answer.
        EXPECT_EQ(reader.header().has_value(), code == ErrorCode::kTooLarge) << header;
        if (reader.header()) {
            EXPECT_EQ(reader.header()->kind, Kind::kSync);
        }
    }
}

TEST(MessageTest, TheLimitItselfIsAccepted) {
    const Bytes bytes = encode_message(text_of(std::string(100, 'x')), Kind::kSync);
    for (const std::size_t less : {0, 1}) {
        MessageReader reader(bytes.size() - less);
        std::span<const std::byte> input = bytes;
        const auto message = reader.read(input);
        EXPECT_EQ(message.has_value(), less == 0);
    }
}

TEST(MessageTest, WhatACompressedMessageBecomesIsBounded) {
    const auto packed = *compress(encode_message(text_of(std::string(100'000, 'x')), Kind::kSync));
    MessageReader reader(50'000);
    std::span<const std::byte> input = packed;
    const auto message = reader.read(input);
    ASSERT_FALSE(message);
    EXPECT_EQ(message.error().code, ErrorCode::kTooLarge);
}

// Linear: with a quadratic reader this would take minutes.
TEST(MessageTest, ALargeRequestInSingleBytesTakesLinearTime) {
    const std::string text(1 << 20, 'x');
    const Bytes bytes = encode_message(text_of(text), Kind::kSync);
    MessageReader reader(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        auto input = std::span(bytes).subspan(i, 1);
        const auto message = reader.read(input);
        ASSERT_TRUE(message);
        ASSERT_EQ(message->has_value(), i + 1 == bytes.size());
        if (*message) {
            EXPECT_EQ((*message)->body.size(), text.size() + 6);
        }
    }
}

}  // namespace
}  // namespace shortq::kdb
