// worker/engine/duckdb_handles.h: one owner per kind of DuckDB C handle, destroyed in its own way.
#pragma once

#include <duckdb.h>

#include <string>
#include <utility>

namespace shortq::engine {

// Owns a handle that `Destroy` takes by address and nulls. Moved-from and default: no handle.
template <class Handle, auto Destroy>
class Owned {
public:
    Owned() = default;
    explicit Owned(Handle handle) : handle_(handle) {}
    Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Owned& operator=(Owned&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Owned() {
        if (handle_ != nullptr) Destroy(&handle_);
    }

    [[nodiscard]] Handle get() const noexcept { return handle_; }
    [[nodiscard]] Handle* out() noexcept { return &handle_; }  // Pre: holds none.
    explicit operator bool() const noexcept { return handle_ != nullptr; }

private:
    Handle handle_ = nullptr;
};

using Database = Owned<duckdb_database, duckdb_close>;
using Connection = Owned<duckdb_connection, duckdb_disconnect>;
using Config = Owned<duckdb_config, duckdb_destroy_config>;
using Extracted = Owned<duckdb_extracted_statements, duckdb_destroy_extracted>;
using Prepared = Owned<duckdb_prepared_statement, duckdb_destroy_prepare>;
using Chunk = Owned<duckdb_data_chunk, duckdb_destroy_data_chunk>;
using LogicalType = Owned<duckdb_logical_type, duckdb_destroy_logical_type>;
using DuckValue = Owned<duckdb_value, duckdb_destroy_value>;
using ErrorData = Owned<duckdb_error_data, duckdb_destroy_error_data>;
using ArrowOptions = Owned<duckdb_arrow_options, duckdb_destroy_arrow_options>;
using TableFunction = Owned<duckdb_table_function, duckdb_destroy_table_function>;

// A result is a struct, not a pointer; it may be destroyed whether its query failed or not.
class QueryResult {
public:
    QueryResult() = default;
    QueryResult(const QueryResult&) = delete;
    QueryResult& operator=(const QueryResult&) = delete;
    ~QueryResult() { duckdb_destroy_result(&result_); }
    [[nodiscard]] duckdb_result* get() noexcept { return &result_; }

private:
    duckdb_result result_{};
};

// A string that DuckDB allocated, copied and freed.
[[nodiscard]] inline std::string take_string(char* text) {
    std::string out = text == nullptr ? std::string() : std::string(text);
    duckdb_free(text);
    return out;
}

}  // namespace shortq::engine
