// proto/bundle.cpp: a msgpack array of `bin` items for each message, one after the other.
#include "proto/bundle.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "proto/reader.h"

namespace shortq::proto {
namespace {

constexpr std::size_t kItemBytesMax = 3;  // Before a frame, or before a message's first.

}  // namespace

bool is_bundle(std::span<const std::byte> frame) {
    return std::ranges::equal(frame, kBundleHeader);
}

bool BundleWriter::is_small(std::size_t bytes, std::size_t frames) noexcept {
    return frames <= kBundledFramesMax && bytes <= kBundledBytesMax;
}

bool BundleWriter::has_room(std::size_t bytes, std::size_t frames) const noexcept {
    return messages_ < kBundleMessagesUsual &&
           body_.size() + bytes + (frames + 1) * kItemBytesMax <= kBundleBytesMax;
}

void BundleWriter::begin(std::size_t frames) {
    put(static_cast<std::uint8_t>(0x90U | frames));  // fixarray
    ++messages_;
}

void BundleWriter::frame(std::span<const std::byte> bytes) {
    const auto size = bytes.size();
    if (size <= 0xff) {
        put(0xc4);  // bin 8
    } else {
        put(0xc5);  // bin 16
        put(static_cast<std::uint8_t>(size >> 8U));
    }
    put(static_cast<std::uint8_t>(size & 0xffU));
    body_.insert(body_.end(), bytes.begin(), bytes.end());
}

void BundleWriter::frames_to_send(std::vector<std::span<const std::byte>>& frames) const {
    if (messages_ > 1) {
        frames.assign({kBundleHeader, body_});
        return;
    }
    BundleReader reader(body_);
    static_cast<void>(reader.next(frames));  // It is our own.
}

void BundleWriter::clear() noexcept {
    body_.clear();
    messages_ = 0;
}

Result<void> BundleReader::next(std::vector<std::span<const std::byte>>& frames) {
    frames.clear();
    Reader reader(rest_);
    std::uint64_t count = 0;
    if (!reader.array(count)) return give_up("a message is not an array");
    if (count == 0) return give_up("a message has no frame");
    for (; count > 0; --count) {
        std::string_view frame;
        if (!reader.bin(frame)) return give_up("a frame is not binary, or cut short");
        frames.push_back(std::as_bytes(std::span(frame)));
    }
    rest_ = rest_.last(reader.left());
    return {};
}

tl::unexpected<Error> BundleReader::give_up(const char* problem) {
    rest_ = {};
    return fail(ErrorCode::kBadRequest, std::string("malformed bundle: ") + problem);
}

}  // namespace shortq::proto
