#include "worker/engine/duckdb_base.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "worker/engine/duckdb_catalog.h"
#include "worker/engine/duckdb_errors.h"
#include "worker/engine/duckdb_handles.h"
#include "worker/engine/sql_lexer.h"

namespace shortq::engine {
namespace {

Result<UniqueFd> lock_shared(const std::string& path) {
    UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct flock lock {};
    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    if (!file || ::fcntl(file.get(), F_OFD_SETLK, &lock) != 0) {
        return fail(ErrorCode::kBadRequest,
                    std::string("cannot be locked for reading, is another process writing it? (") +
                        std::strerror(errno) + ")",
                    path);
    }
    return file;
}

// The first column of the first row; 0 if it is NULL.
Result<std::uint64_t> number(duckdb_connection connection, const std::string& sql) {
    auto found = texts(connection, ("SELECT coalesce((" + sql + "), 0)::VARCHAR").c_str());
    if (!found) return tl::unexpected(found.error());
    return found->empty() ? 0 : std::stoull(found->front());
}

struct FileTable {
    std::string name;  // As in SQL.
    std::uint64_t bytes = 0;
};

// Every table of every attached file, the smallest first. The size is an upper bound: of whole
// blocks, which several columns may share.
Result<std::vector<FileTable>> file_tables(duckdb_connection connection) {
    const auto names = texts(
        connection,
        "SELECT format('\"{}\".\"{}\".\"{}\"', replace(database_name, '\"', '\"\"'), "
        "replace(schema_name, '\"', '\"\"'), replace(table_name, '\"', '\"\"')) "
        "FROM duckdb_tables() JOIN duckdb_databases() USING (database_name) "
        "WHERE path IS NOT NULL AND path <> '' AND readonly ORDER BY estimated_size ASC, 1 ASC");
    if (!names) return tl::unexpected(names.error());
    std::vector<FileTable> tables;
    for (const std::string& name : *names) {
        auto bytes = number(connection,
                            "SELECT count(DISTINCT block_id) * (SELECT max(block_size) FROM "
                            "pragma_database_size()) FROM pragma_storage_info(" +
                                quote_literal(name) + ") WHERE block_id >= 0");
        // That function does not understand a name with a quote in it.
        if (!bytes)
            bytes = number(connection,
                           "SELECT sum(used_blocks * block_size) FROM pragma_database_size()");
        if (!bytes) return tl::unexpected(bytes.error());
        tables.push_back({name, *bytes});
    }
    return tables;
}

// No query could read that table either; unless it is only that there was no room, or no time.
Error unreadable(const std::string& table, const Error& why, bool stopped) {
    if (stopped) return Error{ErrorCode::kCancelled, "the load was interrupted", {}, false};
    if (is_out_of_memory(why)) return Error{ErrorCode::kUnavailable, why.message, {}, false};
    return Error{
        ErrorCode::kQueryError,
        table + " cannot be read (--warm off would not read it in advance): " + why.message,
        {},
        false};
}

}  // namespace

Result<std::vector<UniqueFd>> lock_database_files(duckdb_connection connection) {
    const auto paths = texts(connection,
                             "SELECT DISTINCT path FROM duckdb_databases() "
                             "WHERE NOT internal AND path IS NOT NULL AND path <> ''");
    if (!paths) return tl::unexpected(paths.error());
    std::vector<UniqueFd> locks;
    for (const std::string& path : *paths) {
        auto lock = lock_shared(path);
        if (!lock) return tl::unexpected(lock.error());
        locks.push_back(std::move(*lock));
    }
    return locks;
}

void drop_file_pages(duckdb_connection connection, std::uint64_t memory_limit_bytes) {
    const auto used = memory_used(connection);
    if (memory_limit_bytes == 0 || !used || *used <= memory_limit_bytes / 2) return;
    const auto limit_to = [&](std::uint64_t bytes) {
        return execute(connection, "SET memory_limit='" + std::to_string(bytes) + "B'");
    };
    // A limit that is too low fails once everything that may go has gone, and may stay set.
    (void)limit_to(memory_limit_bytes / 2);
    (void)limit_to(memory_limit_bytes);
}

Result<void> warm_tables(duckdb_connection connection, Warm warm, std::uint64_t memory_limit_bytes,
                         const std::atomic<bool>& stop, std::vector<std::string>& notes) {
    if (warm == Warm::kOff) return {};
    const auto tables = file_tables(connection);
    if (!tables) return tl::unexpected(tables.error());
    for (const FileTable& table : *tables) {
        if (stop) return fail(ErrorCode::kCancelled, "the load was interrupted");
        const auto used = memory_used(connection);
        if (!used) return tl::unexpected(used.error());
        // Half of the memory is left for what the workers' queries need.
        if (warm == Warm::kAuto && memory_limit_bytes > 0 &&
            *used + table.bytes > memory_limit_bytes / 2) {
            notes.push_back(table.name +
                            " is not read in advance: no room within --memory-limit; each worker "
                            "reads what it needs (--warm all reads it anyway)");
            continue;
        }
        const auto read =
            execute(connection, "SELECT bit_xor(hash(COLUMNS(*))) FROM " + table.name);
        if (!read) return tl::unexpected(unreadable(table.name, read.error(), stop));
    }
    return {};
}

Result<std::uint64_t> memory_used(duckdb_connection connection) {
    return number(connection, "SELECT sum(memory_usage_bytes) FROM duckdb_memory()");
}

Result<std::uint64_t> memory_held(duckdb_connection connection) {
    return number(connection,
                  "SELECT sum(memory_usage_bytes + temporary_storage_bytes) FROM duckdb_memory() "
                  "WHERE tag NOT IN ('BASE_TABLE', 'METADATA', 'EXTERNAL_FILE_CACHE')");
}

Result<std::uint64_t> bytes_spilled(duckdb_connection connection) {
    return number(connection, "SELECT sum(temporary_storage_bytes) FROM duckdb_memory()");
}

}  // namespace shortq::engine
