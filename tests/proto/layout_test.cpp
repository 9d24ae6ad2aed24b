// Goal: layout frames survive the wire; bytes that are none are refused within bounded memory.
// Method: round trips, every small damage, each rule broken once.
#include "proto/layout.h"

#include <gmock/gmock.h>

#include <limits>

#include "proto/limits.h"
#include "tests/proto/arrays.h"
#include "tests/proto/bytes.h"
#include "tests/proto/rejected.h"

namespace shortq::proto {
namespace {

test::Bytes typical() { return split(test::batch_of(test::every_layout())).layout; }

TEST(LayoutTest, RoundTrips) {
    Layout layout{
        .rows = 70'000,
        .nodes = {{70'000, 5, 2}, {70'000, 0, 4}},
        .bytes = {8750, 560'000, 0, 1'120'000, 0, std::numeric_limits<std::uint64_t>::max()}};
    const auto decoded = decode_layout(encode_layout(layout));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, layout);
    EXPECT_EQ(decode_layout(encode_layout({})), Layout{});
}

TEST(LayoutTest, EmptyBuffersHaveNoFrame) {
    const Layout layout{.rows = 1, .nodes = {{1, 0, 3}}, .bytes = {0, 8, 0}};
    EXPECT_EQ(buffer_frames_of(encode_layout(layout)), std::size_t{1});
}

TEST(LayoutTest, DamageGivesAnErrorOrAnotherLayout) {
    std::size_t errors = 0;
    test::for_each_damage(typical(), [&](const test::Bytes& damaged) {
        const auto decoded = decode_layout(damaged);
        const auto frames = buffer_frames_of(damaged);
        EXPECT_EQ(frames.has_value(), decoded.has_value());
        if (!decoded) {
            ++errors;
            EXPECT_FALSE(decoded.error().message.empty());
            return;
        }
        EXPECT_LE(*frames, decoded->bytes.size());
        EXPECT_EQ(decode_layout(encode_layout(*decoded)), *decoded);
    });
    EXPECT_GT(errors, 1000U);
}

using test::kBad;
using test::kLarge;
using test::Rejected;

class LayoutRejectedTest : public testing::TestWithParam<Rejected> {};

TEST_P(LayoutRejectedTest, WithCodeAndMessage) {
    test::expect_rejected(GetParam(),
                          [](const test::Bytes& bytes) { return decode_layout(bytes); });
}

INSTANTIATE_TEST_SUITE_P(
    Rules, LayoutRejectedTest,
    testing::Values(
        Rejected{"Empty", "", kBad,
                 "malformed batch: its layout is not an array of rows, nodes and buffer sizes"},
        Rejected{"TwoItems", "92 00 90", kBad,
                 "malformed batch: its layout is not an array of rows, nodes and buffer sizes"},
        Rejected{"NegativeRows", "93 ff 90 90", kBad, "malformed batch: rows is not a count"},
        Rejected{"RowsOverTheLimit", "93 ce 01 00 00 01 90 90", kLarge,
                 "the batch has more than 16777216 rows"},
        Rejected{"HugeRows", "93 cf 7f ff ff ff ff ff ff ff 90 90", kBad,
                 "malformed batch: rows is not a count"},
        Rejected{"NodesNotInThrees", "93 00 92 00 00 90", kBad,
                 "malformed batch: the nodes are not an array of length, null count and buffers"},
        Rejected{"TooManyNodes", "93 00 dd 00 03 00 03", kLarge,
                 "the batch has more than 65536 columns"},
        Rejected{"NegativeLength", "93 00 93 ff 00 00 90", kBad,
                 "malformed batch: a node is not a length, a null count and a number of buffers"},
        Rejected{"LengthOverTheLimit", "93 00 93 cf 00 00 01 00 00 00 00 01 00 00 90", kBad,
                 "malformed batch: a node is not a length, a null count and a number of buffers"},
        Rejected{"MoreNullsThanValues", "93 01 93 01 02 00 90", kBad,
                 "malformed batch: a node has more nulls than values"},
        Rejected{"TooManyBuffers", "93 00 93 00 00 ce 00 10 00 01 90", kLarge,
                 "the batch has more than 1048576 buffers"},
        Rejected{"TooManyBuffersInAll", "93 00 96 00 00 ce 00 0f ff ff 00 00 02 90", kLarge,
                 "the batch has more than 1048576 buffers"},
        Rejected{"BuffersThatWouldOverflow",
                 "93 00 96 00 00 01 00 00 cf ff ff ff ff ff ff ff ff 90", kLarge,
                 "the batch has more than 1048576 buffers"},
        Rejected{"SizeMissing", "93 01 93 01 00 02 91 00", kBad,
                 "malformed batch: the number of buffer sizes is not the nodes' number of buffers"},
        Rejected{"SizeTooMany", "93 01 93 01 00 00 91 00", kBad,
                 "malformed batch: the number of buffer sizes is not the nodes' number of buffers"},
        Rejected{"NegativeSize", "93 01 93 01 00 01 91 ff", kBad,
                 "malformed batch: a buffer's size is not a count"},
        Rejected{"SpareBytes", "93 00 90 90 00", kBad,
                 "malformed batch: spare bytes after the layout"}),
    [](const auto& tested) { return tested.param.name; });

TEST(LayoutTest, AFrameOverTheLimitIsTooLarge) {
    const auto decoded = decode_layout(test::Bytes(kLayoutBytesMax + 1));
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, ErrorCode::kTooLarge);
    EXPECT_EQ(decoded.error().message, "the batch's layout is over 16777216 bytes");
}

}  // namespace
}  // namespace shortq::proto
