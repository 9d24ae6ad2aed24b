#include "client/text_numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace shortq::detail {
namespace {

UInt128 magnitude(Int128 value) {
    return value < 0 ? ~static_cast<UInt128>(value) + 1 : static_cast<UInt128>(value);
}

// DuckDB prints plainly from 1e-4 up to below 1e16, as the fmt library does.
void append_digits(std::string& out, std::string_view digits, int exponent) {
    const int count = static_cast<int>(digits.size());
    if (exponent < -4 || exponent >= 16) {
        out += digits[0];
        if (count > 1) out.append(".").append(digits.substr(1));
        out += exponent < 0 ? "e-" : "e+";
        const auto power = std::to_string(std::abs(exponent));
        if (power.size() < 2) out += '0';
        out += power;
    } else if (exponent < 0) {
        out.append("0.").append(static_cast<std::size_t>(-exponent - 1), '0').append(digits);
    } else if (count <= exponent + 1) {
        out.append(digits).append(static_cast<std::size_t>(exponent + 1 - count), '0');
        out += ".0";
    } else {
        const auto whole = static_cast<std::size_t>(exponent + 1);
        out.append(digits.substr(0, whole)).append(".").append(digits.substr(whole));
    }
}

template <class T>
void append_shortest(std::string& out, T value) {
    if (std::signbit(value)) out += '-';
    if (std::isnan(value)) {
        out += "nan";
        return;
    }
    if (std::isinf(value)) {
        out += "inf";
        return;
    }
    std::array<char, 48> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value),
                                   std::chars_format::scientific)
                         .ptr;
    const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    const auto mark = text.find('e');
    std::string digits(text.substr(0, mark));
    std::erase(digits, '.');
    append_digits(out, digits, std::atoi(std::string(text.substr(mark + 1)).c_str()));
}

}  // namespace

void append_unsigned(std::string& out, UInt128 value) {
    std::array<char, 40> digits;
    auto at = digits.end();
    do {
        *--at = static_cast<char>('0' + static_cast<int>(value % 10));
        value /= 10;
    } while (value != 0);
    out.append(at, digits.end());
}

void append_integer(std::string& out, Int128 value) {
    if (value < 0) out += '-';
    append_unsigned(out, magnitude(value));
}

void append_decimal(std::string& out, Int128 value, const DecimalFormat& format) {
    if (format.scale <= 0) {
        append_integer(out, value);
        return;
    }
    if (value < 0) out += '-';
    std::string digits;
    append_unsigned(digits, magnitude(value));
    const auto scale = static_cast<std::size_t>(format.scale);
    if (digits.size() <= scale) digits.insert(0, scale + 1 - digits.size(), '0');
    const auto whole = digits.substr(0, digits.size() - scale);
    if (whole != "0" || format.precision > format.scale) out += whole;
    out.append(".").append(digits, digits.size() - scale);
}

void append_floating(std::string& out, float value) { append_shortest(out, value); }
void append_floating(std::string& out, double value) { append_shortest(out, value); }

void append_bignum(std::string& out, std::string_view storage) {
    if (storage.size() < 4) return;
    const bool negative = (static_cast<unsigned char>(storage[0]) & 0x80U) == 0;
    if (negative) out += '-';
    constexpr std::uint64_t kBase = 1'000'000'000;
    std::vector<std::uint64_t> limbs{0};  // Base 1e9, least significant first.
    for (const char byte : storage.substr(3)) {
        std::uint64_t carry = static_cast<unsigned char>(negative ? ~byte : byte);
        for (auto& limb : limbs) {
            limb = limb * 256 + carry;
            carry = limb / kBase;
            limb %= kBase;
        }
        if (carry != 0) limbs.push_back(carry);
    }
    out += std::to_string(limbs.back());
    for (auto limb = limbs.rbegin() + 1; limb != limbs.rend(); ++limb) {
        const auto digits = std::to_string(*limb);
        out.append(9 - digits.size(), '0').append(digits);
    }
}

}  // namespace shortq::detail
