// worker/engine/duckdb_errors.h: DuckDB's errors as Error values, its text passed on whole.
#pragma once

#include <duckdb.h>

#include <string>

#include "proto/error.h"

namespace shortq::engine {

// kCancelled for an interrupted query, kInternal for a FATAL or INTERNAL error, kReadOnly for a
// write that the engine itself refuses, else kQueryError.
[[nodiscard]] Error error_from(const char* text);

// The error of a result whose query failed. Pre: there is one.
[[nodiscard]] Error error_from(duckdb_result* result);

// Whether a limit of memory was in the way.
[[nodiscard]] bool is_out_of_memory(const Error& error);

// Runs every statement of `sql` and drops what it returns. Not gated: for our own statements and
// the startup script.
[[nodiscard]] Result<void> execute(duckdb_connection connection, const std::string& sql);

}  // namespace shortq::engine
