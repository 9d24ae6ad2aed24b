#include "tools/cli/line_painting.h"

#include <fmt/format.h>

#include "tools/cli/terminal_text.h"

namespace shortq::cli {
namespace {

constexpr std::size_t kTab = 8;

// What the line editor shows for the character at the beginning of `rest`.
struct Shown {
    std::size_t bytes = 1;
    std::size_t columns = 1;
    std::string text;  // Empty: a line end.
};

Shown shown_at(std::string_view rest, std::size_t column) {
    const char c = rest[0];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') return {1, 0, {}};
    if (c == '\t') {
        const auto columns = kTab - column % kTab;
        return {1, columns, std::string(columns, ' ')};
    }
    if (byte < 0x20) return {1, 2, {'^', static_cast<char>(c + '@')}};
    if (byte == 0x7f) return {1, 2, "^?"};
    const auto glyph = first_glyph(rest);
    return {glyph.bytes, glyph.columns, std::string(rest.substr(0, glyph.bytes))};
}

// Walks over a line as the editor lays it out; `visit(offset, shown, place)` is told where each
// character begins.
template <class Visit>
ScreenPlace walk(std::string_view text, std::size_t start, std::size_t width, Visit visit) {
    ScreenPlace place{0, start};
    for (std::size_t at = 0; at < text.size();) {
        const auto shown = shown_at(text.substr(at), place.column);
        if (place.column + shown.columns > width) place = {place.row + 1, 0};
        visit(at, shown, place);
        place.column += shown.columns;
        if (shown.text.empty() || place.column >= width) place = {place.row + 1, 0};
        at += shown.bytes;
    }
    return place;
}

void move(std::string& out, const ScreenPlace& from, const ScreenPlace& to) {
    out += '\r';
    if (from.row > to.row) out += fmt::format("\x1b[{}A", from.row - to.row);
    if (from.row < to.row) out += fmt::format("\x1b[{}B", to.row - from.row);
    if (to.column > 0) out += fmt::format("\x1b[{}C", to.column);
}

}  // namespace

ScreenPlace place_after(std::string_view text, std::size_t start, std::size_t width) {
    return walk(text, start, width, [](std::size_t, const Shown&, const ScreenPlace&) {});
}

std::string repaint(std::string_view line, const std::vector<Style>& styles, std::size_t point,
                    std::size_t start, std::size_t width) {
    const auto cursor = place_after(line.substr(0, point), start, width);
    std::string out;
    move(out, cursor, {0, start});
    ScreenPlace here{0, start};
    auto style = Style::kPlain;
    bool after_line_end = false;
    walk(line, start, width, [&](std::size_t at, const Shown& shown, const ScreenPlace& place) {
        // A row that is full goes on by itself, which tells the terminal that it is one line.
        if (after_line_end) move(out, here, place);
        after_line_end = shown.text.empty();
        if (styles[at] != style) {
            if (style != Style::kPlain) out += sequence_of(Style::kPlain);
            style = styles[at];
            if (style != Style::kPlain) out += sequence_of(style);
        }
        out += shown.text;
        here = {place.row, place.column + shown.columns};
    });
    if (style != Style::kPlain) out += sequence_of(Style::kPlain);
    move(out, here, cursor);
    return out;
}

}  // namespace shortq::cli
