// proto/kdb/column.h: how a column of a result, and what is nested in it, is written as kdb+
// values. Private to proto/kdb.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/columnar.h"
#include "proto/error.h"
#include "proto/kdb/types.h"

namespace shortq::kdb {

// What a column holds, in the engine's words.
enum class Form : std::uint8_t {
    kNull,
    kBoolean,
    kInt8,
    kUint8,
    kInt16,
    kUint16,
    kInt32,
    kUint32,
    kInt64,
    kUint64,
    kInt128,
    kUint128,
    kFloat32,
    kFloat64,
    kDecimal,
    kGuid,
    kText,
    kBlob,
    kDate,
    kTimestamp,
    kTime,
    kInterval,
    kList,
    kMap,
    kStruct,
};

// One field of the schema.
struct ColumnNode {
    const Field* field = nullptr;
    Form form = Form::kNull;
    std::int64_t per_second = 1;         // Of a timestamp or time: its units.
    std::vector<std::string> names{};    // Of a struct: its keys.
    std::vector<ColumnNode> children{};  // A list's items; a map's keys and values; a struct's.

    // What measuring has found. All that is written follows from this.
    std::uint64_t items = 0;
    std::uint64_t text_bytes = 0;  // Of texts and blobs.
    bool nulls = false;            // A boolean is null: sent as shorts.
    bool wide = false;             // A whole number does not fit a long: sent as floats.
    bool char_vectors = false;     // Asked for, or a text has a NUL: no symbols.
};

// Errors: kBadRequest: a type without a counterpart, `field`'s or nested in it.
[[nodiscard]] Result<ColumnNode> make_node(const Field& field, bool texts_as_char_vectors);

// The type of a vector of such items; kList if each item has a type of its own.
[[nodiscard]] Type vector_type(const ColumnNode& node);
// Of all items measured, without the vector's head.
[[nodiscard]] std::uint64_t items_bytes(const ColumnNode& node);

// A vector's type, attribute and count.
inline constexpr std::size_t kVectorHeadBytes = 6;
void append_vector_head(Type type, std::uint64_t count, std::vector<std::byte>& out);
void append_symbols(const std::vector<std::string>& symbols, std::vector<std::byte>& out);
[[nodiscard]] std::uint64_t symbols_bytes(const std::vector<std::string>& symbols);  // With head.

// Rows of an array.
struct Rows {
    const Array& array;
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

// What a value is that kdb+ cannot hold, and in which row of the result, counted from 0.
struct Misfit {
    std::uint64_t row = 0;
    std::string_view what{};
};

// Measures the rows of a column, the first of which is row `first_row` of the result.
// Returns false and fills `misfit` at the first value that kdb+ cannot hold.
[[nodiscard]] bool measure(ColumnNode& node, const Rows& rows, std::uint64_t first_row,
                           Misfit& misfit);

// Appends the rows as items of a vector. Pre: measured.
void append_items(const ColumnNode& node, const Rows& rows, std::vector<std::byte>& out);

}  // namespace shortq::kdb
