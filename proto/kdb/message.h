// proto/kdb/message.h: cuts the bytes of a connection into messages.
// Source: code.kx.com/q/kb/serialization and code.kx.com/q/basics/ipc, "Compression".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proto/error.h"
#include "proto/kdb/types.h"

namespace shortq::kdb {

// The 8 bytes in front: byte order, kind, compressed, a spare one, and the length.
struct Header {
    ByteOrder order = ByteOrder::kLittle;
    Kind kind = Kind::kAsync;
    bool compressed = false;
    std::uint64_t bytes = 0;  // Of the whole message, these 8 included.
    bool operator==(const Header&) const = default;
};

// Errors: kBadRequest for a byte order, kind or compression that does not exist, and for a length
// that leaves no room for a value.
[[nodiscard]] Result<Header> read_header(std::span<const std::byte, kHeaderBytes> bytes);

// Appends a header of ours: little-endian, not compressed. Pre: bytes <= kMessageBytesMax.
void append_header(Kind kind, std::uint64_t bytes, std::vector<std::byte>& out);

struct Message {
    Kind kind = Kind::kAsync;
    ByteOrder order = ByteOrder::kLittle;
    std::span<const std::byte> body{};  // One serialized object, inflated if it was compressed.
};

// Reads messages that arrive in pieces of any size, in linear time. Memory follows what has
// arrived, never what a header promises. Threads: one.
class MessageReader {
public:
    // No message may have more bytes than this, header included, before or after inflating.
    explicit MessageReader(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

    // Takes what it uses from the front of `input`. Returns nothing while more bytes are needed;
    // `input` is empty then. A message's body lives until the next call, and as long as the bytes
    // that `input` pointed at: one that arrives whole is not copied.
    // Errors: as read_header(); kTooLarge over the limit, told as soon as the header is there;
    //         kBadRequest for bad compressed data. The connection is of no use after one: what
    //         follows cannot be found.
    [[nodiscard]] Result<std::optional<Message>> read(std::span<const std::byte>& input);

    // The header of the message under way, or of the one that an error was about; nothing before
    // its 8 bytes are there. Says in which kind an error has to be answered.
    [[nodiscard]] const std::optional<Header>& header() const { return header_; }
    // Bytes held for the message under way.
    [[nodiscard]] std::size_t buffered() const { return bytes_.size(); }

private:
    void begin_next();
    [[nodiscard]] Result<bool> take_header(std::span<const std::byte>& input);
    void append(std::span<const std::byte>& input, std::size_t bytes);
    [[nodiscard]] Result<std::optional<Message>> finished(std::span<const std::byte> message);

    std::uint64_t bytes_max_;
    std::optional<Header> header_;
    bool delivered_ = false;           // header_ and the buffers are of a message handed out.
    std::vector<std::byte> bytes_;     // What has arrived of a message cut in pieces.
    std::vector<std::byte> inflated_;  // The whole message, decompressed.
};

}  // namespace shortq::kdb
