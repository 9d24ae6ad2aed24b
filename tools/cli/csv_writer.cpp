// CSV as RFC 4180 has it, with a header line and, as every Unix tool expects, LF line ends.
// NULL is an empty field, empty text is "".
#include "tools/cli/writer.h"

namespace shortq::cli {
namespace {

void append_field(Output& out, std::string_view text) {
    if (!text.empty() && text.find_first_of("\",\r\n") == std::string_view::npos) {
        out.append(text);
        return;
    }
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    quoted += '"';
    out.append(quoted);
}

class CsvWriter : public Writer {
public:
    void write(const Table& table, Output& out) override {
        if (table.columns() == 0) return;
        for (std::size_t column = 0; column < table.columns(); ++column) {
            if (column != 0) out.append(",");
            append_field(out, table.schema().fields[column].name);
        }
        out.append("\n");
        for (std::uint64_t row = 0; row < table.rows() && !out.failed(); ++row) {
            for (std::size_t column = 0; column < table.columns(); ++column) {
                if (column != 0) out.append(",");
                if (!table.is_null(row, column)) append_field(out, table.text(row, column));
            }
            out.append("\n");
        }
    }
};

}  // namespace

std::unique_ptr<Writer> make_csv_writer() { return std::make_unique<CsvWriter>(); }

}  // namespace shortq::cli
