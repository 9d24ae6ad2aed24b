#include "tools/cli/printed_column.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <iterator>

namespace shortq::cli {
namespace {

bool is_text_format(const std::string& format) {
    return format == "u" || format == "U" || format == "vu";
}

template <class T>
void append_integer(std::string& out, T value) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

// As the engine does: the shortest digits that read back as the same number, "1.0", "1e+16".
template <class T>
void append_floating(std::string& out, T value) {
    const auto begin = out.size();
    fmt::format_to(std::back_inserter(out), "{}", value);
    if (out.find_first_of(".eni", begin) == std::string::npos) out += ".0";
}

}  // namespace

PrintedColumn::PrintedColumn(const Table& table, std::size_t column)
    : table_(&table), column_(column), kind_(kind_of(field())) {
    const auto& format = field().format;
    const auto& array = table.batches()[0].columns[column];
    const bool dictionary = !field().dictionary.empty();
    is_text_ = is_text_format(format) && !dictionary;
    free_text_ = is_text_ || dictionary || format.starts_with('+') || format.starts_with("vz") ||
                 format == "z" || format == "Z" || format.starts_with("w:");
    // Formats without a bitmap of their own: unions, and those without buffers.
    asks_table_ = dictionary || format.starts_with("+u") || array.buffers.empty();
    if (!asks_table_ && array.null_count != 0) validity_ = array.buffers[0].bytes;
    if (dictionary || format.size() != 1) return;
    try_values<std::int8_t>();
    try_values<std::int16_t>();
    try_values<std::int32_t>();
    try_values<std::int64_t>();
    try_values<std::uint8_t>();
    try_values<std::uint16_t>();
    try_values<std::uint32_t>();
    try_values<std::uint64_t>();
    try_values<float>();
    try_values<double>();
}

template <class T>
void PrintedColumn::try_values() {
    if (const auto values = table_->values<T>(0, column_)) values_ = *values;
}

void PrintedColumn::append(std::string& out, std::uint64_t row) const {
    if (is_text_) {
        out += view(row);
        return;
    }
    std::visit(
        [&](const auto& values) {
            using Values = std::decay_t<decltype(values)>;
            if constexpr (std::is_same_v<Values, std::monostate>) {
                out += table_->text(row, column_);
            } else if constexpr (std::is_floating_point_v<typename Values::value_type>) {
                append_floating(out, values[row]);
            } else {
                append_integer(out, values[row]);
            }
        },
        values_);
}

std::vector<PrintedColumn> columns_of(const Table& table) {
    std::vector<PrintedColumn> columns;
    columns.reserve(table.columns());
    for (std::size_t column = 0; column < table.columns(); ++column) {
        columns.emplace_back(table, column);
    }
    return columns;
}

}  // namespace shortq::cli
