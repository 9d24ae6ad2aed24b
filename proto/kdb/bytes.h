// proto/kdb/bytes.h: numbers in either byte order, out of untrusted bytes and onto the end of a
// vector. Private to proto/kdb.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "proto/kdb/types.h"

namespace shortq::kdb {

static_assert(std::endian::native == std::endian::little, "results are copied as they are");

template <class T>
[[nodiscard]] T swapped(T value) {
    auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
    std::ranges::reverse(bytes);
    return std::bit_cast<T>(bytes);
}

// The number at `from`, which may be misaligned.
template <class T>
[[nodiscard]] T load_number(const std::byte* from, ByteOrder order) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return order == ByteOrder::kLittle ? value : swapped(value);
}

inline void append_bytes(std::span<const std::byte> bytes, std::vector<std::byte>& out) {
    out.insert(out.end(), bytes.begin(), bytes.end());
}

template <class T>
void append_number(T value, ByteOrder order, std::vector<std::byte>& out) {
    if (order == ByteOrder::kBig) value = swapped(value);
    append_bytes(std::as_bytes(std::span(&value, 1)), out);
}

inline void append_text(std::string_view text, std::vector<std::byte>& out) {
    append_bytes(std::as_bytes(std::span(text)), out);
}

// Makes room for `bytes` more and returns where they go.
[[nodiscard]] inline std::byte* grow(std::vector<std::byte>& out, std::size_t bytes) {
    out.resize(out.size() + bytes);
    return out.data() + out.size() - bytes;
}

// Takes items from the front of untrusted bytes. False: they do not hold one; nothing is taken.
class ByteReader {
public:
    ByteReader(std::span<const std::byte> bytes, ByteOrder order) : rest_(bytes), order_(order) {}

    [[nodiscard]] std::size_t left() const { return rest_.size(); }
    [[nodiscard]] ByteOrder order() const { return order_; }

    template <class T>
    [[nodiscard]] bool number(T& value) {
        if (rest_.size() < sizeof(T)) return false;
        value = load_number<T>(rest_.data(), order_);
        rest_ = rest_.subspan(sizeof(T));
        return true;
    }

    // So many items of a width.
    [[nodiscard]] bool items(std::size_t count, std::size_t width,
                             std::span<const std::byte>& bytes) {
        if (rest_.size() / width < count) return false;
        bytes = rest_.first(count * width);
        rest_ = rest_.subspan(count * width);
        return true;
    }

    // Up to a NUL, which is taken too.
    [[nodiscard]] bool symbol(std::string_view& text) {
        const auto* end = rest_.empty() ? nullptr : std::memchr(rest_.data(), 0, rest_.size());
        if (end == nullptr) return false;
        const auto size =
            static_cast<std::size_t>(static_cast<const std::byte*>(end) - rest_.data());
        text = {reinterpret_cast<const char*>(rest_.data()), size};
        rest_ = rest_.subspan(size + 1);
        return true;
    }

    // The attribute and the count in front of a vector.
    [[nodiscard]] bool vector_head(std::uint8_t& attribute, std::size_t& count) {
        std::int32_t raw = 0;
        ByteReader ahead = *this;
        if (!ahead.number(attribute) || !ahead.number(raw) || raw < 0) return false;
        count = static_cast<std::size_t>(raw);
        *this = ahead;
        return true;
    }

private:
    std::span<const std::byte> rest_;
    ByteOrder order_;
};

}  // namespace shortq::kdb
