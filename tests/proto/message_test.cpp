// Goal: frame 0 survives the wire, and nothing that is not frame 0 gets through.
// Method: round trips of every kind, every small damage to every kind, each rule broken once.
#include "proto/message.h"

#include <gmock/gmock.h>

#include <set>
#include <variant>

#include "tests/proto/bytes.h"
#include "tests/proto/rejected.h"
#include "tests/proto/samples.h"

namespace shortq::proto {
namespace {

using test::Bytes;
using testing::HasSubstr;

Bytes encoded(const Message& message) {
    HeaderBuffer buffer;
    return test::copy_of(encode(message, buffer));
}

std::string message_of(const Result<Message>& result) {
    return result ? "no error" : result.error().message;
}

// Every kind comes back equal, with typical values, with zeros, and with the largest ones.
TEST(MessageTest, EveryKindRoundTrips) {
    auto messages = test::typical_messages();
    const auto largest = test::largest_messages();
    messages.insert(messages.end(), largest.begin(), largest.end());
    messages.insert(messages.end(), {Hello{}, Welcome{}, Reply{}, Heartbeat{}, Request{.id = 1}});
    for (const Message& message : messages) {
        const Bytes bytes = encoded(message);
        const auto decoded = decode(bytes);
        ASSERT_TRUE(decoded) << decoded.error().message << ": " << test::to_hex(bytes);
        EXPECT_TRUE(*decoded == message) << test::to_hex(bytes);
    }
}

// The samples leave out no kind, so that the tests built on them cover all of them.
TEST(MessageTest, SamplesCoverEveryKind) {
    std::set<std::size_t> kinds;
    for (const Message& message : test::typical_messages()) {
        kinds.insert(message.index());
    }
    EXPECT_EQ(kinds.size(), std::variant_size_v<Message>);
}

// Whatever byte is lost, flipped, replaced or added: an error with a text, or a message that
// is encoded and decoded to itself.
TEST(MessageTest, DamageGivesAnErrorOrAnotherMessage) {
    std::size_t errors = 0;
    for (const Message& message : test::typical_messages()) {
        test::for_each_damage(encoded(message), [&](const Bytes& damaged) {
            const auto decoded = decode(damaged);
            if (!decoded) {
                ++errors;
                EXPECT_FALSE(decoded.error().message.empty());
                EXPECT_FALSE(decoded.error().retryable);
                return;
            }
            const Bytes again_bytes = encoded(*decoded);  // Outlives the views into it.
            const auto again = decode(again_bytes);
            ASSERT_TRUE(again) << again.error().message << ": " << test::to_hex(damaged);
            EXPECT_TRUE(*again == *decoded) << test::to_hex(damaged);
        });
    }
    EXPECT_GT(errors, 1000U);
}

// Every proper prefix of every kind is an error: no field is optional.
TEST(MessageTest, EveryTruncationIsAnError) {
    for (const Message& message : test::typical_messages()) {
        const Bytes bytes = encoded(message);
        for (std::size_t length = 0; length < bytes.size(); ++length) {
            EXPECT_FALSE(decode(std::span(bytes).first(length))) << test::to_hex(bytes);
        }
    }
}

TEST(MessageTest, EverySpareByteIsAnError) {
    for (const Message& message : test::typical_messages()) {
        for (unsigned spare = 0; spare < 256; ++spare) {
            Bytes bytes = encoded(message);
            bytes.push_back(static_cast<std::byte>(spare));
            EXPECT_THAT(message_of(decode(bytes)), HasSubstr("spare bytes"));
        }
    }
}

using test::kBad;
using test::kLarge;
using test::Rejected;

class MessageRejectedTest : public testing::TestWithParam<Rejected> {};

TEST_P(MessageRejectedTest, WithCodeAndMessage) {
    test::expect_rejected(GetParam(), [](const test::Bytes& bytes) { return decode(bytes); });
}

INSTANTIATE_TEST_SUITE_P(
    Rules, MessageRejectedTest,
    testing::Values(
        Rejected{"Empty", "", kBad, "malformed message: frame 0 is not a msgpack array"},
        Rejected{"Map", "82 01 09 02 03", kBad,
                 "malformed message: frame 0 is not a msgpack array"},
        Rejected{"NoKind", "91 01", kBad,
                 "malformed message: frame 0 does not start with a version and a kind"},
        Rejected{"TextAsKind", "92 01 a1 39", kBad,
                 "malformed message: frame 0 does not start with a version and a kind"},
        Rejected{"VersionZero", "92 00 09", kBad, "malformed message: unknown protocol version 0"},
        Rejected{"VersionTwo", "92 02 09", kBad, "malformed message: unknown protocol version 2"},
        Rejected{"KindZero", "92 01 00", kBad, "malformed message: unknown kind 0"},
        Rejected{"KindUnknown", "92 01 12", kBad, "malformed message: unknown kind 18"},
        Rejected{"KindHuge", "92 01 cf ff ff ff ff ff ff ff ff", kBad,
                 "malformed message: unknown kind 18446744073709551615"},
        Rejected{"KindThatWrapsToHello", "92 09 cd 01 01", kBad,
                 "malformed message: unknown protocol version 9"},
        Rejected{"FieldTooMany", "93 01 09 00", kBad, "malformed ping: 3 fields instead of 2"},
        Rejected{"FieldMissing", "92 01 0a", kBad, "malformed recall: 2 fields instead of 3"},
        Rejected{"NegativeId", "93 01 0a ff", kBad,
                 "malformed recall: field id is not an unsigned integer"},
        Rejected{"FloatId", "93 01 0a cb 3f f0 00 00 00 00 00 00", kBad,
                 "malformed recall: field id is not an unsigned integer"},
        Rejected{"GenerationOver32Bits", "94 01 07 cf 00 00 00 01 00 00 00 00 00", kLarge,
                 "malformed ready: field generation is out of range"},
        Rejected{"IntegerAsFlag", "9a 01 03 07 08 00 01 01 00 00 a0", kBad,
                 "malformed request: field streaming is not a boolean"},
        Rejected{"UnknownMode", "9a 01 03 07 08 02 01 c2 00 00 a0", kBad,
                 "malformed request: field mode has an unknown value"},
        Rejected{"PriorityOverOneByte", "9a 01 03 07 08 00 cd 01 00 c2 00 00 a0", kBad,
                 "malformed request: field priority is out of range"},
        Rejected{"RequestZero", "9a 01 03 00 08 00 01 c2 00 00 a0", kBad,
                 "malformed request: id is 0, which stands for the connection"},
        Rejected{"BinaryAsService", "9a 01 03 07 08 00 01 c2 00 00 c4 00", kBad,
                 "malformed request: field service is not a string"},
        Rejected{"ServiceNotUtf8", "9a 01 03 07 08 00 01 c2 00 00 a2 c0 80", kBad,
                 "malformed request: field service is not UTF-8"},
        Rejected{"TextOverTheEnd", "9a 01 03 07 08 00 01 c2 00 00 db ff ff ff ff 61", kBad,
                 "malformed request: field service is not a string"},
        Rejected{"ErrorCodeZero", "9c 01 06 07 00 c2 c2 00 00 00 00 00 00", kBad,
                 "malformed error: field code has an unknown value"},
        Rejected{"ErrorCodeUnknown", "9c 01 06 07 10 c2 c2 00 00 00 00 00 00", kBad,
                 "malformed error: field code has an unknown value"},
        Rejected{"BatchesOverTheLimit", "9d 01 05 07 00 00 cd 04 01 c2 00 00 00 00 00 00", kLarge,
                 "malformed reply: field batches is out of range"},
        Rejected{"TokenTooShort", "99 01 01 01 01 01 00 a0 a0 c4 01 00", kBad,
                 "malformed hello: field token has the wrong size"},
        Rejected{"TokenAsText", "99 01 01 01 01 01 00 a0 a0 a0", kBad,
                 "malformed hello: field token is not binary"},
        Rejected{"VersionsReversed", "99 01 01 00 02 01 00 a0 a0 c4 00", kBad,
                 "malformed hello: version_min is above version_max"},
        Rejected{"ProgressOverOne", "96 01 08 00 00 ce 00 0f 42 41 00", kBad,
                 "malformed heartbeat: field progress_ppm is out of range"},
        Rejected{"ProgressBelowUnknown", "96 01 08 00 00 fe 00", kBad,
                 "malformed heartbeat: field progress_ppm is out of range"}),
    [](const auto& tested) { return tested.param.name; });

// A text one byte over its limit, each in its own field.
TEST(MessageTest, TextsOverTheirLimitsAreTooLarge) {
    const std::string agent(kAgentBytesMax + 1, 'a');
    Bytes hello = test::from_hex("99 01 01 00 01 01 00 d9 81");
    const Bytes text = test::bytes_of(agent);
    hello.insert(hello.end(), text.begin(), text.end());
    const auto decoded = decode(hello);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, ErrorCode::kTooLarge);
    EXPECT_EQ(decoded.error().message, "malformed hello: field agent is too long");
}

TEST(MessageTest, AFrameOverTheHeaderLimitIsTooLarge) {
    const auto decoded = decode(Bytes(kHeaderBytesMax + 1));
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, ErrorCode::kTooLarge);
    EXPECT_EQ(decoded.error().message, "malformed message: frame 0 is over 1024 bytes");
}

