// worker/engine/duckdb_batches.h: DuckDB's chunks of 2048 rows as batches of half a megabyte: what
// is sent is a frame per column and batch, and a small frame costs as much as a large one.
#pragma once

#include <duckdb.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "proto/columnar.h"
#include "proto/error.h"
#include "proto/limits.h"
#include "worker/engine/array_joiner.h"
#include "worker/engine/byte_builder.h"
#include "worker/engine/duckdb_columns.h"
#include "worker/engine/duckdb_handles.h"

namespace shortq::engine {

// Half of what a reply message holds at most: with a few columns their frames stay below the size
// from which malloc maps fresh pages for each (128 KiB), and what one process has just written is
// still in the cache when the next one reads it.
inline constexpr std::size_t kBatchBytes = proto::kChunkBytesTarget / 2;

// Threads: one. Its batches outlive it and the engine.
class BatchBuilder {
public:
    // `options` and `result` outlive it; `schema` is schema_of() them.
    BatchBuilder(duckdb_arrow_options options, duckdb_result* result, const Schema& schema);

    // Adds the chunk's rows; false if they cannot go behind those that are there: take() first.
    // Errors: kInternal if DuckDB cannot express them in Arrow, kTooLarge for texts beyond 2 GiB.
    [[nodiscard]] Result<bool> append(duckdb_data_chunk chunk);

    [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
    // Large enough to be sent.
    [[nodiscard]] bool full() const;
    // What was added; begins anew.
    [[nodiscard]] Batch take();

private:
    // A column is built from its vector, or from what DuckDB exports of it.
    struct Column {
        std::unique_ptr<VectorColumn> from_vector;
        std::unique_ptr<ArrayJoiner> joiner;
    };

    [[nodiscard]] Result<Batch> export_columns(duckdb_data_chunk chunk);
    [[nodiscard]] bool can_append(duckdb_data_chunk chunk, const Batch& exported);

    duckdb_arrow_options options_;
    std::shared_ptr<BlockPool> pool_ = std::make_shared<BlockPool>();
    std::vector<Column> columns_;
    Schema exported_schema_;             // Of the columns that are exported...
    std::vector<std::size_t> exported_;  // ...and their places.
    Chunk view_;                         // Refers to these columns; none: the whole chunk serves.
    std::int64_t rows_ = 0;
};

}  // namespace shortq::engine
