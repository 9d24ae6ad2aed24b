#include "worker/engine/duckdb_engine.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <random>
#include <utility>

#include "worker/engine/duckdb_base.h"
#include "worker/engine/duckdb_errors.h"
#include "worker/engine/duckdb_run.h"
#include "worker/engine/duckdb_sources.h"
#include "worker/engine/memory_room.h"
#include "worker/engine/sql_lexer.h"

namespace shortq::engine {
namespace {

std::string directory_list(const std::vector<std::filesystem::path>& directories) {
    std::string out;
    for (const std::filesystem::path& directory : directories) {
        if (!out.empty()) out += ", ";
        out += quote_literal(directory.string());
    }
    return '[' + out + ']';
}

// As text, in the order of end_script().
constexpr const char* kLimits =
    "SELECT unnest([current_setting('threads')::VARCHAR, current_setting('memory_limit')])";

// An engine that finds no descriptor as it opens does not fail: it ends the process, since its
// destructor throws then.
Result<void> check_descriptors() {
    constexpr std::size_t kSpare = 8;
    std::array<UniqueFd, kSpare> spare;
    for (auto& fd : spare) {
        fd = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        if (!fd) {
            return fail(ErrorCode::kInternal,
                        std::string("the engine does not open: ") + std::strerror(errno));
        }
    }
    return {};
}

// In [-1, 1), as setseed() wants it.
std::string random_seed() {
    std::random_device entropy;
    return std::to_string(static_cast<std::int32_t>(entropy())) + " / 2147483648.0";
}

}  // namespace

DuckDbEngine::DuckDbEngine(EngineOptions options)
    : options_(std::move(options)), host_(options_.host_tables, options_.host_calls) {
    // load() changes the working folder.
    for (std::filesystem::path& path : options_.allowed_paths) path = folder_of(path);
    if (!options_.temp_directory.empty()) {
        options_.temp_directory = std::filesystem::absolute(options_.temp_directory);
    }
}

Result<void> DuckDbEngine::open() {
    if (auto room = check_descriptors(); !room) return room;
    Config config;
    if (duckdb_create_config(config.out()) != DuckDBSuccess) {
        return fail(ErrorCode::kInternal, "the engine gives no configuration");
    }
    std::vector<std::pair<const char*, std::string>> settings{
        {"threads", std::to_string(options_.threads)},
        {"temp_directory", options_.temp_directory.string()},
        {"autoinstall_known_extensions", "false"},
        {"autoload_known_extensions", "false"},
    };
    if (options_.memory_limit_bytes > 0) {
        settings.emplace_back("memory_limit", std::to_string(options_.memory_limit_bytes) + "B");
    }
    for (const auto& [name, value] : settings) {
        if (duckdb_set_config(config.get(), name, value.c_str()) != DuckDBSuccess) {
            return fail(ErrorCode::kBadRequest,
                        std::string("the engine refuses ") + name + " = " + value);
        }
    }
    char* reason = nullptr;
    Database database;
    if (duckdb_open_ext(nullptr, database.out(), config.get(), &reason) != DuckDBSuccess) {
        return fail(ErrorCode::kInternal, "the engine does not open: " + take_string(reason));
    }
    const std::lock_guard lock(mutex_);
    database_ = std::move(database);
    auto connection = connect();
    if (!connection) return tl::unexpected(connection.error());
    connection_ = std::move(*connection);
    return limit_spilling();
}

// Given to an engine that opens, the limit is shown but not kept.
Result<void> DuckDbEngine::limit_spilling() {
    if (options_.temp_bytes_max == 0 || options_.temp_directory.empty()) return {};
    return execute(connection_.get(), "SET max_temp_directory_size='" +
                                          std::to_string(options_.temp_bytes_max) + "B'");
}

Result<Connection> DuckDbEngine::connect() const {
    Connection connection;
    if (duckdb_connect(database_.get(), connection.out()) != DuckDBSuccess) {
        return fail(ErrorCode::kInternal, "the engine gives no connection");
    }
    return connection;
}

// The second fence behind the statement gate. lock_configuration comes last: it refuses any other.
Result<void> DuckDbEngine::lock_down() {
    std::vector<std::filesystem::path> directories = options_.allowed_paths;
    if (!source_folder_.empty()) {
        directories.push_back(source_folder_);
        // Relative paths are resolved by the folder's real name, behind any symbolic link.
        directories.push_back(std::filesystem::weakly_canonical(source_folder_));
    }
    // Listing secrets would read those that are kept in files, behind the fence. Fails if the
    // script has used some: then they have been read.
    (void)execute(connection_.get(), "SET allow_persistent_secrets=false");
    const std::array<std::string, 6> statements{
        // FROM 'other.duckdb' is this function, unnamed. It attaches the file for as long as its
        // prepared statement lives, and the next one to name the file waits for that, for ever.
        "CREATE OR REPLACE TEMP MACRO read_duckdb(file) AS TABLE SELECT error("
        "'a database file is served by a startup script that attaches it: ' || file)",
        "SET enable_progress_bar=true",
        "SET enable_progress_bar_print=false",
        "SET allowed_directories=" + directory_list(directories),
        "SET enable_external_access=false",
        "SET lock_configuration=true",
    };
    for (const std::string& statement : statements) {
        if (auto done = execute(connection_.get(), statement); !done) return done;
    }
    return {};
}

Result<void> DuckDbEngine::judged(Result<void> outcome) {
    if (!outcome && outcome.error().code == ErrorCode::kInternal) sick_ = true;
    return outcome;
}

Result<void> DuckDbEngine::load(const std::filesystem::path& source) try {
    if (auto loaded = load_base(source); !loaded) return loaded;
    const ActiveRun<DuckDbEngine> active(*this);
    const auto held = memory_held(connection_.get());
    if (!held) return tl::unexpected(held.error());
    auto room =
        check_own_room(options_.memory_limit_bytes, *held, options_.threads, options_.loads);
    if (!room) {
        room.error().where = source.string();
        return room;
    }
    return begin_session(Start::kLoaded);
} catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, source.string() + ": " + error.what());
}

