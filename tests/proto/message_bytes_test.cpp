// Goal: the bytes on the wire never change by accident.
// Method: vectors written by hand from PROTOCOL.md, compared both ways.
#include <gmock/gmock.h>

#include "proto/columnar.h"
#include "proto/layout.h"
#include "proto/message.h"
#include "proto/value.h"
#include "tests/proto/arrays.h"
#include "tests/proto/bytes.h"

namespace shortq::proto {
namespace {

void expect_bytes(const Message& message, std::string_view hex) {
    HeaderBuffer buffer;
    EXPECT_EQ(test::to_hex(encode(message, buffer)), hex);
    const auto bytes = test::from_hex(hex);
    const auto decoded = decode(bytes);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_TRUE(*decoded == message) << hex;
}

TEST(WireBytesTest, Hello) {
    expect_bytes(Hello{.pid = 258, .agent = "cli"},
                 "99 01 01 00 01 01 cd 01 02 a3 63 6c 69 a0 c4 00");
}

TEST(WireBytesTest, Welcome) {
    expect_bytes(Welcome{.version = 1,
                         .session = 9,
                         .workers = 2,
                         .generation = 1,
                         .query_bytes_max = 16 << 20,
                         .result_bytes_max = 0,
                         .pending_max = 10'000,
                         .heartbeat_ms = 1000,
                         .server = "s"},
                 "9b 01 02 01 09 02 01 ce 01 00 00 00 00 cd 27 10 cd 03 e8 a1 73");
}

TEST(WireBytesTest, Request) {
    expect_bytes(Request{.id = 7, .session = 0x0102030405060708, .timeout_ms = 1000},
                 "9a 01 03 07 cf 01 02 03 04 05 06 07 08 00 01 c2 cd 03 e8 00 a0");
}

TEST(WireBytesTest, Cancel) { expect_bytes(Cancel{.id = 7, .session = 9}, "94 01 04 07 09"); }

TEST(WireBytesTest, Reply) {
    expect_bytes(Reply{.id = 7,
                       .attempt = 0,
                       .sequence = 0,
                       .batches = 1,
                       .last = true,
                       .facts = {.worker = 2,
                                 .generation = 1,
                                 .queued_us = 5,
                                 .run_us = 200,
                                 .rows = 10,
                                 .bytes = 312}},
                 "9d 01 05 07 00 00 01 c3 02 01 05 cc c8 0a cd 01 38");
}

TEST(WireBytesTest, Error) {
    expect_bytes(ErrorReply{.id = 7,
                            .code = ErrorCode::kTimeout,
                            .retryable = true,
                            .facts = {.worker = 2, .generation = 1}},
                 "9c 01 06 07 05 c3 c2 02 01 00 00 00 00");
}

TEST(WireBytesTest, TheShortOnes) {
    expect_bytes(Ready{.generation = 1, .load_us = 300}, "94 01 07 01 cd 01 2c");
    expect_bytes(Heartbeat{}, "96 01 08 00 00 ff 00");
    expect_bytes(Ping{}, "92 01 09");
    expect_bytes(Recall{.id = 7}, "93 01 0a 07");
    expect_bytes(Recalled{.id = 7}, "93 01 0b 07");
    expect_bytes(Interrupt{.id = 7}, "93 01 0c 07");
    expect_bytes(Drain{}, "92 01 0d");
    expect_bytes(Goodbye{.session = 9}, "93 01 0e 09");
    expect_bytes(WornOut{.why = "it"}, "93 01 10 a2 69 74");
    expect_bytes(Credit{.id = 7, .session = 9, .attempt = 1, .bytes = 1 << 20},
                 "96 01 0f 07 09 01 ce 00 10 00 00");
    expect_bytes(Progress{.id = 7, .progress_ppm = -1}, "94 01 11 07 ff");
}

TEST(WireBytesTest, Parameters) {
    const Parameters parameters = {{"", Null{}},
                                   {"", true},
                                   {"", std::int64_t{-1}},
                                   {"", 1.0},
                                   {"sym", std::string("A")},
                                   {"", Blob{std::string("\0\xff", 2)}},
                                   {"", Date{-2}},
                                   {"", Timestamp{300}}};
    const std::string_view hex =
        "98 93 a0 00 c0 93 a0 01 c3 93 a0 02 ff 93 a0 03 cb 3f f0 00 00 00 00 00 00 "
        "93 a3 73 79 6d 04 a1 41 93 a0 05 c4 02 00 ff 93 a0 06 fe 93 a0 07 cd 01 2c";
    EXPECT_EQ(test::to_hex(encode_parameters(parameters)), hex);
    EXPECT_EQ(decode_parameters(test::from_hex(hex)), parameters);
}

TEST(WireBytesTest, SchemaAndLayout) {
    const Schema schema{{Field{.name = "n", .format = "l", .engine_type = "BIGINT"},
                         Field{.name = "e",
                               .format = "C",
                               .engine_type = "ENUM",
                               .metadata = {{"k", "v"}},
                               .dictionary = {Field{.format = "u", .nullable = false}}}}};
    const std::string_view hex =
        "92 97 a1 6e a1 6c a6 42 49 47 49 4e 54 c3 90 90 90 "
        "97 a1 65 a1 43 a4 45 4e 55 4d c3 92 a1 6b c4 01 76 90 91 97 a0 a1 75 a0 c2 90 90 90";
    EXPECT_EQ(test::to_hex(encode_schema(schema)), hex);
    EXPECT_EQ(decode_schema(test::from_hex(hex)), schema);

    const Batch batch{2, {test::numbers<std::int64_t>("l", {1, 2}).array}};
    EXPECT_EQ(test::to_hex(split(batch).layout), "93 02 93 02 00 02 92 00 10");
    EXPECT_EQ(buffer_frames_of(split(batch).layout), std::size_t{1});
}

}  // namespace
}  // namespace shortq::proto
