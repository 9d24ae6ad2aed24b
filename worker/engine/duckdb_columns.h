// worker/engine/duckdb_columns.h: columns of a result built straight from DuckDB's vectors, where
// its layout is Arrow's or nearly so: numbers, times, decimals, booleans, texts, enums.
#pragma once

#include <duckdb.h>

#include <cstddef>
#include <memory>

#include "proto/columnar.h"
#include "worker/engine/byte_builder.h"

namespace shortq::engine {

// Threads: one.
class VectorColumn {
public:
    virtual ~VectorColumn() = default;
    // Whether so many rows of this vector can go behind what is there.
    [[nodiscard]] virtual bool can_append(duckdb_vector vector, std::size_t rows) const;
    // Pre: can_append(); the vector is flat, as those of fetched chunks are.
    virtual void append(duckdb_vector vector, std::size_t rows) = 0;
    [[nodiscard]] virtual std::size_t bytes() const = 0;  // Without an enum's values.
    [[nodiscard]] virtual Array take() = 0;
};

// Null if a column of this type has to be exported.
[[nodiscard]] std::unique_ptr<VectorColumn> vector_column(duckdb_logical_type type,
                                                          const Field& field,
                                                          const std::shared_ptr<BlockPool>& pool);

}  // namespace shortq::engine
