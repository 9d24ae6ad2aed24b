// worker/engine/source.h: what a data file holds, by its name.
#pragma once

#include <cstdint>
#include <filesystem>

namespace shortq::engine {

enum class DataFormat : std::uint8_t { kNone, kParquet, kCsv };

// By the file's endings: .parquet .pq, .csv .tsv, the latter also with .gz or .zst.
[[nodiscard]] DataFormat data_format(const std::filesystem::path& file);

}  // namespace shortq::engine
