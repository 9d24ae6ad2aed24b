#include "proto/kdb/message.h"

#include <algorithm>
#include <string>
#include <utility>

#include "proto/kdb/bytes.h"
#include "proto/kdb/compress.h"

namespace shortq::kdb {
namespace {

// Memory that an idle connection may keep from its last message.
constexpr std::size_t kKeptBytes = std::size_t{64} << 10;

tl::unexpected<Error> malformed(std::string problem) {
    return fail(ErrorCode::kBadRequest, "malformed kdb+ message: " + std::move(problem));
}

void forget(std::vector<std::byte>& bytes) {
    bytes.clear();
    if (bytes.capacity() > kKeptBytes) bytes = {};
}

}  // namespace

Result<Header> read_header(std::span<const std::byte, kHeaderBytes> bytes) {
    const auto number_at = [bytes](std::size_t at) { return std::to_integer<unsigned>(bytes[at]); };
    if (number_at(0) > 1) return malformed("byte order " + std::to_string(number_at(0)));
    if (number_at(1) > 2) return malformed("kind " + std::to_string(number_at(1)));
    if (number_at(2) > 1) return malformed("compression " + std::to_string(number_at(2)));
    Header header{.order = static_cast<ByteOrder>(number_at(0)),
                  .kind = static_cast<Kind>(number_at(1)),
                  .compressed = number_at(2) == 1};
    // The spare byte continues the length at capability 6. So a negative length is a huge one.
    header.bytes = load_number<std::uint32_t>(&bytes[4], header.order) |
                   static_cast<std::uint64_t>(number_at(3)) << 32U;
    if (header.bytes <= kHeaderBytes)
        return malformed("a length of " + std::to_string(header.bytes) + " bytes");
    return header;
}

void append_header(Kind kind, std::uint64_t bytes, std::vector<std::byte>& out) {
    append_number(static_cast<std::uint8_t>(ByteOrder::kLittle), ByteOrder::kLittle, out);
    append_number(static_cast<std::uint8_t>(kind), ByteOrder::kLittle, out);
    append_number(std::uint16_t{0}, ByteOrder::kLittle, out);
    append_number(static_cast<std::uint32_t>(bytes), ByteOrder::kLittle, out);
}

Result<std::optional<Message>> MessageReader::read(std::span<const std::byte>& input) {
    if (delivered_) begin_next();
    if (!header_) {
        const auto whole = take_header(input);
        if (!whole) return tl::unexpected(whole.error());
        if (!*whole) return std::nullopt;
    }
    const auto bytes = static_cast<std::size_t>(header_->bytes);
    if (bytes_.empty() && input.size() >= bytes) {  // All of it in one piece.
        const auto message = input.first(bytes);
        input = input.subspan(bytes);
        return finished(message);
    }
    append(input, bytes - bytes_.size());
    if (bytes_.size() < bytes) return std::nullopt;
    return finished(bytes_);
}

void MessageReader::begin_next() {
    delivered_ = false;
    header_.reset();
    forget(bytes_);
    forget(inflated_);
}

// Looks at the header where it is, so that a message in one piece need not be copied.
Result<bool> MessageReader::take_header(std::span<const std::byte>& input) {
    std::span<const std::byte> head = input;
    if (!bytes_.empty() || input.size() < kHeaderBytes) {
        append(input, kHeaderBytes - bytes_.size());
        if (bytes_.size() < kHeaderBytes) return false;
        head = bytes_;
    }
    auto header = read_header(head.first<kHeaderBytes>());
    if (!header) return tl::unexpected(std::move(header.error()));
    header_ = *header;
    if (header_->bytes <= bytes_max_) return true;
    return fail(ErrorCode::kTooLarge, "a message of " + std::to_string(header_->bytes) +
                                          " bytes; at most " + std::to_string(bytes_max_) +
                                          " are accepted");
}

void MessageReader::append(std::span<const std::byte>& input, std::size_t bytes) {
    const auto taken = input.first(std::min(bytes, input.size()));
    append_bytes(taken, bytes_);
    input = input.subspan(taken.size());
}

Result<std::optional<Message>> MessageReader::finished(std::span<const std::byte> message) {
    delivered_ = true;
    if (header_->compressed) {
        if (auto ok = decompress(message, header_->order, bytes_max_, inflated_); !ok)
            return tl::unexpected(std::move(ok.error()));
        message = inflated_;
    }
    return Message{header_->kind, header_->order, message.subspan(kHeaderBytes)};
}

}  // namespace shortq::kdb
