// worker/engine/duckdb_parameters.h: binds a request's parameters to a prepared statement.
#pragma once

#include <duckdb.h>

#include <span>

#include "proto/value.h"
#include "worker/engine/duckdb_handles.h"

namespace shortq::engine {

// Errors: kBadRequest naming the parameters that are missing or too many.
[[nodiscard]] Result<void> bind_parameters(duckdb_prepared_statement prepared,
                                           std::span<const Parameter> parameters);

[[nodiscard]] DuckValue to_duckdb(const Value& value);

// A parameter of a host call. `type` is one that host_type() knows.
[[nodiscard]] Value from_duckdb(duckdb_value value, duckdb_type type);

}  // namespace shortq::engine
