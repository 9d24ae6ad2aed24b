#include "worker/engine/duckdb_batches.h"

#include <utility>

#include "proto/limits.h"
#include "worker/engine/duckdb_arrow.h"

namespace shortq::engine {
namespace {

// Columns of nulls take no bytes, and booleans few.
constexpr std::int64_t kRowsMax = std::int64_t{1} << 20;
static_assert(std::uint64_t{kRowsMax} < proto::kRowsPerBatchMax);

}  // namespace

BatchBuilder::BatchBuilder(duckdb_arrow_options options, duckdb_result* result,
                           const Schema& schema)
    : options_(options) {
    std::vector<LogicalType> types;  // Of the columns to be exported.
    for (std::size_t i = 0; i < schema.fields.size(); ++i) {
        const Field& field = schema.fields[i];
        LogicalType type(duckdb_column_logical_type(result, i));
        Column& column = columns_.emplace_back();
        column.from_vector = vector_column(type.get(), field, pool_);
        if (column.from_vector) continue;
        column.joiner = std::make_unique<ArrayJoiner>(field, pool_);
        exported_schema_.fields.push_back(field);
        exported_.push_back(i);
        types.push_back(std::move(type));
    }
    if (exported_.empty() || exported_.size() == columns_.size()) return;
    std::vector<duckdb_logical_type> raw_types;
    for (const LogicalType& type : types) raw_types.push_back(type.get());
    view_ = Chunk(duckdb_create_data_chunk(raw_types.data(), raw_types.size()));
}

Result<Batch> BatchBuilder::export_columns(duckdb_data_chunk chunk) {
    if (exported_.empty()) return Batch{};
    if (exported_.size() == columns_.size()) return batch_of(options_, exported_schema_, chunk);
    for (std::size_t i = 0; i < exported_.size(); ++i) {
        duckdb_vector_reference_vector(duckdb_data_chunk_get_vector(view_.get(), i),
                                       duckdb_data_chunk_get_vector(chunk, exported_[i]));
    }
    duckdb_data_chunk_set_size(view_.get(), duckdb_data_chunk_get_size(chunk));
    return batch_of(options_, exported_schema_, view_.get());
}

bool BatchBuilder::can_append(duckdb_data_chunk chunk, const Batch& exported) {
    const auto rows = duckdb_data_chunk_get_size(chunk);
    std::size_t next = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const Column& column = columns_[i];
        const bool fits = column.joiner ? column.joiner->can_append(exported.columns[next++])
                                        : column.from_vector->can_append(
                                              duckdb_data_chunk_get_vector(chunk, i), rows);
        if (!fits) return false;
    }
    return true;
}

Result<bool> BatchBuilder::append(duckdb_data_chunk chunk) {
    const auto rows = duckdb_data_chunk_get_size(chunk);
    auto exported = export_columns(chunk);
    if (!exported) return tl::unexpected(exported.error());
    if (!can_append(chunk, *exported)) {
        if (rows_ > 0) return false;
        return fail(ErrorCode::kTooLarge, "texts of 2 GiB in " + std::to_string(rows) +
                                              " rows are too large to be sent together");
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const Column& column = columns_[i];
        if (column.joiner) {
            column.joiner->append(std::move(exported->columns[next++]));
        } else {
            column.from_vector->append(duckdb_data_chunk_get_vector(chunk, i), rows);
        }
    }
    rows_ += static_cast<std::int64_t>(rows);
    return true;
}

bool BatchBuilder::full() const {
    if (rows_ >= kRowsMax) return true;
    std::size_t bytes = 0;
    for (const Column& column : columns_) {
        bytes += column.joiner ? column.joiner->bytes() : column.from_vector->bytes();
    }
    return bytes >= kBatchBytes;
}

Batch BatchBuilder::take() {
    Batch batch;
    batch.rows = std::exchange(rows_, 0);
    batch.columns.reserve(columns_.size());
    for (const Column& column : columns_) {
        batch.columns.push_back(column.joiner ? column.joiner->take() : column.from_vector->take());
    }
    return batch;
}

}  // namespace shortq::engine
