// A GitHub-flavoured Markdown table; numbers are aligned to the right.
#include "tools/cli/printed_column.h"
#include "tools/cli/terminal_text.h"
#include "tools/cli/writer.h"

namespace shortq::cli {
namespace {

bool is_letter(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || (byte >= '0' && byte <= '9') ||
           ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

// What would end the cell, or be read as a style, a link or HTML. Inside a word, an underscore is
// none of these: names stay as they are.
std::string escaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const char next = i + 1 < text.size() ? text[i + 1] : ' ';
        const bool in_word = i > 0 && is_letter(text[i - 1]) && is_letter(next);
        if (c == '\n') {
            out += "<br>";
        } else if (c == '<') {
            out += "&lt;";
        } else if (c == '&') {
            out += "&amp;";
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            if (c != '\r') out += printable(std::string_view(&c, 1));
        } else {
            const bool special = std::string_view("|\\`*~").find(c) != std::string_view::npos ||
                                 (c == '_' && !in_word) ||
                                 (c == ']' && (next == '(' || next == '['));
            if (special) out += '\\';
            out += c;
        }
    }
    return out;
}

class MarkdownWriter : public Writer {
public:
    void begin(const Schema& schema, Output& out) override {
        if (schema.fields.empty()) return;
        for (const auto& field : schema.fields) out.append("| " + escaped(field.name) + " ");
        out.append("|\n");
        for (const auto& field : schema.fields) {
            out.append(kind_of(field) == ColumnKind::kNumber ? "| ---: " : "| --- ");
        }
        out.append("|\n");
    }

    void rows(const Table& part, Output& out) override {
        std::string cell;
        for_each_row(part, [&](const std::vector<PrintedColumn>& columns, std::uint64_t row) {
            for (const auto& column : columns) {
                cell.clear();
                if (column.is_null(row)) {
                    cell = "NULL";
                } else {
                    column.append(cell, row);
                }
                out.append("| ");
                out.append(column.is_free_text() ? escaped(cell) : cell);
                out.append(" ");
            }
            out.append("|\n");
            return !out.failed();
        });
    }

    void end(Output&) override {}
};

}  // namespace

std::unique_ptr<Writer> make_markdown_writer() { return std::make_unique<MarkdownWriter>(); }

}  // namespace shortq::cli
