// proto/kdb/column_append.cpp: the second pass over a column: its bytes.
#include <cstring>
#include <limits>

#include "proto/cells.h"
#include "proto/kdb/bytes.h"
#include "proto/kdb/column.h"
#include "proto/kdb/leaf.h"
#include "proto/kdb/texts.h"

namespace shortq::kdb {
namespace {

using shortq::detail::load;
using Bytes = std::vector<std::byte>;

constexpr double kNullFloat = std::numeric_limits<double>::quiet_NaN();
constexpr float kNullReal = std::numeric_limits<float>::quiet_NaN();

template <class To, class Convert>
void append_numbers(const Rows& rows, To null, Convert convert, Bytes& out) {
    auto* to = grow(out, static_cast<std::size_t>(rows.end - rows.begin) * sizeof(To));
    const auto put = [&to](To value) {
        std::memcpy(to, &value, sizeof value);
        to += sizeof value;
    };
    if (rows.array.null_count == 0) {
        for (auto row = rows.begin; row < rows.end; ++row) put(convert(row));
    } else {
        for (auto row = rows.begin; row < rows.end; ++row)
            put(is_valid(rows.array, row) ? convert(row) : null);
    }
}

// Numbers whose bytes are the same on both sides, apart from nulls.
template <class T>
void append_same(const Rows& rows, T null, Bytes& out) {
    const Buffer& values = rows.array.buffers[1];
    if (rows.array.null_count == 0) {
        const auto begin = static_cast<std::size_t>(rows.begin) * sizeof(T);
        const auto end = static_cast<std::size_t>(rows.end) * sizeof(T);
        return append_bytes(values.bytes.subspan(begin, end - begin), out);
    }
    append_numbers<T>(
        rows, null, [&](std::int64_t row) { return load<T>(values, row); }, out);
}

template <class From, class To>
void append_widened(const Rows& rows, To null, Bytes& out) {
    append_numbers<To>(
        rows, null,
        [&](std::int64_t row) { return static_cast<To>(load<From>(rows.array.buffers[1], row)); },
        out);
}

// Whole numbers that may not fit a long.
template <class From>
void append_wide(const ColumnNode& node, const Rows& rows, Bytes& out) {
    if (node.wide) {
        append_widened<From, double>(rows, kNullFloat, out);
    } else {
        append_widened<From, std::int64_t>(rows, kNullLong, out);
    }
}

void append_booleans(const ColumnNode& node, const Rows& rows, Bytes& out) {
    const auto bit = [&](std::int64_t row) {
        return shortq::detail::bit_at(rows.array.buffers[1], row);
    };
    if (node.nulls) {
        append_numbers<std::int16_t>(
            rows, kNullShort, [&](auto row) { return static_cast<std::int16_t>(bit(row)); }, out);
    } else {
        append_numbers<std::uint8_t>(
            rows, std::uint8_t{0}, [&](auto row) { return static_cast<std::uint8_t>(bit(row)); },
            out);
    }
}

void append_decimals(const ColumnNode& node, const Rows& rows, Bytes& out) {
    const auto format = *shortq::detail::decimal_format(node.field->format);
    append_numbers<double>(
        rows, kNullFloat,
        [&](std::int64_t row) {
            return decimal_to_double(shortq::detail::decimal_at(format, rows.array, row),
                                     format.scale);
        },
        out);
}

void append_guids(const ColumnNode& node, const Rows& rows, Bytes& out) {
    append_numbers<Guid>(
        rows, Guid{},
        [&](std::int64_t row) {
            return parse_guid(*shortq::detail::bytes_at(node.field->format, rows.array, row))
                .value_or(Guid{});
        },
        out);
}

void append_dates(const Rows& rows, Bytes& out) {
    append_numbers<std::int32_t>(
        rows, kNullInt,
        [&](std::int64_t row) {
            std::int32_t to = 0;
            return to_date(load<std::int32_t>(rows.array.buffers[1], row), to) ? to : kNullInt;
        },
        out);
}

void append_timestamps(const ColumnNode& node, const Rows& rows, Bytes& out) {
    append_numbers<std::int64_t>(
        rows, kNullLong,
        [&](std::int64_t row) {
            std::int64_t to = 0;
            const auto units = load<std::int64_t>(rows.array.buffers[1], row);
            return to_timestamp(units, node.per_second, to) ? to : kNullLong;
        },
        out);
}

// Of a day, so nothing overflows; whoever sends more gets a wrong time, no undefined one.
template <class From>
void append_times(const ColumnNode& node, const Rows& rows, Bytes& out) {
    const auto nanos = static_cast<std::uint64_t>(kNanosPerSecond / node.per_second);
    append_numbers<std::int64_t>(
        rows, kNullLong,
        [&](std::int64_t row) {
            const std::int64_t units = load<From>(rows.array.buffers[1], row);
            return static_cast<std::int64_t>(static_cast<std::uint64_t>(units) * nanos);
        },
        out);
}

void append_intervals(const Rows& rows, Bytes& out) {
    append_numbers<std::int64_t>(
        rows, kNullLong,
        [&](std::int64_t row) {
            std::int64_t to = 0;
            return to_timespan(load<Interval>(rows.array.buffers[1], row), to) ? to : kNullLong;
        },
        out);
}

void append_symbol_items(const ColumnNode& node, const Rows& rows, Bytes& out) {
    std::size_t bytes = 0;
    for_each_text(*node.field, rows, [&](std::string_view text) { bytes += text.size() + 1; });
    auto* to = grow(out, bytes);
    for_each_text(*node.field, rows, [&](std::string_view text) {
        if (!text.empty()) std::memcpy(to, text.data(), text.size());
        to += text.size();
        *to++ = std::byte{0};
    });
}

void append_vectors_of(Type type, const ColumnNode& node, const Rows& rows, Bytes& out) {
    for_each_text(*node.field, rows, [&](std::string_view text) {
        append_vector_head(type, text.size(), out);
        append_text(text, out);
    });
}

void append_type(int type, Bytes& out) { out.push_back(static_cast<std::byte>(type)); }

// ---- nested values ----

void append_nothings(std::int64_t count, Bytes& out) {
    for (; count > 0; --count) {
        append_type(static_cast<int>(Type::kUnary), out);
        append_type(0, out);
    }
}

// A vector of a list's items.
void append_vector(const ColumnNode& node, const Array& array, shortq::detail::Range range,
                   Bytes& out) {
    append_vector_head(vector_type(node), static_cast<std::uint64_t>(range.end - range.begin), out);
    append_items(node, {array, range.begin, range.end}, out);
}

// The rows that a list or map holds; none if it is null.
shortq::detail::Range range_of(const ColumnNode& node, const Array& array, std::int64_t row) {
    if (!is_valid(array, row)) return {};
    return *shortq::detail::list_range(node.field->format, array, row);
}

void append_lists(const ColumnNode& node, const Rows& rows, Bytes& out) {
    for (auto row = rows.begin; row < rows.end; ++row)
        append_vector(node.children[0], rows.array.children[0], range_of(node, rows.array, row),
                      out);
}

void append_maps(const ColumnNode& node, const Rows& rows, Bytes& out) {
    const auto& entries = rows.array.children[0].children;
    for (auto row = rows.begin; row < rows.end; ++row) {
        const auto range = range_of(node, rows.array, row);
        append_type(static_cast<int>(Type::kDictionary), out);
        append_vector(node.children[0], entries[0], range, out);
        append_vector(node.children[1], entries[1], range, out);
    }
}

// A struct's members, up to their values.
void append_struct_head(const ColumnNode& node, Bytes& out) {
    append_type(static_cast<int>(Type::kDictionary), out);
    append_symbols(node.names, out);
    append_vector_head(Type::kList, node.children.size(), out);
}

// In a general list, an atom has its type in front; what has a type of its own has it already.
void append_atom_type(const ColumnNode& node, Bytes& out) {
    const Type type = vector_type(node);
    if (type != Type::kList) append_type(-static_cast<int>(type), out);
}

// The null of one item, as a value of a general list.
void append_null(const ColumnNode& node, Bytes& out) {
    // Nothing is read of an array whose only row is null.
    static const Array null_row{
        .length = 1, .null_count = 1, .buffers = std::vector<Buffer>(3, [] {
                                          static constexpr std::byte kZeros[8]{};
                                          return Buffer{.bytes = kZeros};
                                      }())};
    append_atom_type(node, out);
    switch (node.form) {
        case Form::kStruct:
            append_struct_head(node, out);
            for (const ColumnNode& child : node.children) append_null(child, out);
            return;
        case Form::kMap:
            append_type(static_cast<int>(Type::kDictionary), out);
            append_vector_head(vector_type(node.children[0]), 0, out);
            append_vector_head(vector_type(node.children[1]), 0, out);
            return;
        case Form::kList:
            append_vector_head(vector_type(node.children[0]), 0, out);
            return;
        default:
            append_items(node, {null_row, 0, 1}, out);
    }
}

void append_structs(const ColumnNode& node, const Rows& rows, Bytes& out) {
    for (auto row = rows.begin; row < rows.end; ++row) {
        append_struct_head(node, out);
        const bool valid = is_valid(rows.array, row);
        for (std::size_t i = 0; i < node.children.size(); ++i) {
            const ColumnNode& child = node.children[i];
            if (!valid) {
                append_null(child, out);
                continue;
            }
            append_atom_type(child, out);
            append_items(child, {rows.array.children[i], row, row + 1}, out);
        }
    }
}

void append_general(const ColumnNode& node, const Rows& rows, Bytes& out) {
    switch (node.form) {
        case Form::kNull:
            return append_nothings(rows.end - rows.begin, out);
        case Form::kText:
            return node.char_vectors ? append_vectors_of(Type::kChar, node, rows, out)
                                     : append_symbol_items(node, rows, out);
        case Form::kBlob:
            return append_vectors_of(Type::kByte, node, rows, out);
        case Form::kList:
            return append_lists(node, rows, out);
        case Form::kMap:
            return append_maps(node, rows, out);
        default:
            return append_structs(node, rows, out);
    }
}

}  // namespace

void append_items(const ColumnNode& node, const Rows& rows, std::vector<std::byte>& out) {
    if (rows.begin == rows.end) return;
    switch (node.form) {
        case Form::kBoolean:
            return append_booleans(node, rows, out);
        case Form::kInt8:
            return append_widened<std::int8_t>(rows, kNullShort, out);
        case Form::kUint8:
            return append_widened<std::uint8_t>(rows, kNullShort, out);
        case Form::kInt16:
            return append_same(rows, kNullShort, out);
        case Form::kUint16:
            return append_widened<std::uint16_t>(rows, kNullInt, out);
        case Form::kInt32:
            return append_same(rows, kNullInt, out);
        case Form::kUint32:
            return append_widened<std::uint32_t>(rows, kNullLong, out);
        case Form::kInt64:
            return append_same(rows, kNullLong, out);
        case Form::kUint64:
            return append_wide<std::uint64_t>(node, rows, out);
        case Form::kInt128:
            return append_wide<Int128>(node, rows, out);
        case Form::kUint128:
            return append_wide<UInt128>(node, rows, out);
        case Form::kFloat32:
            return append_same(rows, kNullReal, out);
        case Form::kFloat64:
            return append_same(rows, kNullFloat, out);
        case Form::kDecimal:
            return append_decimals(node, rows, out);
        case Form::kGuid:
            return append_guids(node, rows, out);
        case Form::kDate:
            return append_dates(rows, out);
        case Form::kTimestamp:
            return append_timestamps(node, rows, out);
        case Form::kTime: {
            const bool narrow = node.per_second < 1'000'000;  // "tts" and "ttm".
            return narrow ? append_times<std::int32_t>(node, rows, out)
                          : append_times<std::int64_t>(node, rows, out);
        }
        case Form::kInterval:
            return append_intervals(rows, out);
        default:
            return append_general(node, rows, out);
    }
}

}  // namespace shortq::kdb
