// shortq/column.h: typed access to a column's values where they lie, nested ones included.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "proto/columnar.h"
#include "proto/error.h"

namespace shortq {

// The storage of HUGEINT and of a DECIMAL, a whole number of 128 bits that the scale divides.
struct Int128 {
    std::uint64_t low = 0;
    std::int64_t high = 0;
    bool operator==(const Int128&) const = default;
};

// The storage of an INTERVAL (Arrow "tin").
struct Interval {
    std::int32_t months = 0;
    std::int32_t days = 0;
    std::int64_t nanoseconds = 0;
    bool operator==(const Interval&) const = default;
};

// The values of one column in one batch, or the children of nested values. Rows count from 0 in
// this array; a row out of range is the caller's mistake (asserted).
// Threads: immutable. Owns: nothing; the table that it came from must live.
class Column {
public:
    Column(const Field& field, const Array& array) : field_(&field), array_(&array) {}

    [[nodiscard]] const Field& field() const noexcept { return *field_; }
    [[nodiscard]] std::int64_t size() const noexcept { return array_->length; }
    [[nodiscard]] bool is_null(std::int64_t row) const;
    // As the engine would print it; "NULL" for a null.
    [[nodiscard]] std::string text(std::int64_t row) const;

    // Numbers and times, all of them at once. T is the storage that the type has:
    //   TINYINT int8_t, SMALLINT int16_t, INTEGER and DATE (days since 1970-01-01) int32_t, BIGINT,
    //   TIME and TIMESTAMP (since midnight, 1970-01-01T00:00Z, in the unit of field().format)
    //   int64_t, the unsigned ones alike, FLOAT float, DOUBLE double, HUGEINT and DECIMAL Int128,
    //   INTERVAL Interval, ENUM its index into dictionary() (uint8_t, uint16_t or uint32_t).
    // Null slots hold unspecified values. Errors: kBadRequest names the type if T is not its
    // storage.
    template <class T>
    [[nodiscard]] Result<std::span<const T>> values() const;

    // BOOLEAN. Errors: kBadRequest for another type, or a null.
    [[nodiscard]] Result<bool> boolean(std::int64_t row) const;
    // The bytes of text, of a blob, or of an enum's value. Errors: as boolean().
    [[nodiscard]] Result<std::string_view> view(std::int64_t row) const;

    // ---- Nested types: STRUCT has a child per member, LIST and ARRAY have one of all values, MAP
    // has one of structs of key and value, UNION one per member.

    [[nodiscard]] std::size_t children() const noexcept { return field_->children.size(); }
    // Pre: index < children().
    [[nodiscard]] Column child(std::size_t index = 0) const;
    // Errors: kNotFound names the children there are.
    [[nodiscard]] Result<Column> child(std::string_view name) const;

    // Where the values of this list, array or map are in child(). Errors: as boolean().
    struct Range {
        std::int64_t begin = 0;
        std::int64_t end = 0;
    };
    [[nodiscard]] Result<Range> list(std::int64_t row) const;

    // Which child holds this union's value, and in which row. Errors: as boolean().
    struct Member {
        std::size_t child = 0;
        std::int64_t row = 0;
    };
    [[nodiscard]] Result<Member> member(std::int64_t row) const;

    // The values of an ENUM. Errors: kBadRequest for another type.
    [[nodiscard]] Result<Column> dictionary() const;

private:
    const Field* field_;
    const Array* array_;
};

}  // namespace shortq