// Peers whose versions have nothing in common must still be able to say so.
TEST(MessageTest, HelloAndErrorAreReadInEveryVersion) {
    const auto hello = decode(test::from_hex("99 07 01 00 06 07 00 a0 a0 c4 00"));
    ASSERT_TRUE(hello);
    EXPECT_TRUE(*hello == Message(Hello{.version_min = 6, .version_max = 7}));
    const auto error = decode(test::from_hex("9c 07 06 00 01 c2 c2 00 00 00 00 00 00"));
    ASSERT_TRUE(error);
    EXPECT_TRUE(*error == Message(ErrorReply{.code = ErrorCode::kBadRequest}));
}

// Other libraries choose wider formats than they need; the value is what counts.
TEST(MessageTest, WideIntegersAreAccepted) {
    const auto decoded =
        decode(test::from_hex("dc 00 03 cd 00 01 d0 0a d3 00 00 00 00 00 00 00 07"));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_TRUE(*decoded == Message(Recall{.id = 7}));
}

// The views point into the frame: a message costs no copy.
TEST(MessageTest, TextsPointIntoTheFrame) {
    const Bytes bytes = encoded(Hello{.agent = "shortq-cli/0.1.0"});
    const auto decoded = decode(bytes);
    ASSERT_TRUE(decoded);
    const auto* begin = reinterpret_cast<const char*>(bytes.data());
    const std::string_view agent = std::get<Hello>(*decoded).agent;
    EXPECT_GE(agent.data(), begin);
    EXPECT_LE(agent.data() + agent.size(), begin + bytes.size());
}

}  // namespace
}  // namespace shortq::proto
