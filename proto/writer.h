// proto/writer.h: a msgpack packer that writes into a vector of bytes. Private to proto/.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <msgpack.hpp>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace shortq::proto {

// The stream behind the packer.
class ByteStream {
public:
    void write(const char* data, std::size_t size) {
        const auto added = std::as_bytes(std::span(data, size));
        bytes_.insert(bytes_.end(), added.begin(), added.end());
    }
    [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

private:
    std::vector<std::byte> bytes_;
};

using Packer = msgpack::packer<ByteStream>;

inline std::uint32_t packed_size(std::size_t size) {
    assert(size <= std::numeric_limits<std::uint32_t>::max());
    return static_cast<std::uint32_t>(size);
}

inline void pack_text(Packer& packer, std::string_view text) {
    packer.pack_str(packed_size(text.size()));
    packer.pack_str_body(text.data(), packed_size(text.size()));
}

inline void pack_bytes(Packer& packer, std::string_view bytes) {
    packer.pack_bin(packed_size(bytes.size()));
    packer.pack_bin_body(bytes.data(), packed_size(bytes.size()));
}

// msgpack-c packs whole doubles as integers, and so loses -0.0.
inline void pack_float64(ByteStream& stream, double value) {
    std::array<char, 9> bytes{static_cast<char>(0xcb)};
    auto bits = std::bit_cast<std::uint64_t>(value);
    for (std::size_t i = bytes.size() - 1; i > 0; --i) {
        bytes.at(i) = static_cast<char>(bits & 0xffU);
        bits >>= 8U;
    }
    stream.write(bytes.data(), bytes.size());
}

}  // namespace shortq::proto
