// tools/cli/statements.h: cuts a script into its statements.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shortq::cli {

// Semicolons inside quotes ('..', "..", e'..', $tag$..$tag$) and comments do not count; parts that
// hold only comments and white space are left out. Statements are trimmed, without semicolons.
struct Cut {
    std::vector<std::string> statements;  // Those that a semicolon ends.
    std::string rest;                     // What was begun behind the last one; mostly empty.
};
[[nodiscard]] Cut cut_statements(std::string_view script);

// All of them: the last one needs no semicolon.
[[nodiscard]] std::vector<std::string> split_statements(std::string_view script);

}  // namespace shortq::cli
