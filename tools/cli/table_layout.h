// tools/cli/table_layout.h: how the columns of a table share the width of a terminal.
#pragma once

#include <cstddef>
#include <vector>

namespace shortq::cli {

// What a column would like, in terminal columns.
struct Wish {
    std::size_t width = 0;  // Of the widest cell, its name included.
    std::size_t least = 0;  // A number that is cut would be a wrong number: this much it needs.
};

// A shown column, in order. The one that stands for those left out has index kLeftOut.
struct Slot {
    std::size_t column = 0;
    std::size_t width = 0;
};
inline constexpr std::size_t kLeftOut = static_cast<std::size_t>(-1);

// Widths for all columns, if they fit; else wide ones are cut; else columns in the middle are left
// out. `total` 0: no bound. At least one column is shown, cut if need be. Between two columns there
// are three characters, and one at either end.
[[nodiscard]] std::vector<Slot> lay_out(const std::vector<Wish>& wishes, std::size_t total);

}  // namespace shortq::cli
