// proto/reader.cpp: the msgpack formats that our messages use, and no others.
#include "proto/reader.h"

#include <bit>
#include <limits>

namespace shortq::proto {
namespace {

constexpr std::uint8_t kNil = 0xc0;
constexpr std::uint8_t kFalse = 0xc2;
constexpr std::uint8_t kTrue = 0xc3;
constexpr std::uint8_t kBin8 = 0xc4;
constexpr std::uint8_t kFloat32 = 0xca;
constexpr std::uint8_t kUint8 = 0xcc;
constexpr std::uint8_t kInt8 = 0xd0;
constexpr std::uint8_t kStr8 = 0xd9;
constexpr std::uint8_t kArray16 = 0xdc;

// Sign-extends the low `width` bytes of `raw`.
std::int64_t sign_extended(std::uint64_t raw, std::size_t width) {
    const auto shift = static_cast<unsigned>(64 - 8 * width);
    return static_cast<std::int64_t>(raw << shift) >> shift;
}

}  // namespace

std::uint64_t Reader::big_endian(std::size_t offset, std::size_t width) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < width; ++i) {
        value = value << 8 | static_cast<std::uint64_t>(bytes_[at_ + offset + i]);
    }
    return value;
}

bool Reader::number(std::uint8_t first, std::size_t narrow, std::size_t wide, std::uint64_t& value,
                    std::size_t& width) const {
    if (!has(1) || tag() < first) {
        return false;
    }
    width = narrow;
    for (std::uint8_t candidate = first; candidate != tag(); ++candidate) {
        width *= 2;
        if (width > wide) {
            return false;
        }
    }
    if (!has(1 + width)) {
        return false;
    }
    value = big_endian(1, width);
    return true;
}

bool Reader::view(std::size_t header, std::uint64_t size, std::string_view& value) {
    if (left() - header < size) {
        return false;
    }
    value = {reinterpret_cast<const char*>(bytes_.data() + at_ + header),
             static_cast<std::size_t>(size)};
    at_ += header + static_cast<std::size_t>(size);
    return true;
}

bool Reader::array(std::uint64_t& items) {
    std::size_t width = 0;
    if (has(1) && (tag() & 0xf0U) == 0x90U) {
        items = tag() & 0x0fU;
        at_ += 1;
        return true;
    }
    if (number(kArray16, 2, 4, items, width)) {
        at_ += 1 + width;
        return true;
    }
    return false;
}

bool Reader::nil() {
    if (!has(1) || tag() != kNil) {
        return false;
    }
    at_ += 1;
    return true;
}

bool Reader::boolean(bool& value) {
    if (!has(1) || (tag() != kFalse && tag() != kTrue)) {
        return false;
    }
    value = tag() == kTrue;
    at_ += 1;
    return true;
}

bool Reader::unsigned_int(std::uint64_t& value) {
    std::size_t width = 0;
    std::uint64_t raw = 0;
    if (has(1) && tag() < 0x80U) {
        value = tag();
        at_ += 1;
        return true;
    }
    const bool is_signed = number(kInt8, 1, 8, raw, width);
    if (!is_signed && !number(kUint8, 1, 8, raw, width)) {
        return false;
    }
    if (is_signed && sign_extended(raw, width) < 0) {
        return false;
    }
    value = raw;
    at_ += 1 + width;
    return true;
}

bool Reader::signed_int(std::int64_t& value) {
    std::size_t width = 0;
    std::uint64_t raw = 0;
    if (has(1) && tag() >= 0xe0U) {
        value = sign_extended(tag(), 1);
        at_ += 1;
        return true;
    }
    if (number(kInt8, 1, 8, raw, width)) {
        value = sign_extended(raw, width);
        at_ += 1 + width;
        return true;
    }
    Reader ahead = *this;
    if (!ahead.unsigned_int(raw) ||
        raw > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return false;
    }
    value = static_cast<std::int64_t>(raw);
    *this = ahead;
    return true;
}

bool Reader::floating(double& value) {
    std::size_t width = 0;
    std::uint64_t raw = 0;
    if (!number(kFloat32, 4, 8, raw, width)) {
        return false;
    }
    value = width == 4 ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(raw)))
                       : std::bit_cast<double>(raw);
    at_ += 1 + width;
    return true;
}

bool Reader::str(std::string_view& value) {
    std::size_t width = 0;
    std::uint64_t size = 0;
    if (has(1) && (tag() & 0xe0U) == 0xa0U) {
        return view(1, tag() & 0x1fU, value);
    }
    return number(kStr8, 1, 4, size, width) && view(1 + width, size, value);
}

bool Reader::bin(std::string_view& value) {
    std::size_t width = 0;
    std::uint64_t size = 0;
    return number(kBin8, 1, 4, size, width) && view(1 + width, size, value);
}

}  // namespace shortq::proto