Result<void> DuckDbEngine::load_base(const std::filesystem::path& source) try {
    const ActiveRun<DuckDbEngine> active(*this);
    if (auto opened = open(); !opened) return opened;
    source_folder_ = source.empty() ? source : folder_of(source);
    const auto whole = source.empty() ? source : std::filesystem::absolute(source);
    if (auto loaded = load_into(source); !loaded) {
        if (!is_out_of_memory(loaded.error()) || options_.measure_directory.empty()) return loaded;
        return does_not_fit(whole, loaded.error());
    }
    if (stop_) return fail(ErrorCode::kCancelled, "the load was interrupted");
    return keep_session();
} catch (const std::exception& error) {  // A folder that changes as it is read; no memory.
    return fail(ErrorCode::kInternal, source.string() + ": " + error.what());
}

// Loads again, where it may spill, into an engine that serves nobody: so what it takes is known.
Result<void> DuckDbEngine::does_not_fit(const std::filesystem::path& source, Error error) {
    auto options = options_;
    options.temp_directory = std::exchange(options.measure_directory, {});
    {
        const std::lock_guard lock(mutex_);
        connection_ = Connection();
        database_ = Database();  // Its memory is needed.
    }
    DuckDbEngine measured(std::move(options));
    std::uint64_t needed = 0;
    if (measured.load_base(source)) {
        needed = memory_used(measured.connection_.get()).value_or(0) +
                 bytes_spilled(measured.connection_.get()).value_or(0);
    }
    error.message = does_not_fit_text(needed, options_.memory_limit_bytes, error.message);
    return tl::unexpected(std::move(error));
}

