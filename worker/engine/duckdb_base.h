// worker/engine/duckdb_base.h: what has to hold of a loaded database before it is forked: its files
// are locked, its data is in memory, and nothing of it lies in a temporary file.
#pragma once

#include <duckdb.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "worker/engine/engine.h"
#include "worker/engine/unique_fd.h"

namespace shortq::engine {

// Shared locks on every attached database file. fcntl's own locks, which DuckDB takes, belong to
// one process and are not inherited; these (F_OFD_SETLK, fcntl(2)) belong to the open file, so that
// no other process opens the file for writing as long as one worker lives.
// Errors: kBadRequest naming a file that cannot be locked: another process writes it.
[[nodiscard]] Result<std::vector<UniqueFd>> lock_database_files(duckdb_connection connection);

// Makes half of the memory free, as far as what was read of files takes it up: queries want room.
void drop_file_pages(duckdb_connection connection, std::uint64_t memory_limit_bytes);

// Reads the tables of attached database files into the buffer pool, the smaller ones first, as far
// as `warm` says. Notes what had no room. Errors: kQueryError naming a table that cannot be read,
// kUnavailable if memory was short, kCancelled.
[[nodiscard]] Result<void> warm_tables(duckdb_connection connection, Warm warm,
                                       std::uint64_t memory_limit_bytes,
                                       const std::atomic<bool>& stop,
                                       std::vector<std::string>& notes);

// The bytes that the engine holds in memory now.
[[nodiscard]] Result<std::uint64_t> memory_used(duckdb_connection connection);

// The bytes, in memory or spilled, that it must keep: it cannot read them again from a file.
[[nodiscard]] Result<std::uint64_t> memory_held(duckdb_connection connection);

// The bytes that it has written to its spill folder and may want back.
[[nodiscard]] Result<std::uint64_t> bytes_spilled(duckdb_connection connection);

}  // namespace shortq::engine
