#include "proto/kdb/leaf.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace shortq::kdb {
namespace {

// Powers of ten that a double holds exactly.
constexpr std::array<double, 23> kPowers{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                         1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                         1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr std::int64_t kExactMax = std::int64_t{1} << 53;

std::string digits_of(Int128 value) {
    auto rest = value < 0 ? -static_cast<UInt128>(value) : static_cast<UInt128>(value);
    std::string digits;
    do {
        digits += static_cast<char>('0' + static_cast<int>(rest % 10));
        rest /= 10;
    } while (rest != 0);
    if (value < 0) digits += '-';
    std::ranges::reverse(digits);
    return digits;
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

double decimal_to_double(Int128 value, int scale) {
    const bool exact = value <= kExactMax && value >= -kExactMax && scale >= 0 &&
                       scale < static_cast<int>(kPowers.size());
    if (exact)
        return static_cast<double>(static_cast<std::int64_t>(value)) /
               kPowers[static_cast<std::size_t>(scale)];
    const std::string text = digits_of(value) + 'e' + std::to_string(-scale);
    double result = 0;
    std::from_chars(text.data(), text.data() + text.size(), result);
    return result;
}

std::optional<Guid> parse_guid(std::string_view text) {
    if (text.size() != 36) return std::nullopt;
    Guid guid{};
    std::size_t digits = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (i == 8 || i == 13 || i == 18 || i == 23) {
            if (text[i] != '-') return std::nullopt;
            continue;
        }
        const int digit = hex_digit(text[i]);
        if (digit < 0) return std::nullopt;
        auto& byte = guid[digits++ / 2];
        byte = static_cast<std::uint8_t>(byte << 4 | digit);
    }
    return guid;
}

}  // namespace shortq::kdb
