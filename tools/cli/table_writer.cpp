// A table for people: columns as wide as their widest cell, numbers to the right.
#include <algorithm>

#include "tools/cli/terminal_text.h"
#include "tools/cli/writer.h"

namespace shortq::cli {
namespace {

class TableWriter : public Writer {
public:
    void write(const Table& table, Output& out) override {
        const auto& fields = table.schema().fields;
        if (fields.empty()) return;
        const auto widths = measure(table);
        for (std::size_t column = 0; column < fields.size(); ++column) {
            append_cell(out, column, printable(fields[column].name), widths[column], false);
        }
        out.append("\n");
        for (std::size_t column = 0; column < fields.size(); ++column) {
            out.append((column == 0 ? "-" : "+-") + std::string(widths[column] + 1, '-'));
        }
        out.append("\n");
        for (std::uint64_t row = 0; row < table.rows() && !out.failed(); ++row) {
            for (std::size_t column = 0; column < fields.size(); ++column) {
                append_cell(out, column, printable(table.text(row, column)), widths[column],
                            kind_of(fields[column]) == ColumnKind::kNumber);
            }
            out.append("\n");
        }
        out.append("(" + std::to_string(table.rows()) +
                   (table.rows() == 1 ? " row)\n" : " rows)\n"));
    }

private:
    static std::vector<std::size_t> measure(const Table& table) {
        std::vector<std::size_t> widths;
        for (std::size_t column = 0; column < table.columns(); ++column) {
            auto width = display_width(printable(table.schema().fields[column].name));
            for (std::uint64_t row = 0; row < table.rows(); ++row) {
                width = std::max(width, display_width(printable(table.text(row, column))));
            }
            widths.push_back(width);
        }
        return widths;
    }

    static void append_cell(Output& out, std::size_t column, const std::string& text,
                            std::size_t width, bool to_the_right) {
        const std::string padding(width - display_width(text), ' ');
        out.append(column == 0 ? " " : "| ");
        out.append(to_the_right ? padding + text : text + padding);
        out.append(" ");
    }
};

}  // namespace

std::unique_ptr<Writer> make_table_writer() { return std::make_unique<TableWriter>(); }

}  // namespace shortq::cli
