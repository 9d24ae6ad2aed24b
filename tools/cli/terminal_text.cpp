#include "tools/cli/terminal_text.h"

#include <fmt/format.h>
#include <wchar.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace shortq::cli {
namespace {

bool is_plain(char c) { return c >= 0x20 && c < 0x7f; }

// Marks, overrides and isolates that turn the direction of writing; line and paragraph separators.
bool turns_text(char32_t code) {
    return code == 0x061c || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

void append_escape(std::string& out, std::string_view bytes, const Glyph& glyph) {
    if (glyph.malformed) {
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(bytes[0]));
    } else if (glyph.code == '\n') {
        out += "\\n";
    } else if (glyph.code == '\r') {
        out += "\\r";
    } else if (glyph.code == '\t') {
        out += "\\t";
    } else if (glyph.code < 0x100) {
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned>(glyph.code));
    } else {
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(glyph.code));
    }
}

}  // namespace

Glyph first_glyph(std::string_view text) {
    if (is_plain(text[0])) return {1, 1, false, false, static_cast<char32_t>(text[0])};
    std::mbstate_t state{};
    wchar_t character = 0;
    const auto used = std::mbrtowc(&character, text.data(), text.size(), &state);
    if (used > text.size()) return {1, 1, true, true, 0};
    const int columns = ::wcwidth(character);
    const auto code = static_cast<char32_t>(character);
    return {std::max<std::size_t>(used, 1), columns < 0 ? 1 : static_cast<std::size_t>(columns),
            false, columns < 0 || code == 0 || turns_text(code), code};
}

std::string printable(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto glyph = first_glyph(text);
        if (glyph.control) {
            append_escape(out, text, glyph);
        } else {
            out += text.substr(0, glyph.bytes);
        }
        text.remove_prefix(glyph.bytes);
    }
    return out;
}

std::size_t display_width(std::string_view text) {
    if (std::ranges::all_of(text, is_plain)) return text.size();
    std::size_t width = 0;
    while (!text.empty()) {
        const auto glyph = first_glyph(text);
        width += glyph.columns;
        text.remove_prefix(glyph.bytes);
    }
    return width;
}

std::string cut_to_width(std::string_view text, std::size_t width) {
    if (display_width(text) <= width) return std::string(text);
    std::size_t used = 0;
    std::size_t bytes = 0;
    while (bytes < text.size()) {
        const auto glyph = first_glyph(text.substr(bytes));
        if (used + glyph.columns > width - 1) break;
        used += glyph.columns;
        bytes += glyph.bytes;
    }
    return std::string(text.substr(0, bytes)) + "…";
}

}  // namespace shortq::cli
