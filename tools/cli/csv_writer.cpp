// CSV as RFC 4180 has it, with a header line and, as every Unix tool expects, LF line ends.
// NULL is an empty field, empty text is "". A field with a # is quoted, as the engine's own COPY
// ... TO does, whose bytes these are.
#include <algorithm>

#include "tools/cli/printed_column.h"
#include "tools/cli/writer.h"

namespace shortq::cli {
namespace {

// Puts what was appended from `begin` on in quotes, if it has to be.
void quote_if_needed(std::string& out, std::size_t begin) {
    if (out.size() != begin && out.find_first_of("\",\r\n#", begin) == std::string::npos) return;
    const auto quotes =
        std::count(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), '"');
    auto from = out.size();
    out.resize(out.size() + static_cast<std::size_t>(quotes) + 2);
    auto to = out.size();
    out[--to] = '"';
    while (from != begin) {  // From the back, so that it is done in place.
        const char c = out[--from];
        out[--to] = c;
        if (c == '"') out[--to] = c;
    }
    out[begin] = '"';
}

class CsvWriter : public Writer {
public:
    void begin(const Schema& schema, Output& out) override {
        if (schema.fields.empty()) return;
        auto& text = out.buffer();
        for (std::size_t column = 0; column < schema.fields.size(); ++column) {
            if (column != 0) text += ',';
            const auto begin = text.size();
            text += schema.fields[column].name;
            quote_if_needed(text, begin);
        }
        text += '\n';
    }

    void rows(const Table& part, Output& out) override {
        for_each_row(part, [&](const std::vector<PrintedColumn>& columns, std::uint64_t row) {
            append_row(out.buffer(), columns, row);
            out.settle();
            return !out.failed();
        });
    }

    void end(Output& out) override { out.settle(); }

private:
    static void append_row(std::string& text, const std::vector<PrintedColumn>& columns,
                           std::uint64_t row) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (i != 0) text += ',';
            if (columns[i].is_null(row)) continue;
            const auto begin = text.size();
            columns[i].append(text, row);
            if (columns[i].is_free_text()) quote_if_needed(text, begin);
        }
        text += '\n';
    }
};

}  // namespace

std::unique_ptr<Writer> make_csv_writer() { return std::make_unique<CsvWriter>(); }

}  // namespace shortq::cli
