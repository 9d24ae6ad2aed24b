#include "shortq/table.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <limits>

#include "client/cells.h"
#include "client/text.h"

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

tl::unexpected<Error> wrong_type(const Field& field, std::string_view wanted) {
    const auto& type = field.engine_type.empty() ? field.format : field.engine_type;
    return fail(ErrorCode::kBadRequest,
                "column \"" + field.name + "\" has type " + type + ": not " + std::string(wanted));
}

// Whether a format keeps its values as an array of Ts.
bool stores(std::string_view format, std::size_t width, bool floating, bool is_signed) {
    if (format.empty()) return false;
    if (floating) return format == (width == 4 ? "f" : "g");
    if (format.size() == 1) {
        constexpr std::string_view kSigned = "csil";
        constexpr std::string_view kUnsigned = "CSIL";
        const auto at = (is_signed ? kSigned : kUnsigned).find(format[0]);
        return at != std::string_view::npos && std::size_t{1} << at == width;
    }
    if (!is_signed || format[0] != 't') return false;
    if (format == "tdD" || format == "tts" || format == "ttm" || format == "tiM") return width == 4;
    return width == 8 && (format == "tdm" || format == "ttu" || format == "ttn" ||
                          format.starts_with("ts") || format.starts_with("tD"));
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
    std::string names;
    for (const auto& field : fields) names += (names.empty() ? "" : ", ") + field.name;
    return fail(ErrorCode::kNotFound, "no column \"" + std::string(name) + "\"; there " +
                                          (names.empty() ? "are none" : "is: " + names));
}

template <class T>
Result<std::span<const T>> Table::values(std::size_t batch, std::size_t column) const {
    assert(batch < batches_.size() && column < columns());
    const auto& field = schema_.fields[column];
    if (!field.dictionary.empty() ||
        !stores(field.format, sizeof(T), std::is_floating_point_v<T>, std::is_signed_v<T>)) {
        return wrong_type(field, "stored as the type asked for");
    }
    const auto& array = batches_[batch].columns[column];
    if (array.length == 0) return std::span<const T>{};
    return std::span<const T>(reinterpret_cast<const T*>(array.buffers[1].bytes.data()),
                              static_cast<std::size_t>(array.length));
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
        return wrong_type(field, "a whole number");
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
        return wrong_type(field, "a number");
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
    const auto& field = schema_.fields[column];
    if (detail::null_at(field, place.array, place.row)) {
        return fail(ErrorCode::kBadRequest, "the cell is NULL");
    }
    if (!field.dictionary.empty()) {
        const auto index = detail::integer_at(field.format, place.array, place.row);
        const auto bytes = detail::bytes_at(field.dictionary[0].format, place.array.dictionary[0],
                                            static_cast<std::int64_t>(index));
        if (bytes) return *bytes;
    } else if (const auto bytes = detail::bytes_at(field.format, place.array, place.row)) {
        return *bytes;
    }
    return wrong_type(field, "text or a blob");
}

}  // namespace shortq
