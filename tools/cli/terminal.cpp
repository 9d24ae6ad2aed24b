#include "tools/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace shortq::cli {

bool is_terminal(int descriptor) { return ::isatty(descriptor) != 0; }

TerminalSize terminal_size(int descriptor) {
    winsize size{};
    if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
        return {};
    }
    return {size.ws_col, size.ws_row};
}

bool is_dumb_terminal() {
    const auto term = environment("TERM");
    return term.empty() || term == "dumb";
}

bool wants_colours() { return environment("NO_COLOR").empty() && !is_dumb_terminal(); }

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

}  // namespace shortq::cli
