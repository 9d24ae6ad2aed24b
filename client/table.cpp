#include "shortq/table.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <limits>

#include "client/text.h"
#include "client/wrong_type.h"
#include "proto/cells.h"

namespace shortq {
namespace {

// A cell, found by its row number over all batches.
struct Place {
    const Array& array;
    std::int64_t row;
};

Place find(std::span<const Batch> batches, std::span<const std::uint64_t> ends, std::uint64_t row,
           std::size_t column) {
    const auto end = std::ranges::upper_bound(ends, row);
    assert(end != ends.end());
    const auto batch = static_cast<std::size_t>(end - ends.begin());
    const std::uint64_t begin = batch == 0 ? 0 : ends[batch - 1];
    assert(column < batches[batch].columns.size());
    return {batches[batch].columns[column], static_cast<std::int64_t>(row - begin)};
}

}  // namespace

Table::Table(Schema schema, std::vector<Batch> batches, ReplyFacts facts)
    : schema_(std::move(schema)), batches_(std::move(batches)), facts_(facts) {
    batch_ends_.reserve(batches_.size());
    for (const auto& batch : batches_) {
        rows_ += static_cast<std::uint64_t>(batch.rows);
        batch_ends_.push_back(rows_);
    }
}

Result<std::size_t> Table::column(std::string_view name) const {
    const auto& fields = schema_.fields;
    const auto found = std::ranges::find(fields, name, &Field::name);
    if (found != fields.end()) return static_cast<std::size_t>(found - fields.begin());
    return detail::no_such(name, fields);
}

template <class T>
Result<std::span<const T>> Table::values(std::size_t batch, std::size_t column) const {
    return chunk(batch, column).values<T>();
}

template Result<std::span<const std::int8_t>> Table::values(std::size_t, std::size_t) const;
template Result<std::span<const std::int16_t>> Table::values(std::size_t, std::size_t) const;
template Result<std::span<const std::int32_t>> Table::values(std::size_t, std::size_t) const;
template Result<std::span<const std::int64_t>> Table::values(std::size_t, std::size_t) const;
template Result<std::span<const std::uint8_t>> Table::values(std::size_t, std::size_t) const;
template Result<std::span<const std::uint16_t>> Table::values(std::size_t, std::size_t) const;
template Result<std::span<const std::uint32_t>> Table::values(std::size_t, std::size_t) const;
template Result<std::span<const std::uint64_t>> Table::values(std::size_t, std::size_t) const;
template Result<std::span<const float>> Table::values(std::size_t, std::size_t) const;
template Result<std::span<const double>> Table::values(std::size_t, std::size_t) const;
template Result<std::span<const Int128>> Table::values(std::size_t, std::size_t) const;
template Result<std::span<const Interval>> Table::values(std::size_t, std::size_t) const;

Column Table::chunk(std::size_t batch, std::size_t column) const {
    assert(batch < batches_.size() && column < columns());
    return {schema_.fields[column], batches_[batch].columns[column]};
}

bool Table::is_null(std::uint64_t row, std::size_t column) const {
    const auto place = find(batches_, batch_ends_, row, column);
    return detail::null_at(schema_.fields[column], place.array, place.row);
}

std::string Table::text(std::uint64_t row, std::size_t column) const {
    const auto place = find(batches_, batch_ends_, row, column);
    const auto& field = schema_.fields[column];
    std::string out;
    detail::append_text(out, field, field.engine_type, place.array, place.row);
    return out;
}

Result<std::int64_t> Table::integer(std::uint64_t row, std::size_t column) const {
    const auto place = find(batches_, batch_ends_, row, column);
    const auto& field = schema_.fields[column];
    const auto decimal = detail::decimal_format(field.format);
    const bool whole = detail::is_integer(field.format) || (decimal && decimal->scale == 0);
    if ((!whole && field.format != "b") || !field.dictionary.empty()) {
        return detail::wrong_type(field, "a whole number");
    }
    if (detail::null_at(field, place.array, place.row)) {
        return fail(ErrorCode::kBadRequest, "the cell is NULL");
    }
    if (field.format == "b") return detail::bit_at(place.array.buffers[1], place.row) ? 1 : 0;
    const auto value = decimal ? detail::decimal_at(*decimal, place.array, place.row)
                               : detail::integer_at(field.format, place.array, place.row);
    if (value < std::numeric_limits<std::int64_t>::min() ||
        value > std::numeric_limits<std::int64_t>::max()) {
        return fail(ErrorCode::kBadRequest, text(row, column) + " does not fit into 64 bits");
    }
    return static_cast<std::int64_t>(value);
}

Result<double> Table::number(std::uint64_t row, std::size_t column) const {
    const auto place = find(batches_, batch_ends_, row, column);
    const auto& field = schema_.fields[column];
    const bool floating = field.format == "f" || field.format == "g";
    const bool exact = detail::is_integer(field.format) || detail::decimal_format(field.format);
    if ((!floating && !exact && field.format != "b") || !field.dictionary.empty()) {
        return detail::wrong_type(field, "a number");
    }
    if (detail::null_at(field, place.array, place.row)) {
        return fail(ErrorCode::kBadRequest, "the cell is NULL");
    }
    const auto& values = place.array.buffers[1];
    if (field.format == "b") return detail::bit_at(values, place.row) ? 1 : 0;
    if (field.format == "f") return detail::load<float>(values, place.row);
    if (field.format == "g") return detail::load<double>(values, place.row);
    double value = 0;
    const auto digits = text(row, column);
    std::from_chars(digits.data(), digits.data() + digits.size(),
                    value);  // Rounds once, and right.
    return value;
}

Result<std::string_view> Table::view(std::uint64_t row, std::size_t column) const {
    const auto place = find(batches_, batch_ends_, row, column);
    return Column(schema_.fields[column], place.array).view(place.row);
}

}  // namespace shortq
