// shortq/table.h: the result of a query: typed columns over Arrow-layout buffers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/columnar.h"
#include "proto/error.h"
#include "shortq/column.h"

namespace shortq {

// Who answered a request, and what it cost.
struct ReplyFacts {
    std::uint32_t worker = 0;      // Seat, counted from 1; 0: the primary itself.
    std::uint32_t generation = 0;  // Of the data that answered.
    double queued_ms = 0;
    double run_ms = 0;
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0;  // Of the result on the wire.
};

// A whole result: a schema, and batches of rows one after the other.
// Threads: immutable; safe to share. Owns: its buffers; may outlive the client.
class Table {
public:
    Table() = default;
    Table(Schema schema, std::vector<Batch> batches, ReplyFacts facts);

    [[nodiscard]] std::size_t columns() const noexcept { return schema_.fields.size(); }
    [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
    [[nodiscard]] const Schema& schema() const noexcept { return schema_; }
    [[nodiscard]] std::span<const Batch> batches() const noexcept { return batches_; }
    [[nodiscard]] const ReplyFacts& facts() const noexcept { return facts_; }

    // Index of the first column of that name; kNotFound names the columns there are.
    [[nodiscard]] Result<std::size_t> column(std::string_view name) const;

    // One column of one batch: typed access to every type, without a copy. Pre: in range.
    [[nodiscard]] Column chunk(std::size_t batch, std::size_t column) const;
    // The same as chunk(batch, column).values<T>().
    template <class T>
    [[nodiscard]] Result<std::span<const T>> values(std::size_t batch, std::size_t column) const;

    // Cells by row number over all batches (O(log batches)). Pre: in range (asserted).
    [[nodiscard]] bool is_null(std::uint64_t row, std::size_t column) const;
    // The value as the engine would print it ("2024-01-31", "[1, 2]", "1.50"); "NULL" for a null.
    [[nodiscard]] std::string text(std::uint64_t row, std::size_t column) const;
    // Integers, booleans and decimals with scale 0 that fit; kBadRequest otherwise, or for a null.
    [[nodiscard]] Result<std::int64_t> integer(std::uint64_t row, std::size_t column) const;
    // Any number. Decimals and 128-bit integers are rounded to the nearest double.
    [[nodiscard]] Result<double> number(std::uint64_t row, std::size_t column) const;
    // The bytes of a text or blob cell, without a copy.
    [[nodiscard]] Result<std::string_view> view(std::uint64_t row, std::size_t column) const;

private:
    Schema schema_;
    std::vector<Batch> batches_;
    std::vector<std::uint64_t> batch_ends_;  // Running total of rows.
    std::uint64_t rows_ = 0;
    ReplyFacts facts_;
};

}  // namespace shortq
