// proto/format.h: what an Arrow format string says about a column's buffers. For whoever fills or
// reads such buffers; not part of the client's API.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace shortq::proto {

enum class Shape : std::uint8_t {
    kNull,        // n: no buffers.
    kBits,        // b: validity, bits.
    kFixed,       // Numbers, times, decimals, w:N: validity, values of `width` bytes.
    kBytes32,     // u z: validity, int32 offsets, data.
    kBytes64,     // U Z: validity, int64 offsets, data.
    kViews,       // vu vz: validity, 16-byte views, any number of data buffers.
    kList32,      // +l: validity, int32 offsets; one child.
    kList64,      // +L: validity, int64 offsets; one child.
    kListView32,  // +vl: validity, int32 offsets, int32 sizes; one child.
    kListView64,  // +vL: validity, int64 offsets, int64 sizes; one child.
    kFixedList,   // +w:N: validity; one child, `width` of its values per row.
    kStruct,      // +s: validity; any children.
    kMap,         // +m: validity, int32 offsets; one child, a struct of key and value.
    kSparse,      // +us: type ids; a child per id, as long as the union.
    kDense,       // +ud: type ids, int32 offsets; a child per id.
    kRunEnds,     // +r: no buffers; children run ends and values.
};

inline constexpr std::size_t kTypeIdsMax = 128;
inline constexpr std::int8_t kNoChild = -1;

struct Format {
    Shape shape = Shape::kNull;
    std::uint64_t width = 0;        // kFixed: bytes of a value. kFixedList: values of a row.
    std::size_t type_ids = 0;       // Unions: how many.
    bool dictionary_index = false;  // An integer that may index a dictionary.
    std::array<std::int8_t, kTypeIdsMax> child_of_id{};  // Unions: by type id; kNoChild if unused.
};

// Nothing if the string is not exactly one of the formats above.
[[nodiscard]] std::optional<Format> parse_format(std::string_view text);

[[nodiscard]] constexpr bool has_validity(Shape shape) {
    return shape != Shape::kNull && shape != Shape::kSparse && shape != Shape::kDense &&
           shape != Shape::kRunEnds;
}

// Buffers of a node; for kViews the least.
[[nodiscard]] std::size_t buffer_count(Shape shape);

}  // namespace shortq::proto
