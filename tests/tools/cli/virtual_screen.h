// tests/tools/cli/virtual_screen.h: a terminal's screen: takes what a program writes to it, and
// tells what a person would see.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shortq::cli::test {

// The part of a VT100 and its successors that line editors use: wrapping with a pending wrap, wide
// and combining characters, moving, erasing, inserting, deleting, colours. Needs a UTF-8 locale.
class VirtualScreen {
public:
    VirtualScreen(std::size_t columns, std::size_t rows);

    void feed(std::string_view bytes);
    void resize(std::size_t columns, std::size_t rows);

    // A row's text without spaces at its end.
    [[nodiscard]] std::string row(std::size_t number) const;
    // All rows down to the last that has text.
    [[nodiscard]] std::string text() const;
    // The colours of a row: the SGR parameters of each cell's first character, "" for none.
    [[nodiscard]] std::vector<std::string> styles(std::size_t row) const;
    [[nodiscard]] std::size_t cursor_row() const noexcept { return row_; }
    [[nodiscard]] std::size_t cursor_column() const noexcept { return column_; }

private:
    struct Cell {
        std::string glyph = " ";  // Empty: the right half of a wide one.
        std::string style;
    };

    [[nodiscard]] std::size_t take(std::string_view bytes);  // How many; 0: more are needed.
    [[nodiscard]] std::size_t take_escape(std::string_view bytes);
    void control(char c);
    void put(std::string_view glyph, std::size_t width);
    void command(std::string_view parameters, char name);
    void erase(std::size_t row, std::size_t from, std::size_t to);
    void line_feed();

    std::size_t columns_;
    std::vector<std::vector<Cell>> cells_;
    std::size_t row_ = 0;
    std::size_t column_ = 0;
    bool wrap_pending_ = false;
    std::string style_;
    std::string rest_;  // The beginning of a sequence or character.
};

}  // namespace shortq::cli::test
