// Goal: schemas survive the wire; bytes that are none are refused within bounded memory.
// Method: round trips, every small damage, each limit passed by one.
#include <gmock/gmock.h>

#include "proto/columnar.h"
#include "proto/limits.h"
#include "tests/proto/arrays.h"
#include "tests/proto/bytes.h"

namespace shortq::proto {
namespace {

Schema typical() {
    Schema schema = test::schema_of(test::every_layout());
    schema.fields[1].engine_type = "BOOLEAN";
    schema.fields[2].nullable = false;
    schema.fields[3].metadata = {{"ARROW:extension:name", "duckdb.hugeint"},
                                 {"ARROW:extension:metadata", std::string("\0\xff", 2)}};
    schema.fields[4].name = "pr\xc3\xa9nom";
    return schema;
}

Schema nested(std::size_t depth) {
    Field field{.name = "leaf", .format = "l"};
    for (std::size_t i = 1; i < depth; ++i) {
        field = Field{.name = "list", .format = "+l", .children = {field}};
    }
    return {{field}};
}

std::string message_of(const Result<Schema>& result) {
    return result ? "no error" : result.error().message;
}

TEST(SchemaTest, EveryLayoutRoundTrips) {
    const auto decoded = decode_schema(encode_schema(typical()));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, typical());
    EXPECT_EQ(decode_schema(encode_schema(Schema{})), Schema{});
}

TEST(SchemaTest, DamageGivesAnErrorOrAnotherSchema) {
    std::size_t errors = 0;
    test::for_each_damage(encode_schema(typical()), [&](const test::Bytes& damaged) {
        const auto decoded = decode_schema(damaged);
        if (!decoded) {
            ++errors;
            EXPECT_FALSE(decoded.error().message.empty());
            return;
        }
        EXPECT_EQ(decode_schema(encode_schema(*decoded)), *decoded);
    });
    EXPECT_GT(errors, 1000U);
}

TEST(SchemaTest, DepthIsBounded) {
    EXPECT_TRUE(decode_schema(encode_schema(nested(kSchemaDepthMax))));
    const auto decoded = decode_schema(encode_schema(nested(kSchemaDepthMax + 1)));
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, ErrorCode::kTooLarge);
    EXPECT_EQ(decoded.error().message, "the schema is nested more than 64 deep");
}

// A frame of nothing but opening arrays would overflow a careless decoder's stack.
TEST(SchemaTest, EndlessNestingIsRefused) {
    test::Bytes bytes;
    for (int i = 0; i < 100'000; ++i) {
        const auto field = test::from_hex("91 97 a0 a0 a0 c3 90");
        bytes.insert(bytes.end(), field.begin(), field.end());
    }
    EXPECT_EQ(message_of(decode_schema(bytes)), "the schema is nested more than 64 deep");
}

TEST(SchemaTest, FieldsAndMetadataAreCountedTogether) {
    Schema schema;
    schema.fields.resize(kColumnsMax - 1, Field{.format = "l"});
    schema.fields.front().metadata = {{"key", "value"}};
    EXPECT_TRUE(decode_schema(encode_schema(schema)));
    schema.fields.back().metadata = {{"one", "more"}};
    EXPECT_EQ(message_of(decode_schema(encode_schema(schema))),
              "the schema has more than 65536 fields");
}

TEST(SchemaTest, AClaimedCountAllocatesNothing) {
    EXPECT_EQ(message_of(decode_schema(test::from_hex("dd ff ff ff ff"))),
              "malformed schema: a field is not an array of 7");
    EXPECT_EQ(message_of(decode_schema(test::from_hex("91 97 a0 a0 a0 c3 dd ff ff ff fe"))),
              "malformed schema: a metadata entry is not a text and bytes");
}

TEST(SchemaTest, AFrameOverTheLimitIsTooLarge) {
    EXPECT_EQ(message_of(decode_schema(test::Bytes(kSchemaBytesMax + 1))),
              "the schema is over 16777216 bytes");
}

TEST(SchemaTest, MalformedFieldsAreNamed) {
    const auto expect = [](const char* hex, const char* message) {
        EXPECT_EQ(message_of(decode_schema(test::from_hex(hex))), message) << hex;
    };
    expect("", "malformed schema: a list of fields is not an array");
    expect("c0", "malformed schema: a list of fields is not an array");
    expect("90 90", "malformed schema: spare bytes after the last field");
    expect("91 96 a0 a0 a0 c3 90 90", "malformed schema: a field is not an array of 7");
    expect("91 97 a1 ff a0 a0 c3 90 90 90",
           "malformed schema: a field's name, format or engine type is not UTF-8 text");
    expect("91 97 a0 a0 a0 01 90 90 90", "malformed schema: a field's nullable is not a boolean");
    expect("91 97 a0 a0 a0 c3 91 a0 90 90",
           "malformed schema: a field's metadata is not an array of keys and values");
    expect("91 97 a0 a0 a0 c3 92 a0 a0 90 90",
           "malformed schema: a metadata entry is not a text and bytes");
    expect("91 97 a0 a0 a0 c3 90 90 92 97 a0 a0 a0 c3 90 90 90 97 a0 a0 a0 c3 90 90 90",
           "malformed schema: a field has more than one dictionary");
}

// An ENUM's name lists every value. It is cut between characters, and says so.
TEST(SchemaTest, ALongEngineTypeIsCutVisibly) {
    std::string text = "x";
    while (text.size() <= kEngineTypeBytesMax) {
        text += "\xc3\xa9";
    }
    const auto decoded =
        decode_schema(encode_schema({{Field{.format = "C", .engine_type = text}}}));
    ASSERT_TRUE(decoded) << decoded.error().message;
    const std::string& cut = decoded->fields[0].engine_type;
    EXPECT_LE(cut.size(), kEngineTypeBytesMax);
    EXPECT_GT(cut.size(), kEngineTypeBytesMax - 5);
    EXPECT_TRUE(cut.ends_with("\xc3\xa9..."));
}

}  // namespace
}  // namespace shortq::proto
