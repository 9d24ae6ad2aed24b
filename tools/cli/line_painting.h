// tools/cli/line_painting.h: paints colours over a line that is on the screen already.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/highlight.h"

namespace shortq::cli {

// A place on the screen, relative to the row on which the prompt is.
struct ScreenPlace {
    std::size_t row = 0;
    std::size_t column = 0;
    bool operator==(const ScreenPlace&) const = default;
};

// Where the line editor has put what follows `text`, if that begins at column `start`: long lines
// are wrapped, a wide character that does not fit any more too; a row that is full goes on below.
[[nodiscard]] ScreenPlace place_after(std::string_view text, std::size_t start, std::size_t width);

// The bytes that repaint `line` with its colours and bring the cursor back to where it is, before
// byte `point`. Pre: the line is on the screen as the line editor shows it.
[[nodiscard]] std::string repaint(std::string_view line, const std::vector<Style>& styles,
                                  std::size_t point, std::size_t start, std::size_t width);

}  // namespace shortq::cli
