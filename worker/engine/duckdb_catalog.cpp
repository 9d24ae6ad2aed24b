#include "worker/engine/duckdb_catalog.h"

#include <algorithm>
#include <iterator>

#include "worker/engine/duckdb_errors.h"
#include "worker/engine/duckdb_handles.h"
#include "worker/engine/sql_lexer.h"

namespace shortq::engine {

Result<std::vector<std::string>> texts(duckdb_connection connection, const char* sql) {
    QueryResult result;
    if (duckdb_query(connection, sql, result.get()) != DuckDBSuccess) {
        return tl::unexpected(error_from(result.get()));
    }
    std::vector<std::string> out;
    while (const Chunk chunk{duckdb_fetch_chunk(*result.get())}) {
        const duckdb_vector column = duckdb_data_chunk_get_vector(chunk.get(), 0);
        auto* values = static_cast<duckdb_string_t*>(duckdb_vector_get_data(column));
        for (idx_t row = 0; row < duckdb_data_chunk_get_size(chunk.get()); ++row) {
            out.emplace_back(duckdb_string_t_data(&values[row]),
                             duckdb_string_t_length(values[row]));
        }
    }
    return out;
}

namespace {

Result<std::vector<std::string>> table_functions(duckdb_connection connection) {
    auto names = texts(connection,
                       "SELECT DISTINCT lower(function_name) FROM duckdb_functions() "
                       "WHERE function_type = 'table'");
    if (names) std::ranges::sort(*names);
    return names;
}

Result<std::vector<std::string>> functions_of_a_new_engine() {
    Database database;
    Connection connection;
    if (duckdb_open(nullptr, database.out()) != DuckDBSuccess ||
        duckdb_connect(database.get(), connection.out()) != DuckDBSuccess) {
        return fail(ErrorCode::kInternal, "the engine gives no second database");
    }
    return table_functions(connection.get());
}

}  // namespace

Result<std::vector<std::string>> loaded_extensions(duckdb_connection connection) {
    return texts(connection,
                 "SELECT extension_name FROM duckdb_extensions() WHERE loaded "
                 "ORDER BY extension_name");
}

Result<Fence> find_fence(duckdb_connection connection, bool foreign_functions) {
    const auto sequences = texts(connection,
                                 "SELECT sequence_name FROM duckdb_sequences() "
                                 "JOIN duckdb_databases() USING (database_name) "
                                 "WHERE NOT readonly LIMIT 1");
    if (!sequences) return tl::unexpected(sequences.error());
    Fence fence;
    fence.sequences = !sequences->empty();
    if (!foreign_functions) return fence;
    const auto known = functions_of_a_new_engine();
    if (!known) return tl::unexpected(known.error());
    const auto now = table_functions(connection);
    if (!now) return tl::unexpected(now.error());
    std::ranges::set_difference(*now, *known, std::back_inserter(fence.unjudged_functions));
    return fence;
}

Result<void> refuse_writable_files(duckdb_connection connection) {
    const auto files = texts(connection,
                             "SELECT database_name || chr(10) || path FROM duckdb_databases() "
                             "WHERE NOT internal AND NOT readonly AND path <> ''");
    if (!files) return tl::unexpected(files.error());
    if (files->empty()) return {};
    const std::string& file = files->front();
    const std::size_t cut = file.find('\n');
    return fail(ErrorCode::kBadRequest,
                "the script leaves a database attached that can be written; write ATTACH " +
                    quote_literal(file.substr(cut + 1)) + " AS " +
                    quote_identifier(file.substr(0, cut)) +
                    " (READ_ONLY), or DETACH it at the end");
}

}  // namespace shortq::engine
