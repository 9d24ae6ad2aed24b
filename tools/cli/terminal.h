// tools/cli/terminal.h: what the terminal is, and what its user wants of it.
#pragma once

#include <cstddef>
#include <string>

namespace shortq::cli {

[[nodiscard]] bool is_terminal(int descriptor);

struct TerminalSize {
    std::size_t columns = 80;
    std::size_t lines = 24;
};
[[nodiscard]] TerminalSize terminal_size(int descriptor);

// A terminal that understands no control sequences: TERM is "dumb" or empty.
[[nodiscard]] bool is_dumb_terminal();
// Neither NO_COLOR (https://no-color.org) nor a dumb terminal.
[[nodiscard]] bool wants_colours();

// An environment variable; empty if there is none.
[[nodiscard]] std::string environment(const char* name);

}  // namespace shortq::cli
