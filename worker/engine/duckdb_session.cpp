#include "worker/engine/duckdb_session.h"

#include <algorithm>
#include <iterator>

#include "worker/engine/duckdb_catalog.h"
#include "worker/engine/duckdb_errors.h"

namespace shortq::engine {
namespace {

// Two settings show the default schema; search_path is the one that says all of it.
constexpr const char* kSettings =
    "SELECT 'SET ' || name || ' = ''' || replace(value, '''', '''''') || '''' "
    "FROM duckdb_settings() WHERE scope = 'LOCAL' AND value IS NOT NULL "
    "AND name NOT IN ('schema', 'custom_profiling_settings') ORDER BY name";

constexpr const char* kVariables =
    "SELECT 'SET VARIABLE \"' || replace(name, '\"', '\"\"') || '\" = CAST(' || "
    "CASE WHEN value IS NULL THEN 'NULL' ELSE '''' || replace(value, '''', '''''') || '''' END || "
    "' AS ' || type || ')' FROM duckdb_variables() ORDER BY name";

constexpr const char* kPrepared =
    "SELECT 'PREPARE \"' || replace(name, '\"', '\"\"') || '\" AS ' || statement "
    "FROM duckdb_prepared_statements() ORDER BY name";

constexpr const char* kTemporary =
    "SELECT 'temporary table ' || table_name FROM duckdb_tables() WHERE temporary "
    "UNION ALL SELECT 'temporary view ' || view_name FROM duckdb_views() "
    "WHERE temporary AND NOT internal "
    "UNION ALL SELECT DISTINCT 'temporary macro ' || function_name FROM duckdb_functions() "
    "WHERE database_name = 'temp' AND NOT internal ORDER BY 1";

Result<void> append(std::vector<std::string>& to, Result<std::vector<std::string>> more) {
    if (!more) return tl::unexpected(more.error());
    std::ranges::move(*more, std::back_inserter(to));
    return {};
}

}  // namespace

Result<Session> session_of(duckdb_connection script, duckdb_connection fresh) {
    Session session;
    const auto own = texts(script, kSettings);
    if (!own) return tl::unexpected(own.error());
    const auto usual = texts(fresh, kSettings);
    if (!usual) return tl::unexpected(usual.error());
    std::ranges::set_difference(*own, *usual, std::back_inserter(session.statements));
    for (const char* sql : {kVariables, kPrepared}) {
        if (auto done = append(session.statements, texts(script, sql)); !done) {
            return tl::unexpected(done.error());
        }
    }
    const auto lost = texts(script, kTemporary);
    if (!lost) return tl::unexpected(lost.error());
    for (const std::string& what : *lost) {
        session.notes.push_back(what + " ends with the startup script: create it without TEMP");
    }
    return session;
}

Result<void> restore(const Session& session, duckdb_connection connection) {
    for (const std::string& statement : session.statements) {
        if (auto done = execute(connection, statement); !done) return done;
    }
    return {};
}

}  // namespace shortq::engine
