#include "tools/cli/type_names.h"

namespace shortq::cli {
namespace {

// The end of the quoted part at `at`; a doubled quote begins the next one at once.
std::size_t after_quoted(std::string_view text, std::size_t at) {
    const auto end = text.find(text[at], at + 1);
    return end == std::string_view::npos ? text.size() : end + 1;
}

// The first of `stops` outside quotes and brackets.
std::size_t find_outside(std::string_view text, std::string_view stops) {
    int depth = 0;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (depth == 0 && stops.find(c) != std::string_view::npos) return at;
        if (c == '(') ++depth;
        if (c == ')') --depth;
        at = c == '"' || c == '\'' ? after_quoted(text, at) : at + 1;
    }
    return text.size();
}

std::string_view without_spaces(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

}  // namespace

std::string_view child_type(std::string_view type, std::size_t index) {
    if (type.ends_with(']')) return type.substr(0, type.rfind('['));
    const auto open = type.find('(');
    if (open == std::string_view::npos || !type.ends_with(')')) return {};
    const bool named = type.substr(0, open) != "MAP";
    auto arguments = type.substr(open + 1, type.size() - open - 2);
    for (; index > 0 && !arguments.empty(); --index) {
        const auto comma = find_outside(arguments, ",");
        arguments.remove_prefix(comma == arguments.size() ? comma : comma + 1);
    }
    auto argument = without_spaces(arguments.substr(0, find_outside(arguments, ",")));
    if (named) argument.remove_prefix(find_outside(argument, " "));
    return without_spaces(argument);
}

}  // namespace shortq::cli
