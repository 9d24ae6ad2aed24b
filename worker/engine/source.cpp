// worker/engine/source.cpp: tells the kinds of sources apart.
#include "worker/engine/source.h"

#include <array>
#include <fstream>
#include <string_view>
#include <system_error>

#include "worker/engine/engine.h"
#include "worker/engine/sql_lexer.h"

namespace shortq::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWouldDo =
    "a source is a .sql script, a DuckDB file, a Parquet or CSV file, or a folder of those";

tl::unexpected<Error> unfit(const fs::path& source, std::string_view why) {
    return fail(ErrorCode::kBadRequest,
                source.string() + ": " + std::string(why) + "; " + std::string(kWouldDo));
}

// A DuckDB file says DUCK behind its checksum.
bool is_database(const fs::path& file) {
    std::array<char, 12> head{};
    std::ifstream stream(file, std::ios::binary);
    return stream.read(head.data(), head.size()) && std::string_view(&head[8], 4) == "DUCK";
}

bool is_readable(const fs::path& file) { return std::ifstream(file, std::ios::binary).good(); }

}  // namespace

DataFormat data_format(const fs::path& file) {
    const std::string name = lower(file.filename().string());
    if (name.ends_with(".parquet") || name.ends_with(".pq")) return DataFormat::kParquet;
    for (const std::string_view plain : {".csv", ".tsv"}) {
        for (const std::string_view packed : {"", ".gz", ".zst"}) {
            if (name.ends_with(std::string(plain) + std::string(packed))) return DataFormat::kCsv;
        }
    }
    return DataFormat::kNone;
}

Result<SourceKind> classify_source(const fs::path& source) {
    std::error_code error;
    const fs::file_status status = fs::status(source, error);
    if (!fs::exists(status)) {
        const bool missing = status.type() == fs::file_type::not_found;
        return unfit(source, missing ? "no such file or folder" : error.message());
    }
    if (fs::is_directory(status)) return SourceKind::kFolder;
    if (!fs::is_regular_file(status)) return unfit(source, "neither a file nor a folder");
    if (!is_readable(source)) return unfit(source, "cannot be read (permissions?)");
    if (is_database(source)) return SourceKind::kDatabase;
    if (data_format(source) != DataFormat::kNone) return SourceKind::kDataFile;
    const std::string extension = lower(source.extension().string());
    if (extension == ".sql") return SourceKind::kScript;
    if (extension == ".duckdb" || extension == ".db" || extension == ".ddb") {
        return unfit(source, "not a DuckDB file");
    }
    return unfit(source, "of an unknown kind");
}

}  // namespace shortq::engine
