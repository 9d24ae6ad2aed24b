// client/text.h: a cell as DuckDB's own cast to VARCHAR prints it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proto/columnar.h"

namespace shortq::detail {

// Appends the cell's text; "NULL" for a null. `engine_type` is the type's name in the engine, empty
// if unknown: it tells apart types that share an Arrow format.
// Pre: the array has passed proto::assemble() with this field, and has this row.
void append_text(std::string& out, const Field& field, std::string_view engine_type,
                 const Array& array, std::int64_t row);

}  // namespace shortq::detail
