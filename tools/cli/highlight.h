// tools/cli/highlight.h: which colours SQL has at the prompt.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace shortq::cli {

enum class Style : std::uint8_t { kPlain, kKeyword, kString, kNumber, kComment, kCommand };

// The style of each byte of `line`, which goes on where `before` ended: a text or comment that was
// begun there ends here. A line that starts with a backslash, with nothing before it, is a command.
[[nodiscard]] std::vector<Style> highlight(std::string_view before, std::string_view line);

// The control sequence that begins it: "\x1b[34m".
[[nodiscard]] std::string_view sequence_of(Style style) noexcept;

}  // namespace shortq::cli
