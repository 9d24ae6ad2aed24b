// tests/proto/kdb/columns.h: columns of results together with the kdb+ vectors that they must
// become, computed here by other means than the writer's.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "proto/columnar.h"
#include "proto/kdb/object.h"
#include "proto/kdb/table.h"

namespace shortq::kdb::test {

struct ColumnCase {
    Field field;
    std::size_t rows = 0;
    std::function<Array(std::size_t begin, std::size_t end)> slice;
    Object expected;
};

// Columns of `rows` rows of every type that kdb+ has something for, with nulls if `nulls`.
std::vector<ColumnCase> every_column(std::mt19937_64& random, std::size_t rows, bool nulls);

// The rows cut in batches at random places, put together as the wire does it (which checks them).
std::vector<Batch> batches_of(std::span<const ColumnCase> columns, std::mt19937_64& random);
Schema schema_of(std::span<const ColumnCase> columns);

// The message of a table, its length checked against what measuring said; empty if it failed, with
// the reason in `error`.
std::vector<std::byte> table_message(const Schema& schema, std::span<const Batch> batches,
                                     Error& error, TableOptions options = {});

}  // namespace shortq::kdb::test
