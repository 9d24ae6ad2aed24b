#include "worker/engine/duckdb_sources.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>
#include <system_error>

#include "worker/engine/duckdb_errors.h"
#include "worker/engine/engine.h"
#include "worker/engine/source.h"
#include "worker/engine/sql_lexer.h"

namespace shortq::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownStatementBytes = 500;

Error cancelled() { return {ErrorCode::kCancelled, "the load was interrupted", {}, false}; }

// ---- Scripts ----

Result<std::string> read_text(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (stream.bad() || !stream.is_open()) {
        return fail(ErrorCode::kBadRequest, file.string() + ": cannot be read");
    }
    if (text.find('\0') != std::string::npos) {
        return fail(ErrorCode::kBadRequest, file.string() + ": holds a NUL byte; not a script");
    }
    return text;
}

std::string shown(std::string_view statement) {
    if (statement.size() <= kShownStatementBytes) return std::string(statement);
    return std::string(statement.substr(0, kShownStatementBytes)) + " ...";
}

bool begins_transaction(const Statement& statement) {
    const std::string word = word_of(statement.tokens.front());
    return word == "begin" || word == "start";
}

// What a transaction that is never committed has made is gone when the script's connection is.
// `begin`: the line of the last statement that began one; 0: none did.
Result<void> refuse_open_transaction(duckdb_connection connection, const fs::path& script,
                                     std::size_t begin) {
    if (begin == 0) return {};
    // Only where none is open another one can begin.
    if (execute(connection, "BEGIN TRANSACTION")) return execute(connection, "ROLLBACK");
    return fail(ErrorCode::kBadRequest,
                "the script ends inside a transaction, and what that has made would be lost: write "
                "COMMIT at its end, or leave BEGIN out",
                script.string() + ':' + std::to_string(begin));
}

// `script` is the name to show, `file` where it is.
Result<void> run_script(duckdb_connection connection, const fs::path& script, const fs::path& file,
                        const std::atomic<bool>& stop) {
    const auto text = read_text(file);
    if (!text) return tl::unexpected(text.error());
    std::size_t begin = 0;
    for (const Statement& statement : split_statements(*text)) {
        if (stop) return tl::unexpected(cancelled());
        auto done = execute(connection, std::string(statement.text));
        if (done) {
            if (begins_transaction(statement)) begin = statement.line;
            continue;
        }
        Error error = done.error();
        error.where = script.string() + ':' + std::to_string(statement.line);
        error.message += "\nin the statement: " + shown(statement.text);
        return tl::unexpected(std::move(error));
    }
    return refuse_open_transaction(connection, script, begin);
}

// ---- Databases ----

Result<void> attach_database(duckdb_connection connection, const fs::path& file) {
    std::string name = lower(file.stem().string());
    if (name.empty() || name == "memory" || name == "system" || name == "temp")
        name = "hdb";
    else
        name = file.stem().string();
    auto done = execute(connection, "ATTACH " + quote_literal(file.string()) + " AS " +
                                        quote_identifier(name) + " (READ_ONLY)");
    if (done) done = execute(connection, "USE " + quote_identifier(name));
    if (done || done.error().code == ErrorCode::kCancelled) return done;
    return fail(ErrorCode::kBadRequest,
                file.string() + ": cannot be opened: " + done.error().message);
}

// ---- Data files and folders ----

// The files of one table. All have one format.
struct TableFiles {
    DataFormat format = DataFormat::kNone;
    std::vector<fs::path> files;  // Sorted.
    bool hive = false;
};

// The name without all its data file endings: "sales" for sales.csv.gz.
std::string table_name(const fs::path& file) {
    fs::path name = file.filename();
    while (data_format(name) != DataFormat::kNone) {
        const std::string ending = lower(name.extension().string());
        name = name.stem();
        if (ending != ".gz" && ending != ".zst") break;
    }
    return name.string();
}

// Lists the files, so that a generation keeps them whatever is added to the folder later.
Result<void> create_view(duckdb_connection connection, const std::string& name,
                         const TableFiles& table) {
    std::string sql = "CREATE VIEW " + quote_identifier(name) + " AS SELECT * FROM ";
    sql += table.format == DataFormat::kParquet ? "read_parquet([" : "read_csv([";
    for (std::size_t i = 0; i < table.files.size(); ++i) {
        if (i > 0) sql += ", ";
        sql += quote_literal(table.files[i].string());
    }
    sql += table.hive ? "], hive_partitioning=true)" : "], hive_partitioning=false)";
    auto done = execute(connection, sql);
    if (done || done.error().code == ErrorCode::kCancelled) return done;
    const fs::path& place = table.files.front();
    return fail(ErrorCode::kBadRequest, (table.hive ? place.parent_path() : place).string() +
                                            ": cannot be read: " + done.error().message);
}

bool is_hidden(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.starts_with('.') || name.starts_with('_');
}

// Whether a folder name below the table's own is a partition: key=value.
bool is_partition(const fs::path& folder) {
    return folder.filename().string().find('=', 1) != std::string::npos;
}

class FolderReader {
public:
    FolderReader(const fs::path& folder, std::vector<std::string>& notes)
        : folder_(folder), notes_(notes) {}

