// Goal: exactly the well-formed sequences of the Unicode Standard, table 3-7, pass.
// Method: every code point, and each kind of ill-formed sequence.
#include "proto/utf8.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>

namespace shortq::proto {
namespace {

std::string utf8_of(std::uint32_t point) {
    const auto tail = [&](unsigned shift) {
        return static_cast<char>(0x80U | ((point >> shift) & 0x3fU));
    };
    if (point < 0x80) {
        return {static_cast<char>(point)};
    }
    if (point < 0x800) {
        return {static_cast<char>(0xc0U | point >> 6U), tail(0)};
    }
    if (point < 0x10000) {
        return {static_cast<char>(0xe0U | point >> 12U), tail(6), tail(0)};
    }
    return {static_cast<char>(0xf0U | point >> 18U), tail(12), tail(6), tail(0)};
}

TEST(Utf8Test, EveryScalarValueIsWellFormedAndNoSurrogateIs) {
    for (std::uint32_t point = 0; point <= 0x10ffff; ++point) {
        const bool surrogate = point >= 0xd800 && point <= 0xdfff;
        ASSERT_EQ(is_utf8(utf8_of(point)), !surrogate) << std::hex << point;
    }
    EXPECT_FALSE(is_utf8(utf8_of(0x110000)));
}

TEST(Utf8Test, IllFormedSequencesAreFound) {
    for (const char* text :
         {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xf5\x80\x80\x80",
          "\xff", "ok\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc3(", "\xe2(\xa1", "\xe2\x82("}) {
        EXPECT_FALSE(is_utf8(text)) << text;
    }
    EXPECT_TRUE(is_utf8(""));
    EXPECT_TRUE(is_utf8(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace shortq::proto
