#include "tests/tools/cli/virtual_screen.h"

#include <algorithm>
#include <cstdlib>

#include "tools/cli/terminal_text.h"

namespace shortq::cli::test {

VirtualScreen::VirtualScreen(std::size_t columns, std::size_t rows)
    : columns_(columns), cells_(rows, std::vector<Cell>(columns)) {}

void VirtualScreen::resize(std::size_t columns, std::size_t rows) {
    columns_ = columns;
    cells_.resize(rows);
    for (auto& row : cells_) row.resize(columns);
    row_ = std::min(row_, rows - 1);
    column_ = std::min(column_, columns - 1);
}

void VirtualScreen::feed(std::string_view bytes) {
    rest_ += bytes;
    std::size_t used = 0;
    while (used < rest_.size()) {
        const auto taken = take(std::string_view(rest_).substr(used));
        if (taken == 0) break;
        used += taken;
    }
    rest_.erase(0, used);
}

std::size_t VirtualScreen::take(std::string_view bytes) {
    const char c = bytes[0];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\x1b') return take_escape(bytes);
    if (byte < 0x20 || byte == 0x7f) {
        control(c);
        return 1;
    }
    const std::size_t length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    if (bytes.size() < length) return 0;
    const auto glyph = first_glyph(bytes);
    put(bytes.substr(0, glyph.bytes), glyph.columns);
    return glyph.bytes;
}

std::size_t VirtualScreen::take_escape(std::string_view bytes) {
    if (bytes.size() < 2) return 0;
    if (bytes[1] == '(') return bytes.size() < 3 ? 0 : 3;
    if (bytes[1] != '[') return 2;
    const auto end = std::ranges::find_if(bytes.substr(2), [](char c) { return c >= '@'; });
    if (end == bytes.end()) return 0;
    const auto length = static_cast<std::size_t>(end - bytes.begin());
    command(bytes.substr(2, length - 2), *end);
    return length + 1;
}

void VirtualScreen::control(char c) {
    if (c == '\n') return line_feed();
    if (c == '\a') return;
    wrap_pending_ = false;
    if (c == '\r') column_ = 0;
    if (c == '\b' && column_ > 0) --column_;
    if (c == '\t') column_ = std::min((column_ / 8 + 1) * 8, columns_ - 1);
}

void VirtualScreen::line_feed() {
    wrap_pending_ = false;
    if (++row_ < cells_.size()) return;
    row_ = cells_.size() - 1;
    cells_.erase(cells_.begin());
    cells_.emplace_back(columns_);
}

void VirtualScreen::put(std::string_view glyph, std::size_t width) {
    if (width == 0) {
        auto at = wrap_pending_ ? column_ : column_ - std::min<std::size_t>(column_, 1);
        while (at > 0 && cells_[row_][at].glyph.empty()) --at;
        if (cells_[row_][at].glyph.find(glyph) == std::string::npos)
            cells_[row_][at].glyph += glyph;
        return;
    }
    if (wrap_pending_ || column_ + width > columns_) {
        line_feed();
        column_ = 0;
    }
    cells_[row_][column_] = {std::string(glyph), style_};
    if (width == 2) cells_[row_][column_ + 1] = {"", style_};
    column_ += width;
    wrap_pending_ = column_ >= columns_;
    if (wrap_pending_) column_ = columns_ - 1;
}

void VirtualScreen::erase(std::size_t row, std::size_t from, std::size_t to) {
    for (auto at = from; at < to; ++at) cells_[row][at] = {};
}

void VirtualScreen::command(std::string_view parameters, char name) {
    const auto number = static_cast<std::size_t>(std::atoi(std::string(parameters).c_str()));
    const auto count = std::max<std::size_t>(number, 1);
    auto& row = cells_[row_];
    const auto here = row.begin() + static_cast<std::ptrdiff_t>(column_);
    if (name == 'm') {
        style_ = parameters == "0" ? "" : parameters;
        return;
    }
    wrap_pending_ = false;
    if (name == 'A') row_ -= std::min(row_, count);
    if (name == 'B') row_ = std::min(row_ + count, cells_.size() - 1);
    if (name == 'C') column_ = std::min(column_ + count, columns_ - 1);
    if (name == 'D') column_ -= std::min(column_, count);
    if (name == 'G') column_ = std::min(count, columns_) - 1;
    if (name == 'K') erase(row_, number == 0 ? column_ : 0, number == 1 ? column_ + 1 : columns_);
    if (name == 'H') {
        const auto semicolon = parameters.find(';');
        row_ = std::min(count, cells_.size()) - 1;
        column_ = semicolon == std::string_view::npos
                      ? 0
                      : std::max(std::atoi(parameters.data() + semicolon + 1), 1) - 1UL;
    }
    if (name == 'J') {
        erase(row_, number == 2 ? 0 : column_, columns_);
        for (std::size_t i = number == 2 ? 0 : row_ + 1; i < cells_.size(); ++i)
            erase(i, 0, columns_);
    }
    if (name == 'P') {
        row.erase(here, here + static_cast<std::ptrdiff_t>(std::min(count, columns_ - column_)));
        row.resize(columns_);
    }
    if (name == '@') {
        row.insert(here, count, Cell{});
        row.resize(columns_);
    }
}

std::string VirtualScreen::row(std::size_t number) const {
    std::string text;
    for (const auto& cell : cells_[number]) text += cell.glyph;
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string VirtualScreen::text() const {
    std::string text;
    for (std::size_t i = 0; i < cells_.size(); ++i) text += row(i) + "\n";
    return text.substr(0, text.find_last_not_of('\n') + 1);
}

std::vector<std::string> VirtualScreen::styles(std::size_t row) const {
    std::vector<std::string> styles;
    for (const auto& cell : cells_[row]) styles.push_back(cell.style);
    return styles;
}

}  // namespace shortq::cli::test