Result<void> DuckDbEngine::keep_session() {
    const auto fresh = connect();
    if (!fresh) return tl::unexpected(fresh.error());
    auto session = session_of(connection_.get(), fresh->get());
    if (!session) return tl::unexpected(session.error());
    session_ = std::move(*session);
    notes_.insert(notes_.end(), session_.notes.begin(), session_.notes.end());
    return {};
}

// Queries get a connection of their own.
Result<void> DuckDbEngine::begin_session(Start start) {
    auto fresh = connect();
    if (!fresh) return tl::unexpected(fresh.error());
    {
        const std::lock_guard lock(mutex_);
        connection_ = std::move(*fresh);
    }
    if (start == Start::kForked) {
        if (auto done = begin_fork(); !done) return done;
    }
    if (auto done = restore(session_, connection_.get()); !done) return done;
    return lock_down();
}

Result<ForkBase> DuckDbEngine::prepare_fork(Warm warm) try {
    const ActiveRun<DuckDbEngine> active(*this);
    auto locks = lock_database_files(connection_.get());
    if (!locks) return tl::unexpected(locks.error());
    locks_ = std::move(*locks);
    if (warm != Warm::kAll) drop_file_pages(connection_.get(), options_.memory_limit_bytes);
    auto read = warm_tables(connection_.get(), warm, options_.memory_limit_bytes, stop_, notes_);
    if (!read) return tl::unexpected(read.error());
    const auto spilled = bytes_spilled(connection_.get());
    if (!spilled) return tl::unexpected(spilled.error());
    if (*spilled > 0)
        return fail(ErrorCode::kUnavailable, "part of the data is in a temporary file");
    const auto used = memory_used(connection_.get());
    if (!used) return tl::unexpected(used.error());
    // The engine's threads end before this returns.
    if (auto done = execute(connection_.get(), "SET threads=1"); !done) {
        return tl::unexpected(done.error());
    }
    const std::lock_guard lock(mutex_);
    connection_ = Connection();
    return ForkBase{.memory_bytes = *used};
} catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, error.what());
}

Result<void> DuckDbEngine::start_forked(const EngineOptions& options) try {
    const ActiveRun<DuckDbEngine> active(*this);
    options_.threads = options.threads;
    options_.memory_limit_bytes = options.memory_limit_bytes;
    options_.temp_directory = options.temp_directory;
    options_.temp_bytes_max = options.temp_bytes_max;
    options_.seat = options.seat;
    return begin_session(Start::kForked);
} catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, error.what());
}

// What a process that loads has from the start, and differs between those that are forked.
Result<void> DuckDbEngine::begin_fork() {
    const auto folder = quote_literal(options_.temp_directory.string());
    if (auto done = execute(connection_.get(), "SET temp_directory=" + folder); !done) return done;
    const auto seeded = execute(connection_.get(), "SELECT setseed(" + random_seed() + ")");
    return seeded ? apply_limits() : seeded;
}

// What the options say of them, whatever they were.
Result<void> DuckDbEngine::apply_limits() {
    const auto bytes = [](std::uint64_t count) { return "'" + std::to_string(count) + "B'"; };
    std::vector<std::string> statements{
        "SET threads=" + std::to_string(options_.threads),
        options_.memory_limit_bytes > 0 ? "SET memory_limit=" + bytes(options_.memory_limit_bytes)
                                        : "RESET memory_limit"};
    for (const std::string& statement : statements) {
        if (auto done = execute(connection_.get(), statement); !done) return done;
    }
    return limit_spilling();
}

