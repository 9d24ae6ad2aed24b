// worker/engine/duckdb_catalog.h: what the catalog says, after a load, about ways to write that a
// query's own words do not show.
#pragma once

#include <duckdb.h>

#include <string>
#include <vector>

#include "proto/error.h"

namespace shortq::engine {

// The texts in the first column of the result, which is a VARCHAR without NULLs.
[[nodiscard]] Result<std::vector<std::string>> texts(duckdb_connection connection, const char* sql);

// What a reader's queries are to be kept from besides what every engine refuses.
struct Fence {
    // There are sequences in memory, and a view or macro of the script may call nextval(): queries
    // run in read-only transactions.
    bool sequences = false;
    // Table functions that came with the script's extensions. In lower case, sorted.
    std::vector<std::string> unjudged_functions;
};

// The extensions that are loaded now, sorted.
[[nodiscard]] Result<std::vector<std::string>> loaded_extensions(duckdb_connection connection);

// `foreign_functions`: there may be table functions that a new engine does not have; to find them
// takes longer than to load a small script.
[[nodiscard]] Result<Fence> find_fence(duckdb_connection connection, bool foreign_functions);

// Errors: kBadRequest if a database file is attached so that it may be written: several workers
// would write it at once, and its lock would make the next generation's load fail.
[[nodiscard]] Result<void> refuse_writable_files(duckdb_connection connection);

}  // namespace shortq::engine
