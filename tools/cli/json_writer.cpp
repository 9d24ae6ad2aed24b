// JSON: an array of objects, or an object per line. Numbers of every width stay numbers, digit for
// digit; NaN and the infinities, which JSON does not have, are null; everything else is text.
#include <nlohmann/json.hpp>
#include <set>

#include "tools/cli/writer.h"

namespace shortq::cli {
namespace {

std::string json_text(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// `"name":` per column. Objects have each key once: a second "a" becomes "a_1".
std::vector<std::string> keys_of(const Schema& schema) {
    std::set<std::string> used;
    std::vector<std::string> keys;
    for (const auto& field : schema.fields) {
        auto name = field.name;
        for (int n = 1; !used.insert(name).second; ++n) name = field.name + "_" + std::to_string(n);
        keys.push_back(json_text(name) + ":");
    }
    return keys;
}

// DuckDB prints DECIMAL(2,2) as ".50"; JSON wants a digit before the point.
std::string number(std::string text) {
    if (text.find_first_of("0123456789") == std::string::npos) return "null";  // nan, inf
    const std::size_t digits = text.starts_with('-') ? 1 : 0;
    if (text[digits] == '.') text.insert(digits, 1, '0');
    return text;
}

std::string value(const Table& table, std::uint64_t row, std::size_t column) {
    if (table.is_null(row, column)) return "null";
    auto text = table.text(row, column);
    switch (kind_of(table.schema().fields[column])) {
        case ColumnKind::kBoolean:
            return text;
        case ColumnKind::kNumber:
            return number(std::move(text));
        case ColumnKind::kText:
            break;
    }
    return json_text(text);
}

class JsonWriter : public Writer {
public:
    explicit JsonWriter(bool one_per_line) : one_per_line_(one_per_line) {}

    void write(const Table& table, Output& out) override {
        const auto keys = keys_of(table.schema());
        if (!one_per_line_) out.append("[");
        for (std::uint64_t row = 0; row < table.rows() && !out.failed(); ++row) {
            if (!one_per_line_) out.append(row == 0 ? "\n" : ",\n");
            out.append("{");
            for (std::size_t column = 0; column < keys.size(); ++column) {
                if (column != 0) out.append(",");
                out.append(keys[column]);
                out.append(value(table, row, column));
            }
            out.append(one_per_line_ ? "}\n" : "}");
        }
        if (!one_per_line_) out.append(table.rows() == 0 ? "]\n" : "\n]\n");
    }

private:
    bool one_per_line_;
};

}  // namespace

std::unique_ptr<Writer> make_json_writer(bool one_per_line) {
    return std::make_unique<JsonWriter>(one_per_line);
}

}  // namespace shortq::cli
