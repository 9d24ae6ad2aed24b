// Goal: small replies are exactly what clients wait for. Method: bytes.
#include "proto/kdb/reply.h"

#include <gmock/gmock.h>

#include "proto/limits.h"
#include "tests/proto/bytes.h"

namespace shortq::kdb {
namespace {

using namespace std::string_view_literals;
using shortq::test::Bytes;
using shortq::test::from_hex;
using shortq::test::to_hex;

TEST(ReplyTest, NothingIsTheIdentityFunction) {
    Bytes out;
    append_nothing(Kind::kResponse, out);
    EXPECT_EQ(to_hex(out), to_hex(from_hex("01020000 0a000000 65 00")));
}

TEST(ReplyTest, ErrorsEndInANul) {
    Bytes out;
    append_error(Kind::kAsync, "type", out);
    EXPECT_EQ(to_hex(out), to_hex(from_hex("01000000 0e000000 80 74797065 00")));
}

TEST(ReplyTest, ANulInsideDoesNotEndTheText) {
    Bytes out;
    append_error(Kind::kAsync, "a\0b"sv, out);
    EXPECT_EQ(to_hex(out), to_hex(from_hex("01000000 0d000000 80 612062 00")));
}

TEST(ReplyTest, LongErrorsAreCutVisibly) {
    Bytes out;
    append_error(Kind::kAsync, std::string(proto::kErrorTextBytesMax + 1, 'x'), out);
    EXPECT_EQ(out.size(), kHeaderBytes + 1 + proto::kErrorTextBytesMax + 1);
    EXPECT_EQ(to_hex(std::span(out).last(5)), "78 2e 2e 2e 00");
}

TEST(ReplyTest, ATooLargeResultIsCountedInRows) {
    const Error error = result_too_large(3'000'000, 1ULL << 32U);
    EXPECT_EQ(error.code, ErrorCode::kTooLarge);
    EXPECT_THAT(error.message, testing::HasSubstr("3000000 rows"));
}

}  // namespace
}  // namespace shortq::kdb
