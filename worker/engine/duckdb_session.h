// worker/engine/duckdb_session.h: what a startup script leaves in its session and queries are to
// find there, though they run in a session of their own.
#pragma once

#include <duckdb.h>

#include <string>
#include <vector>

#include "proto/error.h"

namespace shortq::engine {

struct Session {
    std::vector<std::string> statements;  // Settings, variables and prepared statements, in order.
    std::vector<std::string> notes;       // What cannot be carried over, and why.
};

// Compares the script's connection with a fresh one of the same database, on which it tries what it
// finds: a temporary object, or a variable of a type that has no name, stays behind.
[[nodiscard]] Result<Session> session_of(duckdb_connection script, duckdb_connection fresh);

// Gives a new connection what the script's one had.
[[nodiscard]] Result<void> restore(const Session& session, duckdb_connection connection);

}  // namespace shortq::engine
