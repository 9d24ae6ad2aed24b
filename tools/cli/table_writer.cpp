// A table for people: columns as wide as their widest cell, numbers to the right. On a terminal it
// fits: cells are cut, columns in the middle and rows in the middle left out, always visibly.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "tools/cli/printed_column.h"
#include "tools/cli/table_layout.h"
#include "tools/cli/terminal_text.h"
#include "tools/cli/writer.h"

namespace shortq::cli {
namespace {

// The text of a cell, in a buffer that is used again.
void get_cell(std::string& cell, const PrintedColumn& column, std::uint64_t row) {
    cell.clear();
    if (column.is_null(row)) {
        cell = "NULL";
        return;
    }
    column.append(cell, row);
    const bool plain = std::ranges::all_of(cell, [](char c) { return c >= 0x20 && c < 0x7f; });
    if (!plain) cell = printable(cell);
}

// What says something else when it is cut: numbers, dates and times.
bool is_whole(const PrintedColumn& column) {
    return column.kind() == ColumnKind::kNumber || column.field().format.starts_with('t');
}

class TableWriter : public Writer {
public:
    explicit TableWriter(Screen screen) : screen_(screen) {}

    void begin(const Schema& schema, Output&) override {
        schema_ = schema;
        parts_.clear();
        rows_ = 0;
    }

    void rows(const Table& part, Output&) override {
        parts_.push_back(part);
        rows_ += part.rows();
    }

    void end(Output& out) override {
        if (is_plan()) {
            print_plan(out);
        } else if (!schema_.fields.empty()) {
            print(out);
        }
        parts_.clear();
    }

private:
    // What EXPLAIN gives: drawings of many lines, which a cell would spoil.
    [[nodiscard]] bool is_plan() const {
        return schema_.fields.size() == 2 && schema_.fields[0].name == "explain_key" &&
               schema_.fields[1].name == "explain_value";
    }

    void print_plan(Output& out) const {
        for (const auto& part : parts_) {
            for (std::uint64_t row = 0; row < part.rows(); ++row) {
                std::istringstream lines(part.text(row, 1));
                for (std::string line; std::getline(lines, line);)
                    out.append(printable(line) + "\n");
            }
        }
    }

    [[nodiscard]] bool leaves_rows_out() const {
        return screen_.rows_shown_max != 0 && rows_ > screen_.rows_shown_max;
    }

    // Calls `visit(columns, row, number)` for each row that is shown; number counts all rows.
    template <class Visit>
    void for_each_shown(Visit visit) const {
        const auto head = leaves_rows_out() ? screen_.rows_shown_max / 2 : rows_;
        std::uint64_t number = 0;
        for (const auto& part : parts_) {
            for_each_row(part, [&](const std::vector<PrintedColumn>& columns, std::uint64_t row) {
                const auto current = number++;
                if (current >= head && current < rows_ - head) return true;
                return visit(columns, row, current);
            });
        }
    }

    std::vector<Wish> measure() const {
        std::vector<Wish> wishes;
        for (const auto& field : schema_.fields) {
            wishes.push_back({std::max<std::size_t>(display_width(printable(field.name)), 1), 0});
        }
        std::string cell;
        for_each_shown(
            [&](const std::vector<PrintedColumn>& columns, std::uint64_t row, std::uint64_t) {
                for (std::size_t i = 0; i < columns.size(); ++i) {
                    get_cell(cell, columns[i], row);
                    const auto width = display_width(cell);
                    wishes[i].width = std::max(wishes[i].width, width);
                    if (is_whole(columns[i])) {
                        wishes[i].least = std::max(wishes[i].least, width);
                    }
                }
                return true;
            });
        return wishes;
    }

    void print(Output& out) const {
        const auto slots = lay_out(measure(), screen_.columns);
        print_header(slots, out);
        std::string cell;
        bool gap = false;
        for_each_shown([&](const std::vector<PrintedColumn>& columns, std::uint64_t row,
                           std::uint64_t number) {
            if (leaves_rows_out() && number >= screen_.rows_shown_max / 2 && !gap) {
                gap = true;
                print_gap(slots, out);
            }
            for (std::size_t i = 0; i < slots.size(); ++i) {
                if (slots[i].column == kLeftOut) {
                    print_cell(out, i, "…", 1, false);
                    continue;
                }
                const auto& column = columns[slots[i].column];
                get_cell(cell, column, row);
                print_cell(out, i, cell, slots[i].width, column.kind() == ColumnKind::kNumber);
            }
            out.buffer() += '\n';
            out.settle();
            return !out.failed();
        });
        print_footer(slots, out);
    }

    void print_header(const std::vector<Slot>& slots, Output& out) const {
        for (std::size_t i = 0; i < slots.size(); ++i) {
            const bool left_out = slots[i].column == kLeftOut;
            print_cell(out, i, left_out ? "…" : printable(schema_.fields[slots[i].column].name),
                       slots[i].width, false);
        }
        out.append("\n");
        for (std::size_t i = 0; i < slots.size(); ++i) {
            out.append((i == 0 ? "-" : "+-") + std::string(slots[i].width + 1, '-'));
        }
        out.append("\n");
    }

    static void print_gap(const std::vector<Slot>& slots, Output& out) {
        for (std::size_t i = 0; i < slots.size(); ++i) {
            print_cell(out, i, "…", slots[i].width, false);
        }
        out.append("\n");
    }

    void print_footer(const std::vector<Slot>& slots, Output& out) const {
        auto text = fmt::format("({} {}", rows_, rows_ == 1 ? "row" : "rows");
        if (leaves_rows_out()) {
            const auto head = screen_.rows_shown_max / 2;
            text += fmt::format(", the first and last {} shown", head);
        }
        const bool left_out = std::ranges::find(slots, kLeftOut, &Slot::column) != slots.end();
        if (left_out) {
            const auto columns = schema_.fields.size();
            text += fmt::format("; {} of {} columns left out", columns + 1 - slots.size(), columns);
        }
        out.append(text + ")\n");
    }

    // Appends to the buffer only: it is settled once per row.
    static void print_cell(Output& out, std::size_t slot, std::string_view text, std::size_t width,
                           bool to_the_right) {
        auto& line = out.buffer();
        line += slot == 0 ? " " : "| ";
        const auto wide = display_width(text);
        const auto padding = wide < width ? width - wide : 0;
        if (to_the_right) line.append(padding, ' ');
        if (wide > width) {
            const auto cut = cut_to_width(text, width);
            const auto filled = display_width(cut);  // More, where "…" has no width.
            line.append(cut).append(filled < width ? width - filled : 0, ' ');
        } else {
            line += text;
        }
        if (!to_the_right) line.append(padding, ' ');
        line += ' ';
    }

    Screen screen_;
    Schema schema_;
    std::vector<Table> parts_;
    std::uint64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<Writer> make_table_writer(Screen screen) {
    return std::make_unique<TableWriter>(screen);
}

}  // namespace shortq::cli
