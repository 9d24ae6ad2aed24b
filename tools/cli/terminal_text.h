// tools/cli/terminal_text.h: text that may be shown on a terminal, and how wide it is there.
#pragma once

#include <string>
#include <string_view>

namespace shortq::cli {

// All of these need a UTF-8 locale for characters beyond ASCII.

// Control characters, what changes the direction of writing, and malformed bytes become escapes
// ("\n", "\x1b", "\u202e", "\xff"): a cell stays on its line, and data cannot steer the terminal.
[[nodiscard]] std::string printable(std::string_view text);

// Terminal columns that text takes; malformed bytes count one each, combining characters none.
[[nodiscard]] std::size_t display_width(std::string_view text);

// The text, or as much of its beginning as fits with a "…" behind it. Pre: width > 0; printable.
[[nodiscard]] std::string cut_to_width(std::string_view text, std::size_t width);

// A character at the beginning of `text` (not empty): its bytes, and its columns.
struct Glyph {
    std::size_t bytes = 1;
    std::size_t columns = 1;
    bool malformed = false;
    bool control = false;  // Steers: not to be shown as it is.
    char32_t code = 0;
};
[[nodiscard]] Glyph first_glyph(std::string_view text);

}  // namespace shortq::cli
