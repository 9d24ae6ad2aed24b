#include "tools/cli/terminal_text.h"

#include <wchar.h>

#include <cstring>

namespace shortq::cli {

std::string printable(std::string_view text) {
    constexpr std::string_view kHexDigits = "0123456789abcdef";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n') {
            out += "\\n";
        } else if (c == '\r') {
            out += "\\r";
        } else if (c == '\t') {
            out += "\\t";
        } else if (byte < 0x20 || byte == 0x7f) {
            out.append("\\x").append(1, kHexDigits[byte >> 4]).append(1, kHexDigits[byte & 15]);
        } else {
            out += c;
        }
    }
    return out;
}

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    std::mbstate_t state{};
    while (!text.empty()) {
        wchar_t character = 0;
        const auto used = std::mbrtowc(&character, text.data(), text.size(), &state);
        if (used == 0 || used > text.size()) {
            state = {};
            width += 1;
            text.remove_prefix(1);
            continue;
        }
        const int columns = ::wcwidth(character);
        width += columns < 0 ? 1 : static_cast<std::size_t>(columns);
        text.remove_prefix(used);
    }
    return width;
}

}  // namespace shortq::cli