// A script's limits hold for its own statements. Were they to hold for queries, as well, each
// worker that loads for itself would take what was meant for all of them.
Result<void> DuckDbEngine::end_script(const std::vector<std::string>& limits_before) {
    const auto limits = texts(connection_.get(), kLimits);
    if (!limits) return tl::unexpected(limits.error());
    if (*limits == limits_before) return {};
    constexpr std::array kNames{"threads", "memory_limit"};
    constexpr std::array kFlags{"--threads", "--memory-limit"};
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        // The same for every worker: one says it.
        if (limits->at(i) == limits_before.at(i) || options_.seat > 1) continue;
        notes_.push_back(std::string("the startup script sets ") + kNames.at(i) + " to " +
                         limits->at(i) + ", which holds while it runs: for queries use " +
                         kFlags.at(i));
    }
    return apply_limits();
}

// A folder that the script names would be every worker's, and the names of the files in it are
// fixed: each would read what another one wrote.
Result<void> DuckDbEngine::refuse_other_spill_folder() const {
    const auto folder = texts(connection_.get(), "SELECT current_setting('temp_directory')");
    if (!folder) return tl::unexpected(folder.error());
    if (folder->front() == options_.temp_directory.string()) return {};
    return fail(ErrorCode::kBadRequest,
                "the script sets temp_directory, which all workers would share; leave it out: each "
                "has a folder of its own, made where TMPDIR says");
}

// Fills the open engine, and looks at what that made of it.
Result<void> DuckDbEngine::load_into(const std::filesystem::path& source) {
    const auto before = loaded_extensions(connection_.get());
    if (auto hosted = host_.install(connection_.get()); !hosted) return hosted;
    if (!source.empty()) {
        const auto limits = texts(connection_.get(), kLimits);
        if (!limits) return tl::unexpected(limits.error());
        auto loaded = judged(load_source(connection_.get(), source, stop_, notes_));
        if (!loaded) return loaded;
        if (auto ended = end_script(*limits); !ended) return ended;
        if (auto safe = refuse_writable_files(connection_.get()); !safe) return safe;
        if (auto safe = refuse_other_spill_folder(); !safe) return safe;
    }
    if (options_.access != Access::kReadOnly) return {};
    const auto after = loaded_extensions(connection_.get());
    // They cannot be listed where their folder cannot be read: then there may be some.
    const bool extended = !before || !after || *before != *after;
    auto fence = find_fence(connection_.get(), extended || !options_.host_calls.empty());
    if (!fence) return tl::unexpected(fence.error());
    fence_ = std::move(*fence);
    return {};
}

Result<void> DuckDbEngine::run(const Query& query, ResultSink& sink) try {
    if (!connection_) return fail(ErrorCode::kInternal, "the engine has loaded nothing yet");
    const ActiveRun<DuckDbEngine> active(*this);
    const RunContext context{connection_.get(), options_.access, stop_, cache_, fence_};
    auto done = run_query(context, query, sink);
    if (auto refused = host_.take_error(); refused && !done) return tl::unexpected(*refused);
    return judged(std::move(done));
} catch (const std::exception& error) {  // Memory is all that can be missing here.
    return fail(ErrorCode::kInternal, error.what());
}

void DuckDbEngine::interrupt() noexcept {
    const std::lock_guard lock(mutex_);
    if (!active_) return;
    stop_ = true;
    if (connection_) duckdb_interrupt(connection_.get());
}

double DuckDbEngine::progress() const noexcept {
    const std::lock_guard lock(mutex_);
    if (!active_ || !connection_) return -1;
    const double percentage = duckdb_query_progress(connection_.get()).percentage;
    return percentage < 0 ? -1 : percentage / 100;
}

Result<void> check_duckdb_version(std::string_view found, std::string_view built_for) {
    if (found == built_for) return {};
    return fail(ErrorCode::kInternal, "this build of shortq was made for DuckDB " +
                                          std::string(built_for) + ", but libduckdb.so is " +
                                          std::string(found) +
                                          ": run tools/setup, or rebuild with "
                                          "-DSHORTQ_DUCKDB_VERSION=" +
                                          std::string(found));
}

Result<void> check_duckdb_version() {
    return check_duckdb_version(duckdb_library_version(), SHORTQ_DUCKDB_VERSION);
}

}  // namespace shortq::engine
