// proto/kdb/texts.h: walks texts and blobs, however their format keeps them. Private to proto/kdb.
#pragma once

#include <cstdint>
#include <string_view>

#include "proto/cells.h"
#include "proto/kdb/column.h"
#include "proto/kdb/leaf.h"

namespace shortq::kdb {

// The value of a dictionary column's row; empty if it is null.
[[nodiscard]] inline std::string_view dictionary_text(const Field& field, const Array& array,
                                                      std::int64_t row) {
    if (shortq::detail::null_at(field, array, row)) return {};
    const auto index =
        static_cast<std::int64_t>(shortq::detail::integer_at(field.format, array, row));
    return *shortq::detail::bytes_at(field.dictionary[0].format, array.dictionary[0], index);
}

// Calls visit(text) for each row, with an empty text for a null.
template <class Visit>
void for_each_text(const Field& field, const Rows& rows, Visit visit) {
    const Array& array = rows.array;
    if (!field.dictionary.empty()) {
        for (auto row = rows.begin; row < rows.end; ++row)
            visit(dictionary_text(field, array, row));
        return;
    }
    if (field.format == "u" || field.format == "z") {  // By far the most; spares a look per cell.
        const auto* data = reinterpret_cast<const char*>(array.buffers[2].bytes.data());
        for (auto row = rows.begin; row < rows.end; ++row) {
            const auto begin = shortq::detail::load<std::int32_t>(array.buffers[1], row);
            const auto end = shortq::detail::load<std::int32_t>(array.buffers[1], row + 1);
            const bool empty = begin == end || !is_valid(array, row);
            visit(empty ? std::string_view{}
                        : std::string_view(data + begin, static_cast<std::size_t>(end - begin)));
        }
        return;
    }
    for (auto row = rows.begin; row < rows.end; ++row) {
        visit(is_valid(array, row) ? *shortq::detail::bytes_at(field.format, array, row)
                                   : std::string_view{});
    }
}

}  // namespace shortq::kdb
