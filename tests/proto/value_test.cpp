// Goal: parameters arrive exactly as they were given, or not at all.
// Method: round trips at the edges of every type, every small damage, each rule broken once.
#include "proto/value.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "proto/limits.h"
#include "tests/proto/bytes.h"
#include "tests/proto/rejected.h"

namespace shortq::proto {
namespace {

using Int = std::numeric_limits<std::int64_t>;
using Real = std::numeric_limits<double>;

Parameters one_of_each() {
    return {{"", Null{}},
            {"", false},
            {"", true},
            {"", Int::min()},
            {"", Int::max()},
            {"zero", std::int64_t{0}},
            {"", 0.1},
            {"", 3.0},
            {"", -0.0},
            {"", Real::infinity()},
            {"", -Real::infinity()},
            {"", Real::denorm_min()},
            {"", 1e300},
            {"text", std::string("gr\xc3\xbc\xc3\x9f"
                                 "e\0!",
                                 9)},
            {"", std::string()},
            {"", std::string(70'000, 'x')},
            {"", Blob{std::string("\x00\x80\xff", 3)}},
            {"", Blob{}},
            {"", Date{std::numeric_limits<std::int32_t>::min()}},
            {"", Date{std::numeric_limits<std::int32_t>::max()}},
            {"", Timestamp{Int::min()}},
            {std::string(kParameterNameBytesMax, 'n'), Timestamp{Int::max()}}};
}

TEST(ParametersTest, EveryTypeRoundTrips) {
    const auto decoded = decode_parameters(encode_parameters(one_of_each()));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, one_of_each());
    EXPECT_EQ(decode_parameters(encode_parameters({})), Parameters{});
}

// == takes 0.0 and -0.0 for equal, and no NaN for itself.
TEST(ParametersTest, SignOfZeroAndNanSurvive) {
    const Parameters parameters = {{"", -0.0}, {"", Real::quiet_NaN()}};
    const auto decoded = decode_parameters(encode_parameters(parameters));
    ASSERT_TRUE(decoded);
    EXPECT_TRUE(std::signbit(std::get<double>((*decoded)[0].value)));
    EXPECT_TRUE(std::isnan(std::get<double>((*decoded)[1].value)));
}

// Clients in languages with one number type write 2.0 as 2.
TEST(ParametersTest, ADoubleMayBeWrittenAsAnInteger) {
    const auto decoded =
        decode_parameters(test::from_hex("92 93 a0 03 02 93 a0 03 ca 3f c0 00 00"));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, (Parameters{{"", 2.0}, {"", 1.5}}));
}

TEST(ParametersTest, DamageGivesAnErrorOrOtherParameters) {
    Parameters parameters = one_of_each();
    std::erase_if(parameters, [](const Parameter& p) {
        const auto* text = std::get_if<std::string>(&p.value);
        return text != nullptr && text->size() > 100;  // Long runs of x teach nothing.
    });
    std::size_t errors = 0;
    test::for_each_damage(encode_parameters(parameters), [&](const test::Bytes& damaged) {
        const auto decoded = decode_parameters(damaged);
        if (!decoded) {
            ++errors;
            EXPECT_FALSE(decoded.error().message.empty());
            return;
        }
        const auto bytes = encode_parameters(*decoded);
        const auto again = decode_parameters(bytes);
        ASSERT_TRUE(again);
        EXPECT_EQ(test::to_hex(encode_parameters(*again)), test::to_hex(bytes));
    });
    EXPECT_GT(errors, 500U);
}

using test::kBad;
using test::Rejected;

class ParametersRejectedTest : public testing::TestWithParam<Rejected> {};

TEST_P(ParametersRejectedTest, WithCodeAndMessage) {
    test::expect_rejected(GetParam(),
                          [](const test::Bytes& bytes) { return decode_parameters(bytes); });
}

constexpr const char* kNotOfItsType =
    "malformed parameters: parameter 1 has a value that is not of its type";
INSTANTIATE_TEST_SUITE_P(
    Rules, ParametersRejectedTest,
    testing::Values(
        Rejected{"Empty", "", kBad, "malformed parameters: not a msgpack array"},
        Rejected{"TooMany", "dc 10 01", ErrorCode::kTooLarge,
                 "4097 parameters; at most 4096 are accepted"},
        Rejected{"FourBillionParameters", "dd ff ff ff ff", ErrorCode::kTooLarge,
                 "4294967295 parameters; at most 4096 are accepted"},
        Rejected{"OneMissing", "92 93 a0 00 c0", kBad,
                 "malformed parameters: parameter 2 is not an array of name, type and value"},
        Rejected{"SpareBytes", "91 93 a0 00 c0 c0", kBad,
                 "malformed parameters: spare bytes after the last parameter"},
        Rejected{"NameNotUtf8", "91 93 a1 ff 00 c0", kBad,
                 "malformed parameters: parameter 1 has a name that is not UTF-8 text"},
        Rejected{"UnknownType", "91 93 a0 08 c0", kBad,
                 "malformed parameters: parameter 1 has an unknown type"},
        Rejected{"NullWithAValue", "91 93 a0 00 01", kBad, kNotOfItsType},
        Rejected{"BoolFromInteger", "91 93 a0 01 01", kBad, kNotOfItsType},
        Rejected{"IntegerOver63Bits", "91 93 a0 02 cf 80 00 00 00 00 00 00 00", kBad,
                 kNotOfItsType},
        Rejected{"DoubleFromText", "91 93 a0 03 a1 31", kBad, kNotOfItsType},
        Rejected{"TextNotUtf8", "91 93 a0 04 a1 80", kBad, kNotOfItsType},
        Rejected{"TextFromBytes", "91 93 a0 04 c4 01 61", kBad, kNotOfItsType},
        Rejected{"BlobFromText", "91 93 a0 05 a1 61", kBad, kNotOfItsType},
        Rejected{"DateOver32Bits", "91 93 a0 06 ce 80 00 00 00", kBad, kNotOfItsType},
        Rejected{"TimestampFromFloat", "91 93 a0 07 ca 00 00 00 00", kBad, kNotOfItsType}),
    [](const auto& tested) { return tested.param.name; });

TEST(ParametersTest, ALongNameIsTooLarge) {
    const auto decoded = decode_parameters(
        encode_parameters(Parameters{{std::string(kParameterNameBytesMax + 1, 'n'), true}}));
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, ErrorCode::kTooLarge);
    EXPECT_EQ(decoded.error().message, "the name of parameter 1 is over 255 bytes");
}

TEST(ParametersTest, TheLargestNumberOfParametersIsAccepted) {
    const Parameters parameters(kParametersMax, Parameter{"", std::int64_t{1}});
    const auto decoded = decode_parameters(encode_parameters(parameters));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->size(), kParametersMax);
}

}  // namespace
}  // namespace shortq::proto
