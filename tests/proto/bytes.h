// tests/proto/bytes.h: byte strings for tests: written as hex, and damaged in every small way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace shortq::test {

using Bytes = std::vector<std::byte>;

inline Bytes copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

inline Bytes bytes_of(std::string_view text) { return copy_of(std::as_bytes(std::span(text))); }

// "93 01 a2" with any spacing, or throws.
inline Bytes from_hex(std::string_view text) {
    Bytes bytes;
    std::string digits;
    for (const char c : text) {
        if (c == ' ') {
            continue;
        }
        digits += c;
        if (digits.size() == 2) {
            bytes.push_back(static_cast<std::byte>(std::stoi(digits, nullptr, 16)));
            digits.clear();
        }
    }
    if (!digits.empty()) {
        throw std::invalid_argument("odd number of hex digits");
    }
    return bytes;
}

inline std::string to_hex(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte byte : bytes) {
        std::array<char, 4> digits{};
        std::snprintf(digits.data(), digits.size(), "%02x ", std::to_integer<unsigned>(byte));
        text += digits.data();
    }
    if (!text.empty()) {
        text.pop_back();
    }
    return text;
}

// Calls visit(damaged) for every truncation, every flipped bit, every byte replaced by the tags
// that start long or unusual msgpack items, and some spare bytes at the end.
template <class Visit>
void for_each_damage(std::span<const std::byte> good, Visit visit) {
    static constexpr std::array<std::uint8_t, 16> kTags = {0x00, 0x7f, 0x80, 0x90, 0xa0, 0xc0,
                                                           0xc1, 0xc6, 0xcb, 0xcf, 0xd3, 0xdb,
                                                           0xdc, 0xdd, 0xdf, 0xff};
    for (std::size_t length = 0; length < good.size(); ++length) {
        visit(copy_of(good.first(length)));
    }
    for (std::size_t at = 0; at < good.size(); ++at) {
        Bytes damaged = copy_of(good);
        for (unsigned bit = 0; bit < 8; ++bit) {
            damaged[at] = good[at] ^ static_cast<std::byte>(1U << bit);
            visit(damaged);
        }
        for (const std::uint8_t tag : kTags) {
            damaged[at] = static_cast<std::byte>(tag);
            visit(damaged);
        }
    }
    for (const std::uint8_t tag : kTags) {
        Bytes damaged = copy_of(good);
        damaged.push_back(static_cast<std::byte>(tag));
        visit(damaged);
    }
}

}  // namespace shortq::test
