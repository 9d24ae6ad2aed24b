#include "worker/engine/duckdb_session.h"

#include <algorithm>
#include <iterator>

#include "worker/engine/duckdb_catalog.h"
#include "worker/engine/duckdb_errors.h"

namespace shortq::engine {
namespace {

// The script's own settings hold for these queries as well: whatever depends on them is written
// out, such as ASC.

// Two settings show the default schema; search_path is the one that says all of it.
constexpr const char* kSettings =
    "SELECT 'SET ' || name || ' = ''' || replace(value, '''', '''''') || '''' "
    "FROM duckdb_settings() WHERE scope = 'LOCAL' AND value IS NOT NULL "
    "AND name NOT IN ('schema', 'custom_profiling_settings')";

constexpr const char* kVariables =
    "SELECT 'SET VARIABLE \"' || replace(name, '\"', '\"\"') || '\" = CAST(' || "
    "CASE WHEN value IS NULL THEN 'NULL' ELSE '''' || replace(value, '''', '''''') || '''' END || "
    "' AS ' || type || ')' FROM duckdb_variables() ORDER BY name ASC";

constexpr const char* kPrepared =
    "SELECT 'PREPARE \"' || replace(name, '\"', '\"\"') || '\" AS ' || statement "
    "FROM duckdb_prepared_statements() ORDER BY name ASC";

constexpr const char* kTemporary =
    "SELECT 'temporary table ' || table_name FROM duckdb_tables() WHERE temporary "
    "UNION ALL SELECT 'temporary view ' || view_name FROM duckdb_views() "
    "WHERE temporary AND NOT internal "
    "UNION ALL SELECT DISTINCT 'temporary macro ' || function_name FROM duckdb_functions() "
    "WHERE database_name = 'temp' AND NOT internal ORDER BY 1 ASC";

Result<void> append(std::vector<std::string>& to, Result<std::vector<std::string>> more) {
    if (!more) return tl::unexpected(more.error());
    std::ranges::move(*more, std::back_inserter(to));
    return {};
}

// What a new connection does not take is better noted here than the end of each worker.
void keep_what_works(Session& session, duckdb_connection fresh) {
    std::erase_if(session.statements, [&](const std::string& statement) {
        const auto done = execute(fresh, statement);
        if (!done) {
            session.notes.push_back("queries will not have what the startup script has set: " +
                                    statement + ": " + done.error().message);
        }
        return !done;
    });
}

}  // namespace

Result<Session> session_of(duckdb_connection script, duckdb_connection fresh) {
    Session session;
    auto own = texts(script, kSettings);
    if (!own) return tl::unexpected(own.error());
    auto usual = texts(fresh, kSettings);
    if (!usual) return tl::unexpected(usual.error());
    std::ranges::sort(*own);
    std::ranges::sort(*usual);
    std::ranges::set_difference(*own, *usual, std::back_inserter(session.statements));
    for (const char* sql : {kVariables, kPrepared}) {
        if (auto done = append(session.statements, texts(script, sql)); !done) {
            return tl::unexpected(done.error());
        }
    }
    keep_what_works(session, fresh);
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
