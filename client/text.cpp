#include "client/text.h"

#include <algorithm>
#include <array>

#include "client/text_numbers.h"
#include "client/text_times.h"
#include "proto/cells.h"
#include "proto/engine_type.h"

namespace shortq::detail {
namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";

// A cell and what is known about its type.
struct Cell {
    const Field& field;
    std::string_view engine_type;
    const Array& array;
    std::int64_t row;
};

void append_cell(std::string& out, const Cell& cell);

// ---- bytes ----

void append_blob(std::string& out, std::string_view bytes) {
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f && c != '\\' && c != '\'' && c != '"') {
            out += c;
        } else {
            out.append("\\x").append(1, kHexDigits[byte >> 4]).append(1, kHexDigits[byte & 15]);
        }
    }
}

// DuckDB's storage of BIT: the number of padding bits, then the bits behind that padding.
void append_bits(std::string& out, std::string_view storage) {
    if (storage.empty()) return;
    const auto padding = static_cast<unsigned char>(storage[0]);
    for (std::size_t bit = padding; bit < (storage.size() - 1) * 8; ++bit) {
        const auto byte = static_cast<unsigned char>(storage[1 + bit / 8]);
        out += (byte >> (7 - bit % 8) & 1) != 0 ? '1' : '0';
    }
}

void append_uuid(std::string& out, std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
        for (const int digit : {static_cast<unsigned char>(bytes[i]) >> 4, bytes[i] & 15}) {
            const char c = kHexDigits[static_cast<std::size_t>(digit)];
            out += c >= 'A' ? static_cast<char>(c - 'A' + 'a') : c;
        }
    }
}

void append_bytes(std::string& out, const Cell& cell, std::string_view bytes) {
    const auto& format = cell.field.format;
    if (format == "u" || format == "U" || format == "vu") {
        out += bytes;
    } else if (cell.engine_type == "BIT") {
        append_bits(out, bytes);
    } else if (cell.engine_type == "BIGNUM" || cell.engine_type == "VARINT") {
        append_bignum(out, bytes);
    } else if (cell.engine_type == "UUID" && bytes.size() == 16) {
        append_uuid(out, bytes);
    } else {
        append_blob(out, bytes);
    }
}

// ---- nested values ----

bool is_nested(std::string_view format) { return format.starts_with('+'); }

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Inside a nested value, a text that could be misread is put in quotes.
bool needs_quotes(std::string_view text) {
    if (text.empty() || is_space(text.front()) || is_space(text.back())) return true;
    if (text.size() == 4 && std::ranges::equal(text, std::string_view("null"),
                                               [](char a, char b) { return (a | 0x20) == b; })) {
        return true;
    }
    return text.find_first_of("\"'(),:=[]{}") != std::string_view::npos;
}

void append_quoted(std::string& out, std::string_view text) {
    out += '\'';
    for (const char c : text) {
        if (c == '\'' || c == '\\') out += '\\';
        out += c;
    }
    out += '\'';
}

void append_element(std::string& out, const Cell& cell) {
    if (is_nested(cell.field.format) || cell.engine_type == "JSON" ||
        null_at(cell.field, cell.array, cell.row)) {
        append_cell(out, cell);
        return;
    }
    std::string text;
    append_cell(text, cell);
    if (needs_quotes(text)) {
        append_quoted(out, text);
    } else {
        out += text;
    }
}

void append_list(std::string& out, const Cell& cell, const Range& range) {
    out += '[';
    for (auto row = range.begin; row < range.end; ++row) {
        if (row != range.begin) out += ", ";
        append_element(out, {cell.field.children[0], element_type(cell.engine_type),
                             cell.array.children[0], row});
    }
    out += ']';
}

void append_struct(std::string& out, const Cell& cell) {
    const auto& fields = cell.field.children;
    const bool named = std::ranges::none_of(fields, &std::string::empty, &Field::name);
    out += named ? '{' : '(';
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (i != 0) out += ", ";
        if (named) {
            append_quoted(out, fields[i].name);
            out += ": ";
        }
        append_element(out, {fields[i], argument_type(cell.engine_type, i, named),
                             cell.array.children[i], cell.row});
    }
    out += named ? '}' : ')';
}

void append_map(std::string& out, const Cell& cell, const Range& range) {
    const auto& entries = cell.field.children[0];
    const auto& entry_array = cell.array.children[0];
    out += '{';
    for (auto row = range.begin; row < range.end; ++row) {
        if (row != range.begin) out += ", ";
        append_element(out, {entries.children[0], argument_type(cell.engine_type, 0, false),
                             entry_array.children[0], row});
        out += '=';
        append_element(out, {entries.children[1], argument_type(cell.engine_type, 1, false),
                             entry_array.children[1], row});
    }
    out += '}';
}

