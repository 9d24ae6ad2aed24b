// worker/engine/engine.h: what evaluates a query. The worker's query loop and the primary's sync
// executor know engines only through this interface.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/columnar.h"
#include "proto/error.h"
#include "proto/value.h"

namespace shortq::engine {

// A relation that the host program computes on demand, visible to queries as schema.name: the
// primary's `shortq.workers`. `rows` is called by the thread that runs the query, at each use.
struct HostTable {
    struct Column {
        std::string name;
        std::string type;  // SQL: BIGINT, DOUBLE, VARCHAR, BOOLEAN, TIMESTAMP.
    };
    std::string schema;
    std::string name;
    std::vector<Column> columns;
    std::function<std::vector<std::vector<Value>>()> rows;
};

// A procedure of the host program, as `call name(arguments)`: one row that says what it did.
// `invoke` runs on the thread that runs the query and may block until the host has acted.
struct HostCall {
    std::string name;
    std::vector<std::string> parameter_types;  // SQL type names.
    std::vector<HostTable::Column> columns;
    std::function<Result<std::vector<Value>>(std::span<const Value>)> invoke;
};

enum class Access : std::uint8_t {
    kReadOnly,  // Workers: only statements that read (design: the whitelist and the second fence).
    kWritable,  // Workers with --writable: may change their own memory, never a file.
    kSync,      // The primary's own engine: as kWritable; session state persists between requests.
};

struct EngineOptions {
    Access access = Access::kReadOnly;
    unsigned threads = 1;                  // Engine threads; >= 1.
    std::uint64_t memory_limit_bytes = 0;  // 0: the engine's default.
    // Processes that load the same for themselves, each within this limit: what people are told
    // about memory is for all of them.
    unsigned loads = 1;
    std::filesystem::path
        temp_directory{};              // Spill folder of this engine alone; empty: no spilling.
    std::uint64_t temp_bytes_max = 0;  // 0: the engine's default.
    // Where a load that does not fit into memory is tried again, only to tell how much it needs;
    // empty: it just fails.
    std::filesystem::path measure_directory{};
    std::vector<std::filesystem::path>
        allowed_paths{};  // Readable besides the source's own folder.
    std::vector<HostTable> host_tables{};
    std::vector<HostCall> host_calls{};
    unsigned seat = 0;  // Of the worker, counted from 1; 0: the primary. For the test engine.
};

struct Query {
    std::string_view text;  // One or more statements, UTF-8.
    std::span<const Parameter> parameters{};
};

// How much of the data a fork server reads before it forks, so that its workers share it.
enum class Warm : std::uint8_t { kAuto, kOff, kAll };  // kAuto: as long as there is room.

// What a fork server's engine has come to.
struct ForkBase {
    std::uint64_t memory_bytes = 0;  // Held by the engine; its workers start with as much.
};

// Takes a result as the engine produces it. Called on the thread in run(). A false return means
// "stop": run() then ends with kCancelled.
class ResultSink {
public:
    virtual ~ResultSink() = default;
    // Once, before the first batch. No fields: the statement gives no result.
    [[nodiscard]] virtual bool begin(const Schema& schema) = 0;
    [[nodiscard]] virtual bool batch(Batch batch) = 0;
};

// Threads: load() and run() from one thread at a time; interrupt(), progress() and sick() from any.
class Engine {
public:
    virtual ~Engine() = default;

    // Loads the source, then locks the engine down as `access` says. Call once, first.
    // An empty path loads nothing. The source's folder becomes the process's working folder, so
    // that relative paths in a script and in queries mean the same wherever the process was
    // started. Errors: kQueryError with `where` = file:line of the statement, kBadRequest for a
    // source that cannot be opened, kCancelled after interrupt().
    [[nodiscard]] virtual Result<void> load(const std::filesystem::path& source) = 0;

    // ---- One load, many workers: load_base() and prepare_fork() instead of load() in a fork
    // server, then start_forked() instead of load() in each process that it forks.

    // Whether this engine can do that at all.
    [[nodiscard]] virtual bool can_fork() const noexcept { return false; }

    // The first part of load(): the source is loaded, no query can run. Errors: as load().
    [[nodiscard]] virtual Result<void> load_base(const std::filesystem::path& source);

    // Reads ahead what is to be shared, then puts the engine into a state in which its process can
    // be forked: no thread of its own, no connection, nothing in temporary files.
    // Errors: kQueryError if what is to be shared cannot be read: the load has failed. Else what
    // stands in the way of a fork, for people.
    [[nodiscard]] virtual Result<ForkBase> prepare_fork(Warm warm);

    // The second part of load(), with the new process's options: its memory, threads, spill folder
    // and seat. Whatever is random differs from its siblings'. Errors: as load().
    [[nodiscard]] virtual Result<void> start_forked(const EngineOptions& options);

    // What load() left out, and why: "hdb/notes.txt: not a Parquet or CSV file".
    [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }

    // Runs every statement of the text in order and gives the last one's result to `sink`. All
    // statements are checked against `access` before the first runs. No state of one run is visible
    // to a later one, except with kSync and kWritable.
    // Errors: kQueryError, kReadOnly, kBadRequest (empty text, parameters), kCancelled, kInternal.
    [[nodiscard]] virtual Result<void> run(const Query& query, ResultSink& sink) = 0;

    // Asks the run under way to end soon. May be lost if the engine is between two phases: repeat
    // until run() has returned. Without a run under way it does nothing.
    virtual void interrupt() noexcept = 0;

    // Fraction done of the run under way in [0, 1]; negative: unknown.
    [[nodiscard]] virtual double progress() const noexcept = 0;

    // True after a FATAL or INTERNAL error of the engine: results are no longer to be trusted.
    [[nodiscard]] virtual bool sick() const noexcept = 0;
};

// What a source path is. Errors: kBadRequest saying what is wrong with the path and what would do.
enum class SourceKind : std::uint8_t { kScript, kDatabase, kDataFile, kFolder };
[[nodiscard]] Result<SourceKind> classify_source(const std::filesystem::path& source);

// Makes the engine called `name` ("duckdb", "test"), not yet loaded. Errors: kBadRequest for an
// unknown name; kInternal if the engine's library has another version than this build's.
[[nodiscard]] Result<std::unique_ptr<Engine>> make_engine(std::string_view name,
                                                          EngineOptions options);

}  // namespace shortq::engine
