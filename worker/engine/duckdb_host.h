// worker/engine/duckdb_host.h: the host program's tables and procedures as DuckDB table functions.
#pragma once

#include <duckdb.h>

#include <memory>
#include <optional>
#include <vector>

#include "proto/error.h"
#include "worker/engine/engine.h"

namespace shortq::engine {

// Owns what the functions registered with a database refer to; must outlive the database.
class DuckDbHost {
public:
    DuckDbHost(std::vector<HostTable> tables, std::vector<HostCall> calls);
    DuckDbHost(const DuckDbHost&) = delete;
    DuckDbHost& operator=(const DuckDbHost&) = delete;
    ~DuckDbHost();

    // Errors: kInternal for a type that host_type() does not know, or DuckDB's own refusal.
    [[nodiscard]] Result<void> install(duckdb_connection connection);

    // The error of the last call that the host refused, with its code, once. DuckDB passes on only
    // its text.
    [[nodiscard]] std::optional<Error> take_error();

private:
    struct Table;
    struct Call;
    [[nodiscard]] static Result<void> install_table(duckdb_connection connection, Table& host);
    [[nodiscard]] static Result<void> install_call(duckdb_connection connection, Call& host);

    std::vector<std::unique_ptr<Table>> tables_;
    std::vector<std::unique_ptr<Call>> calls_;
    std::unique_ptr<std::optional<Error>> error_;
};

}  // namespace shortq::engine
