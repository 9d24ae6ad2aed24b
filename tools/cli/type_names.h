// tools/cli/type_names.h: finds the parts of an engine type's name, for nested values: results name
// the types of whole columns only, and some types share an Arrow format (BIT and BLOB do).
#pragma once

#include <cstddef>
#include <string_view>

namespace shortq::cli {

// The type of child number `index` of a type: of "INTEGER[]" or "BIT[3]" the element, of
// "STRUCT(a BIT, "b c" INTEGER)", "UNION(...)" and "MAP(VARCHAR, BIT)" an argument, without its
// name. Empty if there is none.
[[nodiscard]] std::string_view child_type(std::string_view type, std::size_t index);

}  // namespace shortq::cli
