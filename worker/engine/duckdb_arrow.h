// worker/engine/duckdb_arrow.h: DuckDB results as Schema and Batch, by DuckDB's own Arrow export.
// Source: Arrow C data interface (structure definitions, format strings, release callbacks).
#pragma once

#include <duckdb.h>

#include "proto/columnar.h"
#include "proto/error.h"

namespace shortq::engine {

// Errors: kInternal if DuckDB cannot express a type in Arrow.
[[nodiscard]] Result<Schema> schema_of(duckdb_arrow_options options, duckdb_result* result);

// Owns: the batch's buffers share the exported array; no value is copied.
// Errors: kInternal if the export fails or does not have the schema's layout.
[[nodiscard]] Result<Batch> batch_of(duckdb_arrow_options options, const Schema& schema,
                                     duckdb_data_chunk chunk);

}  // namespace shortq::engine
