#include "shortq/column.h"

#include <algorithm>
#include <cassert>
#include <type_traits>

#include "client/text.h"
#include "client/wrong_type.h"
#include "proto/cells.h"

namespace shortq {
namespace {

bool stores_integers(std::string_view format, std::size_t width, bool is_signed) {
    if (format.size() == 1) {
        constexpr std::string_view kSigned = "csil";
        constexpr std::string_view kUnsigned = "CSIL";
        const auto at = (is_signed ? kSigned : kUnsigned).find(format[0]);
        return at != std::string_view::npos && std::size_t{1} << at == width;
    }
    if (!is_signed || !format.starts_with('t')) return false;
    if (format == "tdD" || format == "tts" || format == "ttm" || format == "tiM") return width == 4;
    return width == 8 && (format == "tdm" || format == "ttu" || format == "ttn" ||
                          format.starts_with("ts") || format.starts_with("tD"));
}

// Whether a format keeps its values as an array of Ts.
template <class T>
bool stores(std::string_view format) {
    if constexpr (std::is_same_v<T, Interval>) {
        return format == "tin";
    } else if constexpr (std::is_same_v<T, Int128>) {
        const auto decimal = detail::decimal_format(format);
        return decimal && decimal->bits == 128;
    } else if constexpr (std::is_floating_point_v<T>) {
        return format == (sizeof(T) == sizeof(float) ? "f" : "g");
    } else {
        return stores_integers(format, sizeof(T), std::is_signed_v<T>);
    }
}

tl::unexpected<Error> null_cell() { return fail(ErrorCode::kBadRequest, "the cell is NULL"); }

}  // namespace

bool Column::is_null(std::int64_t row) const {
    assert(row >= 0 && row < size());
    return detail::null_at(*field_, *array_, row);
}

std::string Column::text(std::int64_t row) const {
    assert(row >= 0 && row < size());
    std::string out;
    detail::append_text(out, *field_, field_->engine_type, *array_, row);
    return out;
}

template <class T>
Result<std::span<const T>> Column::values() const {
    if (!stores<T>(field_->format)) {
        return detail::wrong_type(*field_, "stored as the type asked for");
    }
    if (array_->length == 0) return std::span<const T>{};
    return std::span<const T>(reinterpret_cast<const T*>(array_->buffers[1].bytes.data()),
                              static_cast<std::size_t>(array_->length));
}

template Result<std::span<const std::int8_t>> Column::values() const;
template Result<std::span<const std::int16_t>> Column::values() const;
template Result<std::span<const std::int32_t>> Column::values() const;
template Result<std::span<const std::int64_t>> Column::values() const;
template Result<std::span<const std::uint8_t>> Column::values() const;
template Result<std::span<const std::uint16_t>> Column::values() const;
template Result<std::span<const std::uint32_t>> Column::values() const;
template Result<std::span<const std::uint64_t>> Column::values() const;
template Result<std::span<const float>> Column::values() const;
template Result<std::span<const double>> Column::values() const;
template Result<std::span<const Int128>> Column::values() const;
template Result<std::span<const Interval>> Column::values() const;

Result<bool> Column::boolean(std::int64_t row) const {
    if (field_->format != "b") return detail::wrong_type(*field_, "a boolean");
    if (is_null(row)) return null_cell();
    return detail::bit_at(array_->buffers[1], row);
}

Result<std::string_view> Column::view(std::int64_t row) const {
    if (is_null(row)) return null_cell();
    if (!field_->dictionary.empty()) {
        const auto index = detail::integer_at(field_->format, *array_, row);
        return Column(field_->dictionary[0], array_->dictionary[0])
            .view(static_cast<std::int64_t>(index));
    }
    if (const auto bytes = detail::bytes_at(field_->format, *array_, row)) return *bytes;
    return detail::wrong_type(*field_, "text or a blob");
}

Column Column::child(std::size_t index) const {
    assert(index < children());
    return {field_->children[index], array_->children[index]};
}

Result<Column> Column::child(std::string_view name) const {
    const auto& fields = field_->children;
    const auto found = std::ranges::find(fields, name, &Field::name);
    if (found == fields.end()) return detail::no_such(name, fields);
    return child(static_cast<std::size_t>(found - fields.begin()));
}

Result<Column::Range> Column::list(std::int64_t row) const {
    const auto range = detail::list_range(field_->format, *array_, row);
    if (!range) return detail::wrong_type(*field_, "a list");
    if (is_null(row)) return null_cell();
    return Range{range->begin, range->end};
}

Result<Column::Member> Column::member(std::int64_t row) const {
    const auto cell = detail::union_cell(field_->format, *array_, row);
    if (!cell) return detail::wrong_type(*field_, "a union");
    return Member{cell->child, cell->row};
}

Result<Column> Column::dictionary() const {
    if (field_->dictionary.empty()) return detail::wrong_type(*field_, "an enum");
    return Column(field_->dictionary[0], array_->dictionary[0]);
}

}  // namespace shortq
