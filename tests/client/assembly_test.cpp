// Goal: replies come together from pieces, and only well-formed ones do. Method: pieces made by
// hand, in and out of order, damaged at every byte.
#include "client/assembly.h"

#include <gmock/gmock.h>

#include "tests/client/arrays.h"
#include "tests/client/frames.h"

namespace shortq::detail {
namespace {

using test::number_reply;
using test::numbers_in;
using test::ReplyPiece;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<std::optional<Table>> feed(ReplyAssembly& assembly, const std::vector<Buffer>& frames) {
    const auto message = proto::decode(frames.front().bytes).value();
    return assembly.add(std::get<proto::Reply>(message), std::span(frames).subspan(1));
}

TEST(ReplyAssemblyTest, PiecesBecomeOneTable) {
    ReplyAssembly assembly;
    EXPECT_FALSE(feed(assembly, number_reply({7, 0, 0, false}, {1, 2})).value());
    EXPECT_FALSE(feed(assembly, number_reply({7, 0, 1, false}, {})).value());
    const auto table = feed(assembly, number_reply({7, 0, 2, true}, {3})).value();
    ASSERT_TRUE(table);
    EXPECT_THAT(numbers_in(*table), ElementsAre(1, 2, 3));
    EXPECT_EQ(table->batches().size(), 3U);
    EXPECT_EQ(table->facts().worker, 2U);
    EXPECT_EQ(table->facts().generation, 3U);
    EXPECT_DOUBLE_EQ(table->facts().queued_ms, 1.5);
    EXPECT_DOUBLE_EQ(table->facts().run_ms, 0.25);
    EXPECT_EQ(table->facts().bytes, 99U);
}

TEST(ReplyAssemblyTest, LaterAttemptDropsThePiecesBeforeIt) {
    ReplyAssembly assembly;
    EXPECT_FALSE(feed(assembly, number_reply({7, 0, 0, false}, {1, 2})).value());
    EXPECT_FALSE(feed(assembly, number_reply({7, 1, 0, false}, {5})).value());
    EXPECT_FALSE(feed(assembly, number_reply({7, 0, 1, true}, {3})).value()) << "a dead attempt";
    const auto table = feed(assembly, number_reply({7, 1, 1, true}, {6})).value();
    ASSERT_TRUE(table);
    EXPECT_THAT(numbers_in(*table), ElementsAre(5, 6));
}

TEST(ReplyAssemblyTest, MissingPieceIsAnError) {
    ReplyAssembly assembly;
    EXPECT_FALSE(feed(assembly, number_reply({7, 0, 0, false}, {1})).value());
    const auto result = feed(assembly, number_reply({7, 0, 2, true}, {3}));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kInternal);
    EXPECT_THAT(result.error().message, HasSubstr("piece 2 came where piece 1 was due"));
}

TEST(ReplyAssemblyTest, ResultWithoutColumnsIsATable) {
    ReplyAssembly assembly;
    proto::Reply reply;
    reply.last = true;
    const auto frames = test::frames_of(reply, {test::own_bytes(proto::encode_schema({}))});
    const auto table = feed(assembly, frames).value();
    ASSERT_TRUE(table);
    EXPECT_EQ(table->columns(), 0U);
    EXPECT_EQ(table->rows(), 0U);
}

TEST(ReplyAssemblyTest, MissingAndSpareFramesAreErrors) {
    const auto whole = number_reply({7, 0, 0, true}, {1, 2});
    for (std::size_t kept = 1; kept < whole.size(); ++kept) {
        ReplyAssembly assembly;
        const auto result =
            feed(assembly, {whole.begin(), whole.begin() + static_cast<long>(kept)});
        ASSERT_FALSE(result) << kept << " frames";
        EXPECT_EQ(result.error().code, ErrorCode::kInternal);
    }
    auto spare = whole;
    spare.push_back(test::own_text("more"));
    ReplyAssembly assembly;
    EXPECT_FALSE(feed(assembly, spare));
}

// Every single-bit damage of every frame either still decodes or is an error; reading what decoded
// stays inside its buffers (the sanitizer builds watch).
TEST(ReplyAssemblyTest, DamagedBytesNeverCrash) {
    const auto whole = number_reply({7, 0, 0, true}, {1, 2});
    std::size_t refused = 0;
    for (std::size_t frame = 1; frame < whole.size(); ++frame) {
        for (std::size_t bit = 0; bit < whole[frame].bytes.size() * 8; ++bit) {
            std::vector<std::byte> bytes(whole[frame].bytes.begin(), whole[frame].bytes.end());
            bytes[bit / 8] ^= std::byte{1} << (bit % 8);
            auto damaged = whole;
            damaged[frame] = test::own_bytes(std::move(bytes));
            ReplyAssembly assembly;
            const auto result = feed(assembly, damaged);
            if (!result) {
                ++refused;
                continue;
            }
            for (std::uint64_t row = 0; *result && row < (*result)->rows(); ++row) {
                for (std::size_t column = 0; column < (*result)->columns(); ++column) {
                    EXPECT_FALSE((*result)->text(row, column).empty());
                }
            }
        }
    }
    EXPECT_GT(refused, 0U);
}

}  // namespace
}  // namespace shortq::detail
