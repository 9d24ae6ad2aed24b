#include "proto/engine_type.h"

namespace shortq::detail {
namespace {

// The end of a quoted part that starts at `at`; a doubled quote stands for itself.
std::size_t after_quoted(std::string_view text, std::size_t at) {
    const char quote = text[at++];
    while (at < text.size()) {
        if (text[at++] != quote) continue;
        if (at >= text.size() || text[at] != quote) return at;
        ++at;
    }
    return at;
}

// The end of the argument that starts at `at`: its comma, or the bracket that closes the list.
std::size_t end_of_argument(std::string_view text, std::size_t at) {
    for (int depth = 0; at < text.size();) {
        const char c = text[at];
        if (c == '"' || c == '\'') {
            at = after_quoted(text, at);
            continue;
        }
        if (depth == 0 && (c == ',' || c == ')')) return at;
        if (c == '(') ++depth;
        if (c == ')') --depth;
        ++at;
    }
    return at;
}

std::string_view without_spaces(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

std::string_view without_name(std::string_view argument) {
    const auto end = argument.starts_with('"') ? after_quoted(argument, 0) : argument.find(' ');
    return end >= argument.size() ? std::string_view{} : without_spaces(argument.substr(end));
}

}  // namespace

std::string_view element_type(std::string_view type) {
    return type.ends_with(']') ? type.substr(0, type.rfind('[')) : std::string_view{};
}

std::string_view argument_type(std::string_view type, std::size_t index, bool named) {
    const auto open = type.find('(');
    if (open == std::string_view::npos || !type.ends_with(')')) return {};
    for (std::size_t at = open + 1; at < type.size(); --index) {
        const auto end = end_of_argument(type, at);
        const auto argument = without_spaces(type.substr(at, end - at));
        if (index == 0) return named ? without_name(argument) : argument;
        at = end + 1;
    }
    return {};
}

}  // namespace shortq::detail
