// Goal: every handshake that clients send is understood, in pieces of any size, and nothing else
// is. Method: the forms seen, each whole and byte by byte, with a request behind; then garbage.
#include "proto/kdb/handshake.h"

#include <gmock/gmock.h>

#include "proto/kdb/types.h"
#include "tests/proto/bytes.h"

namespace shortq::kdb {
namespace {

using namespace std::string_literals;
using shortq::test::bytes_of;

struct Form {
    std::string bytes;
    Handshake handshake;
};

std::vector<Form> forms() {
    return {
        {"anonymous\3\0"s, {"anonymous", "", 3}},
        {"user:pw\3\0"s, {"user", "pw", 3}},
        {"user:pw\6\0"s, {"user", "pw", 6}},
        {":\3\0"s, {"", "", 3}},
        {"user:pw\0"s, {"user", "pw", 0}},
        {"user:p:w:\1\0"s, {"user", "p:w:", 1}},
        {"\0"s, {"", "", 0}},
        {"\3\0"s, {"", "", 3}},
        {"j\xc3\xb6rg:\xff\0"s, {"j\xc3\xb6rg", "\xff", 0}},
    };
}

TEST(HandshakeTest, FormsThatClientsSendAreTakenApart) {
    for (const auto& [text, expected] : forms()) {
        const auto bytes = bytes_of(text + "next");
        std::span<const std::byte> input = bytes;
        HandshakeReader reader;
        const auto handshake = reader.read(input);
        ASSERT_TRUE(handshake && *handshake) << text;
        EXPECT_EQ(**handshake, expected) << text;
        EXPECT_EQ(input.size(), 4U) << "what follows is not the handshake's";
    }
}

TEST(HandshakeTest, BytesMayArriveOneAtATime) {
    for (const auto& [text, expected] : forms()) {
        HandshakeReader reader;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const auto byte = bytes_of(text.substr(i, 1));
            std::span<const std::byte> input = byte;
            const auto handshake = reader.read(input);
            ASSERT_TRUE(handshake) << text;
            EXPECT_TRUE(input.empty());
            ASSERT_EQ(handshake->has_value(), i + 1 == text.size()) << text;
            if (*handshake) {
                EXPECT_EQ(**handshake, expected);
            }
        }
    }
}

TEST(HandshakeTest, GarbageIsRefusedAtOnce) {
    for (const auto& text : {"GET / HTTP/1.1\r\nHost: x\r\n"s, "us\1er:pw\3\0"s, "user\3:pw"s,
                             "\xff\xfe:pw\3\0"s, "a\3\3\0"s, "\x16\x03\x01\x02"s}) {
        HandshakeReader reader;
        const auto bytes = bytes_of(text);
        std::span<const std::byte> input = bytes;
        const auto handshake = reader.read(input);
        ASSERT_FALSE(handshake) << text;
        EXPECT_EQ(handshake.error().code, ErrorCode::kBadRequest);
    }
}

TEST(HandshakeTest, LongOnesAreRefusedWithoutTheirEnd) {
    for (const std::size_t size : {kHandshakeBytesMax - 1, kHandshakeBytesMax}) {
        HandshakeReader reader;
        auto bytes = bytes_of(std::string(size, 'x'));
        std::span<const std::byte> input = bytes;
        auto handshake = reader.read(input);
        EXPECT_EQ(handshake.has_value(), size < kHandshakeBytesMax) << size;
        if (!handshake) continue;
        bytes = bytes_of("\0"s);
        input = bytes;
        handshake = reader.read(input);
        EXPECT_TRUE(handshake && *handshake);
    }
}

}  // namespace
}  // namespace shortq::kdb
