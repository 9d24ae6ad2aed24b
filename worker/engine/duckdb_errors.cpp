#include "worker/engine/duckdb_errors.h"

#include <string_view>

#include "worker/engine/duckdb_handles.h"

namespace shortq::engine {

Error error_from(const char* text) {
    Error error;
    error.message = text == nullptr ? "the engine gave no reason" : text;
    const std::string_view message = error.message;
    if (message.starts_with("INTERRUPT Error")) {
        error.code = ErrorCode::kCancelled;
    } else if (message.starts_with("INTERNAL Error") || message.starts_with("FATAL Error")) {
        error.code = ErrorCode::kInternal;
    } else if (message.find("transaction is launched in read-only mode") != message.npos ||
               message.find("which is attached in read-only mode") != message.npos) {
        error.code = ErrorCode::kReadOnly;
    } else {
        error.code = ErrorCode::kQueryError;
    }
    return error;
}

Error error_from(duckdb_result* result) {
    Error error = error_from(duckdb_result_error(result));
    const duckdb_error_type type = duckdb_result_error_type(result);
    if (type == DUCKDB_ERROR_INTERRUPT) error.code = ErrorCode::kCancelled;
    if (type == DUCKDB_ERROR_FATAL || type == DUCKDB_ERROR_INTERNAL) {
        error.code = ErrorCode::kInternal;
    }
    return error;
}

bool is_out_of_memory(const Error& error) {
    return error.message.starts_with("Out of Memory Error");
}

Result<void> execute(duckdb_connection connection, const std::string& sql) {
    QueryResult result;
    if (duckdb_query(connection, sql.c_str(), result.get()) != DuckDBSuccess) {
        return tl::unexpected(error_from(result.get()));
    }
    return {};
}

}  // namespace shortq::engine