bool append_nested(std::string& out, const Cell& cell) {
    if (const auto range = list_range(cell.field.format, cell.array, cell.row)) {
        cell.field.format == "+m" ? append_map(out, cell, *range) : append_list(out, cell, *range);
    } else if (cell.field.format == "+s") {
        append_struct(out, cell);
    } else if (const auto member = union_cell(cell.field.format, cell.array, cell.row)) {
        append_cell(out, {cell.field.children[member->child],
                          argument_type(cell.engine_type, member->child, true),
                          cell.array.children[member->child], member->row});
    } else {
        return false;
    }
    return true;
}

// ---- numbers and times ----

std::int64_t units_per_second(char unit) {
    switch (unit) {
        case 's':
            return 1;
        case 'm':
            return 1'000;
        case 'u':
            return 1'000'000;
        default:
            return 1'000'000'000;
    }
}

bool append_interval_cell(std::string& out, const Cell& cell) {
    const auto& values = cell.array.buffers[1];
    if (cell.field.format == "tin") {
        const auto* slot = values.bytes.data() + static_cast<std::size_t>(cell.row) * 16;
        Interval interval;
        std::memcpy(&interval.months, slot, 4);
        std::memcpy(&interval.days, slot + 4, 4);
        std::memcpy(&interval.nanoseconds, slot + 8, 8);
        append_interval(out, interval);
        return true;
    }
    if (cell.field.format == "tiM") {
        append_interval(out, {.months = load<std::int32_t>(values, cell.row)});
        return true;
    }
    return false;
}

bool append_time_cell(std::string& out, const Cell& cell) {
    const std::string_view format = cell.field.format;
    if (format.size() < 3 || format[0] != 't') return false;
    const auto& values = cell.array.buffers[1];
    const auto per_second = units_per_second(format[2]);
    if (format == "tdD") {
        append_date(out, load<std::int32_t>(values, cell.row));
    } else if (format == "tdm") {
        append_date(out,
                    static_cast<std::int32_t>(load<std::int64_t>(values, cell.row) / (86'400'000)));
    } else if (format[1] == 't') {
        const bool narrow = format[2] == 's' || format[2] == 'm';
        append_time(
            out,
            narrow ? load<std::int32_t>(values, cell.row) : load<std::int64_t>(values, cell.row),
            per_second);
    } else if (format[1] == 's') {
        const bool zoned = !format.ends_with(':');
        append_timestamp(out, load<std::int64_t>(values, cell.row), per_second, zoned);
    } else {
        return append_interval_cell(out, cell);
    }
    return true;
}

bool append_number_cell(std::string& out, const Cell& cell) {
    const std::string_view format = cell.field.format;
    if (format == "b") {
        out += bit_at(cell.array.buffers[1], cell.row) ? "true" : "false";
    } else if (is_integer(format)) {
        append_integer(out, integer_at(format, cell.array, cell.row));
    } else if (format == "f") {
        append_floating(out, load<float>(cell.array.buffers[1], cell.row));
    } else if (format == "g") {
        append_floating(out, load<double>(cell.array.buffers[1], cell.row));
    } else if (const auto decimal = decimal_format(format)) {
        const auto value = decimal_at(*decimal, cell.array, cell.row);
        if (cell.engine_type == "UHUGEINT") {
            append_unsigned(out, static_cast<UInt128>(value));
        } else {
            append_decimal(out, value, *decimal);
        }
    } else {
        return false;
    }
    return true;
}

void append_cell(std::string& out, const Cell& cell) {
    if (null_at(cell.field, cell.array, cell.row)) {
        out += "NULL";
    } else if (!cell.field.dictionary.empty()) {
        const auto index = integer_at(cell.field.format, cell.array, cell.row);
        append_cell(out, {cell.field.dictionary[0],
                          {},
                          cell.array.dictionary[0],
                          static_cast<std::int64_t>(index)});
    } else if (const auto bytes = bytes_at(cell.field.format, cell.array, cell.row)) {
        append_bytes(out, cell, *bytes);
    } else if (!append_number_cell(out, cell) && !append_time_cell(out, cell) &&
               !append_nested(out, cell)) {
        out.append("<").append(cell.field.format).append(">");  // No format of DuckDB's.
    }
}

}  // namespace

void append_text(std::string& out, const Field& field, std::string_view engine_type,
                 const Array& array, std::int64_t row) {
    append_cell(out, {field, engine_type, array, row});
}

}  // namespace shortq::detail
