// A GitHub-flavoured Markdown table; numbers are aligned to the right.
#include "tools/cli/writer.h"

namespace shortq::cli {
namespace {

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\n') {
            out += "<br>";
        } else if (c != '\r') {
            if (c == '|' || c == '\\') out += '\\';
            out += c;
        }
    }
    return out;
}

class MarkdownWriter : public Writer {
public:
    void write(const Table& table, Output& out) override {
        const auto& fields = table.schema().fields;
        if (fields.empty()) return;
        for (const auto& field : fields) out.append("| " + escaped(field.name) + " ");
        out.append("|\n");
        for (const auto& field : fields) {
            out.append(kind_of(field) == ColumnKind::kNumber ? "| ---: " : "| --- ");
        }
        out.append("|\n");
        for (std::uint64_t row = 0; row < table.rows() && !out.failed(); ++row) {
            for (std::size_t column = 0; column < fields.size(); ++column) {
                out.append("| " + escaped(table.text(row, column)) + " ");
            }
            out.append("|\n");
        }
    }
};

}  // namespace

std::unique_ptr<Writer> make_markdown_writer() { return std::make_unique<MarkdownWriter>(); }

}  // namespace shortq::cli
