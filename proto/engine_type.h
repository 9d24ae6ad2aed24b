// proto/engine_type.h: finds the parts of a DuckDB type's name. A few types share an Arrow format
// (BIT and BLOB are both "z"), and only the outermost field names its type: the names of nested
// ones are read out of it.
#pragma once

#include <cstddef>
#include <string_view>

namespace shortq::detail {

// The element type of "INTEGER[]" and "INTEGER[3]"; empty if `type` is no list.
[[nodiscard]] std::string_view element_type(std::string_view type);

// Argument number `index` of "STRUCT(a BIT, "b c" INTEGER)", "UNION(...)" or "MAP(VARCHAR, BIT)",
// without its name if `named`; empty if there is none.
[[nodiscard]] std::string_view argument_type(std::string_view type, std::size_t index, bool named);

}  // namespace shortq::detail