    Result<std::map<std::string, TableFiles>> read() {
        std::vector<fs::path> entries;
        std::error_code error;
        for (fs::directory_iterator it(folder_, error), end; !error && it != end;
             it.increment(error)) {
            entries.push_back(it->path());
        }
        if (error) {
            return fail(ErrorCode::kBadRequest, folder_.string() + ": " + error.message());
        }
        std::ranges::sort(entries);
        for (const fs::path& entry : entries) {
            auto added = fs::is_directory(entry) ? add_folder(entry) : add_file(entry);
            if (!added) return tl::unexpected(added.error());
        }
        if (tables_.empty()) return nothing_found();
        return std::move(tables_);
    }

private:
    Result<void> add_file(const fs::path& file) {
        if (is_hidden(file)) return {};
        const DataFormat format = data_format(file);
        if (format == DataFormat::kNone) {
            notes_.push_back(file.string() + ": left out, not a Parquet or CSV file" +
                             (lower(file.extension().string()) == ".duckdb"
                                  ? " (start on the DuckDB file itself to serve it)"
                                  : ""));
            return {};
        }
        return add(table_name(file), {format, {file}, false}, file);
    }

    Result<void> add_folder(const fs::path& folder) {
        if (is_hidden(folder)) return {};
        TableFiles table;
        table.hive = true;
        std::error_code error;
        for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
             it.increment(error)) {
            if (it->is_directory()) {
                if (!is_partition(it->path())) it.disable_recursion_pending();
                continue;
            }
            if (it.depth() == 0 || is_hidden(it->path())) continue;
            if (!add_part(table, it->path())) return mixed_formats(folder);
        }
        if (error) return fail(ErrorCode::kBadRequest, folder.string() + ": " + error.message());
        if (table.files.empty()) {
            notes_.push_back(folder.string() +
                             ": left out, no key=value folders with Parquet or CSV files in it");
            return {};
        }
        std::ranges::sort(table.files);
        return add(folder.filename().string(), std::move(table), folder);
    }

    static bool add_part(TableFiles& table, const fs::path& file) {
        const DataFormat format = data_format(file);
        if (format == DataFormat::kNone) return true;
        if (!table.files.empty() && table.format != format) return false;
        table.format = format;
        table.files.push_back(file);
        return true;
    }

    static tl::unexpected<Error> mixed_formats(const fs::path& folder) {
        return fail(ErrorCode::kBadRequest,
                    folder.string() + ": holds both Parquet and CSV files; one table has one kind");
    }

    Result<void> add(const std::string& name, TableFiles table, const fs::path& from) {
        const auto [place, added] = origins_.emplace(lower(name), from);
        if (!added) {
            return fail(ErrorCode::kBadRequest, from.string() + " and " + place->second.string() +
                                                    " would both be the table " +
                                                    quote_identifier(name) + "; rename one");
        }
        tables_.emplace(name, std::move(table));
        return {};
    }

    tl::unexpected<Error> nothing_found() const {
        std::string message = folder_.string() + ": no Parquet or CSV file in this folder";
        for (const std::string& note : notes_) message += "\n" + note;
        return fail(ErrorCode::kBadRequest, std::move(message));
    }

    const fs::path& folder_;
    std::vector<std::string>& notes_;
    std::map<std::string, TableFiles> tables_;
    std::map<std::string, fs::path> origins_;  // By lower-case name.
};

Result<void> create_views(duckdb_connection connection, const fs::path& folder,
                          const std::atomic<bool>& stop, std::vector<std::string>& notes) {
    const auto tables = FolderReader(folder, notes).read();
    if (!tables) return tl::unexpected(tables.error());
    for (const auto& [name, table] : *tables) {
        if (stop) return tl::unexpected(cancelled());
        if (auto done = create_view(connection, name, table); !done) return done;
    }
    return {};
}

}  // namespace

fs::path folder_of(const fs::path& source) {
    std::error_code error;
    const fs::path whole = fs::absolute(source, error).lexically_normal();
    if (!fs::is_directory(whole, error)) return whole.parent_path();
    return whole.has_filename() ? whole : whole.parent_path();
}

Result<void> load_source(duckdb_connection connection, const fs::path& source,
                         const std::atomic<bool>& stop, std::vector<std::string>& notes) {
    const auto kind = classify_source(source);
    if (!kind) return tl::unexpected(kind.error());
    const fs::path whole = fs::absolute(source);
    // The engine resolves the relative paths of a script, and later of its views, from here; the
    // fence around the folder would not let them pass from elsewhere.
    std::error_code error;
    fs::current_path(folder_of(whole), error);
    if (error) {
        return fail(ErrorCode::kBadRequest, folder_of(whole).string() + ": " + error.message());
    }
    switch (*kind) {
        case SourceKind::kScript:
            return run_script(connection, source, whole, stop);
        case SourceKind::kDatabase:
            return attach_database(connection, whole);
        case SourceKind::kDataFile:
            return create_view(connection, table_name(whole), {data_format(whole), {whole}, false});
        case SourceKind::kFolder:
            return create_views(connection, folder_of(whole), stop, notes);
    }
    return {};
}

}  // namespace shortq::engine
