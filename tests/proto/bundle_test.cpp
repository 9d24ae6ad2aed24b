// Goal: what goes into a bundle comes out of it, and garbage is told from it. Method: bundles of
// every size, then each way to be malformed.
#include "proto/bundle.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace shortq::proto {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

using Texts = std::vector<std::string>;

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

std::size_t size_of(const Texts& message) {
    std::size_t size = 0;
    for (const auto& frame : message) size += frame.size();
    return size;
}

void add(BundleWriter& writer, const Texts& message) {
    writer.begin(message.size());
    for (const auto& frame : message) writer.frame(bytes_of(frame));
}

Texts read(BundleReader& reader) {
    std::vector<std::span<const std::byte>> frames;
    Texts texts;
    if (const auto read = reader.next(frames); !read) return {read.error().message};
    for (const auto frame : frames)
        texts.emplace_back(reinterpret_cast<const char*>(frame.data()), frame.size());
    return texts;
}

TEST(BundleTest, MessagesComeOutAsTheyWentIn) {
    const std::vector<Texts> messages{
        {"a"},
        {"", "", ""},
        {std::string(255, 'b'), std::string(256, 'c')},
        {std::string(kBundledBytesMax, 'd')},
        Texts(kBundledFramesMax, "e"),
    };
    BundleWriter writer;
    for (int round = 0; round < 2; ++round) {  // The second one uses the memory of the first.
        EXPECT_TRUE(writer.empty());
        for (const auto& message : messages) {
            ASSERT_TRUE(BundleWriter::is_small(size_of(message), message.size()));
            ASSERT_TRUE(writer.has_room(size_of(message), message.size()));
            add(writer, message);
        }
        EXPECT_EQ(writer.messages(), messages.size());
        BundleReader reader(writer.body());
        for (const auto& message : messages) {
            ASSERT_FALSE(reader.done());
            EXPECT_THAT(read(reader), ElementsAreArray(message));
        }
        EXPECT_TRUE(reader.done());
        writer.clear();
    }
}

// Goal: a message that is the only one goes as it is. Method: one, then a second.
TEST(BundleTest, OnlyMessageGoesAsItIs) {
    BundleWriter writer;
    std::vector<std::span<const std::byte>> frames;
    add(writer, {"head", "", "body"});
    writer.frames_to_send(frames);
    ASSERT_EQ(frames.size(), 3U);
    EXPECT_TRUE(std::ranges::equal(frames[2], bytes_of("body")));
    add(writer, {"head"});
    writer.frames_to_send(frames);
    ASSERT_EQ(frames.size(), 2U);
    EXPECT_TRUE(is_bundle(frames[0]));
    EXPECT_EQ(frames[1].data(), writer.body().data());
}

// Goal: a bundle never gets over its limit, and it can be filled. Method: as much as has room.
TEST(BundleTest, RoomIsLimited) {
    BundleWriter writer;
    const Texts message(1, std::string(kBundledBytesMax, 'x'));
    std::size_t count = 0;
    for (; writer.has_room(size_of(message), message.size()); ++count) add(writer, message);
    EXPECT_LE(writer.body().size(), kBundleBytesMax);
    EXPECT_GT(count * size_of(message), kBundleBytesMax * 9 / 10);
    writer.clear();
    for (count = 0; writer.has_room(1, 1); ++count) add(writer, {"x"});
    EXPECT_EQ(count, kBundleMessagesUsual);
    EXPECT_FALSE(BundleWriter::is_small(kBundledBytesMax + 1, 1));
    EXPECT_FALSE(BundleWriter::is_small(0, kBundledFramesMax + 1));
}

// The bytes that PROTOCOL.md#bundles names.
TEST(BundleTest, FormIsTheProtocols) {
    EXPECT_TRUE(is_bundle(bytes_of("\x92\x02\x12")));
    EXPECT_FALSE(is_bundle(bytes_of("\x92\x02\x11")));
    EXPECT_FALSE(is_bundle(bytes_of("\x92\x02")));
    BundleWriter writer;
    add(writer, {"ab", ""});
    EXPECT_THAT(writer.body(),
                ElementsAre(std::byte{0x92}, std::byte{0xc4}, std::byte{2}, std::byte{'a'},
                            std::byte{'b'}, std::byte{0xc4}, std::byte{0}));
}

// Goal: what is malformed is named and ends the bundle; what came before counts. Method: each way
// to be malformed, behind a good message.
TEST(BundleTest, WhatIsMalformedEndsIt) {
    using namespace std::string_view_literals;
    constexpr std::pair<std::string_view, const char*> kCases[] = {
        {"\x01"sv, "not an array"},
        {"\x90"sv, "no frame"},
        {"\x91\xa1z"sv, "not binary"},
        {"\x91"sv, "cut short"},
        {"\x92\xc4\x01z"sv, "cut short"},
        {"\x91\xc4\x02z"sv, "cut short"},
        {"\xdd\xff\xff\xff\xff\xc4\x01z"sv, "cut short"},
    };
    for (const auto& [bytes, problem] : kCases) {
        const auto body = std::string("\x91\xc4\x01g"sv).append(bytes);
        BundleReader reader(bytes_of(body));
        EXPECT_THAT(read(reader), ElementsAre("g"));
        ASSERT_FALSE(reader.done());
        EXPECT_THAT(read(reader), ElementsAre(HasSubstr(problem)));
        EXPECT_TRUE(reader.done());
    }
}

}  // namespace
}  // namespace shortq::proto
