// tools/cli/terminal_text.h: text that may be shown on a terminal, and how wide it is there.
#pragma once

#include <string>
#include <string_view>

namespace shortq::cli {

// Control characters become escapes ("\n", "\x1b"): a cell stays on its line, and data cannot
// steer the terminal.
[[nodiscard]] std::string printable(std::string_view text);

// Columns that UTF-8 text takes. Needs a UTF-8 locale for wide characters; malformed bytes count
// one column each.
[[nodiscard]] std::size_t display_width(std::string_view text);

}  // namespace shortq::cli
