// JSON: an array of objects, or an object per line.
#include "tools/cli/json_text.h"
#include "tools/cli/json_value.h"
#include "tools/cli/printed_column.h"
#include "tools/cli/writer.h"

namespace shortq::cli {
namespace {

class JsonWriter : public Writer {
public:
    explicit JsonWriter(bool one_per_line) : one_per_line_(one_per_line) {}

    void begin(const Schema& schema, Output& out) override {
        keys_ = json_keys(schema.fields);
        any_ = false;
        if (!one_per_line_) out.append("[");
    }

    void rows(const Table& part, Output& out) override {
        for (const auto& batch : part.batches()) {
            const Table table(part.schema(), {batch}, {});
            write_batch(table, out);
        }
    }

    void end(Output& out) override {
        if (!one_per_line_) out.append(any_ ? "\n]\n" : "]\n");
    }

private:
    // Numbers, texts and booleans of a column are printed straight away, all else as a JsonValue.
    struct Cells {
        PrintedColumn column;
        std::vector<JsonValue> value;  // Empty or one.
    };

    static std::vector<Cells> cells_of(const Table& table) {
        std::vector<Cells> all;
        for (std::size_t i = 0; i < table.columns(); ++i) {
            Cells cells{PrintedColumn(table, i), {}};
            const auto& field = table.schema().fields[i];
            const bool text = field.format == "u" || field.format == "U" || field.format == "vu";
            const bool plain = field.format.size() == 1 && cells.column.kind() != ColumnKind::kText;
            if ((!text && !plain) || field.engine_type == "JSON" || !field.dictionary.empty() ||
                field.engine_type == "BIGNUM") {
                cells.value.emplace_back(field, field.engine_type, table.batches()[0].columns[i]);
            }
            all.push_back(std::move(cells));
        }
        return all;
    }

    void write_batch(const Table& table, Output& out) {
        const auto columns = cells_of(table);
        auto& text = out.buffer();
        for (std::uint64_t row = 0; row < table.rows() && !out.failed(); ++row) {
            if (!one_per_line_) text += any_ ? ",\n" : "\n";
            any_ = true;
            text += '{';
            for (std::size_t i = 0; i < columns.size(); ++i) {
                if (i != 0) text += ',';
                text += keys_[i];
                append_cell(text, columns[i], row);
            }
            text += one_per_line_ ? "}\n" : "}";
            out.settle();
        }
    }

    static void append_cell(std::string& text, const Cells& cells, std::uint64_t row) {
        if (!cells.value.empty()) {
            cells.value[0].append(text, row);
        } else if (cells.column.is_null(row)) {
            text += "null";
        } else if (cells.column.kind() == ColumnKind::kText) {
            append_json_string(text, cells.column.view(row));
        } else {
            const auto begin = text.size();
            cells.column.append(text, row);
            const char last = text.back();  // nan, inf, -inf: no digit.
            if (last == 'n' || last == 'f') text.replace(begin, std::string::npos, "null");
        }
    }

    bool one_per_line_;
    std::vector<std::string> keys_;
    bool any_ = false;
};

}  // namespace

std::unique_ptr<Writer> make_json_writer(bool one_per_line) {
    return std::make_unique<JsonWriter>(one_per_line);
}

}  // namespace shortq::cli
