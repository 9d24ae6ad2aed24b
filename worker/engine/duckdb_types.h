// worker/engine/duckdb_types.h: DuckDB's types by their SQL names, both ways.
#pragma once

#include <duckdb.h>

#include <string>
#include <string_view>

namespace shortq::engine {

// "BIGINT", "DECIMAL(18,3)", "STRUCT(a INTEGER, b VARCHAR[])", "ENUM('x', 'y')", "JSON".
[[nodiscard]] std::string type_name(duckdb_logical_type type);

// The type id of a host column or parameter: BIGINT, DOUBLE, VARCHAR, BOOLEAN, TIMESTAMP, DATE,
// BLOB. DUCKDB_TYPE_INVALID for any other name.
[[nodiscard]] duckdb_type host_type(std::string_view name);

}  // namespace shortq::engine
