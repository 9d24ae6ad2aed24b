// proto/kdb/compress.h: kdb+'s compression of whole messages.
// Source: code.kx.com/q/basics/ipc, "Compression", which says what a compressed message looks like
// and points at KX's Java client for how it is made.
//
// A compressed message is a header with the compressed flag, the length of the plain message (4
// bytes), then groups: a byte of 8 flags, lowest first, and 8 items. An item is a byte of the plain
// message (flag 0), or (flag 1) two bytes: a slot of a table of 256 places, and how many bytes more
// than two to repeat from there. Both sides keep the table alike: the slot of a place is the
// exclusive or of the two bytes at it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proto/error.h"
#include "proto/kdb/types.h"

namespace shortq::kdb {

// A plain message of ours (little-endian, header included) in compressed form, complete with its
// own header. Nothing if it would not have less than half the bytes: then send the plain one.
// Whether to try at all is for the caller to say: see kCompressOverBytes.
[[nodiscard]] std::optional<std::vector<std::byte>> compress(std::span<const std::byte> message);

// Makes `out` the plain message of a compressed one: of its 8 bytes of header only the room is
// there, the body follows. Reuses out's memory.
// Pre:    `message` has its header of 8 bytes; `order` is what it says. The rest is untrusted.
// Errors: kTooLarge: the plain message has over `bytes_max` bytes. kBadRequest: bad data. Memory is
//         taken only if so few bytes can stand for so many, at most 129 for each of `message`.
[[nodiscard]] Result<void> decompress(std::span<const std::byte> message, ByteOrder order,
                                      std::uint64_t bytes_max, std::vector<std::byte>& out);

}  // namespace shortq::kdb
