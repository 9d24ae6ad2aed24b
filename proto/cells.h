// proto/cells.h: reads single cells of Arrow-layout arrays. The only place that knows where a
// format keeps its values. Everything here trusts what proto::assemble() has proven.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "proto/columnar.h"

namespace shortq::detail {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

// Value number `index` of a buffer of Ts.
template <class T>
[[nodiscard]] T load(const Buffer& buffer, std::int64_t index) {
    T value;
    std::memcpy(&value, buffer.bytes.data() + static_cast<std::size_t>(index) * sizeof(T),
                sizeof(T));
    return value;
}

[[nodiscard]] bool bit_at(const Buffer& buffer, std::int64_t index);

// Whether the cell is null; for a union or dictionary, whether what it points at is.
[[nodiscard]] bool null_at(const Field& field, const Array& array, std::int64_t row);

// Integers of every width ("c" to "L"), as a dictionary's index too.
[[nodiscard]] bool is_integer(std::string_view format);
[[nodiscard]] Int128 integer_at(std::string_view format, const Array& array, std::int64_t row);

// "d:PRECISION,SCALE[,BITS]"; nothing for other formats and for 256 bits.
struct DecimalFormat {
    int precision = 0;
    int scale = 0;
    int bits = 128;
};
[[nodiscard]] std::optional<DecimalFormat> decimal_format(std::string_view format);
[[nodiscard]] Int128 decimal_at(const DecimalFormat& format, const Array& array, std::int64_t row);

// The bytes of a text, blob or fixed-width binary cell; nothing for other formats.
[[nodiscard]] std::optional<std::string_view> bytes_at(std::string_view format, const Array& array,
                                                       std::int64_t row);

// The child rows of a list, map or fixed-size list cell; nothing for other formats.
struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};
[[nodiscard]] std::optional<Range> list_range(std::string_view format, const Array& array,
                                              std::int64_t row);

// The member that a union cell holds, and the row in that member's array; nothing for other
// formats.
struct UnionCell {
    std::size_t child = 0;
    std::int64_t row = 0;
};
[[nodiscard]] std::optional<UnionCell> union_cell(std::string_view format, const Array& array,
                                                  std::int64_t row);

}  // namespace shortq::detail
