// proto/kdb/parameter.h: one parameter of a statement, out of a kdb+ value. Private to proto/kdb.
#pragma once

#include <cstddef>

#include "proto/error.h"
#include "proto/kdb/bytes.h"
#include "proto/value.h"

namespace shortq::kdb {

// Takes one object from `reader`; query.h says what becomes of which. `number` counts from 1.
// Errors: kBadRequest naming number and type. `reader` may then be anywhere.
[[nodiscard]] Result<shortq::Value> read_parameter(ByteReader& reader, std::size_t number);

}  // namespace shortq::kdb
