// tools/cli/statements.h: cuts a script into its statements.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shortq::cli {

// The statements between semicolons, trimmed, without the semicolons. Semicolons inside quotes
// ('..', "..", e'..', $tag$..$tag$) and comments do not count; parts that hold only comments and
// white space are left out.
[[nodiscard]] std::vector<std::string> split_statements(std::string_view script);

}  // namespace shortq::cli
