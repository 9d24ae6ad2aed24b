// worker/engine/duckdb_sources.h: puts a source's data before a DuckDB connection.
#pragma once

#include <duckdb.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "proto/error.h"

namespace shortq::engine {

// Runs a script, attaches a database read-only and makes it the default one, or makes a view of
// each data file. `notes` takes what was left out. Stops with kCancelled once `stop` is set.
// Effect: the source's folder becomes the process's working folder.
// Errors: kQueryError with `where` = script:line; kBadRequest for a source that cannot be opened.
[[nodiscard]] Result<void> load_source(duckdb_connection connection,
                                       const std::filesystem::path& source,
                                       const std::atomic<bool>& stop,
                                       std::vector<std::string>& notes);

// The folder that queries may read because the source lies in it.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& source);

}  // namespace shortq::engine
