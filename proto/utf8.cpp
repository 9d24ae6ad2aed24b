// proto/utf8.cpp: table 3-7 of the Unicode Standard as code.
#include "proto/utf8.h"

#include <cstddef>
#include <cstdint>

namespace shortq::proto {
namespace {

// Bytes in the sequence that `text` starts with; 0 if it is not well formed.
std::size_t sequence(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0};
    };
    const auto tail = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
    const std::uint8_t lead = byte(0);
    if (lead < 0x80U) {
        return 1;
    }
    if (lead >= 0xc2U && lead <= 0xdfU) {
        return tail(1) ? 2 : 0;
    }
    if (lead >= 0xe0U && lead <= 0xefU) {
        const bool overlong = lead == 0xe0U && byte(1) < 0xa0U;
        const bool surrogate = lead == 0xedU && byte(1) > 0x9fU;
        return tail(1) && tail(2) && !overlong && !surrogate ? 3 : 0;
    }
    if (lead >= 0xf0U && lead <= 0xf4U) {
        const bool overlong = lead == 0xf0U && byte(1) < 0x90U;
        const bool too_high = lead == 0xf4U && byte(1) > 0x8fU;
        return tail(1) && tail(2) && tail(3) && !overlong && !too_high ? 4 : 0;
    }
    return 0;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t used = sequence(text);
        if (used == 0) {
            return false;
        }
        text.remove_prefix(used);
    }
    return true;
}

}  // namespace shortq::proto
