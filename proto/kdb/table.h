// proto/kdb/table.h: a result of the engine as a kdb+ table, without holding it twice.
// Source: code.kx.com/q/kb/serialization ("table"); the types are in README.md beside this file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "proto/columnar.h"
#include "proto/error.h"
#include "proto/kdb/types.h"

namespace shortq::kdb {

struct ColumnNode;  // How one column is written: column.h.

struct TableOptions {
    bool texts_as_char_vectors = false;  // Texts as lists of char vectors instead of symbols.
};

// Writes a result as one message. kdb+ stores a table by column and says lengths first, so there
// are two passes over the batches, which the caller keeps:
//
//   auto table = TableWriter::make(schema, options);   // Then, for each batch in order:
//   table->measure(batch);
//   const auto bytes = table->message_bytes();         // Nothing was written so far.
//   table->append_head(kind, out);                     // Then, for each column:
//   table->append_column_head(column, out);            //   then, for each batch in order:
//   table->append_column(column, batch, out);
//
// Each call appends to `out`; the caller may send and empty it in between. Together they append
// exactly message_bytes(). A schema without columns makes (::).
//
// Only after all batches are measured are the types known: a BOOLEAN column that has a null is sent
// as shorts, whole numbers of 64 unsigned or 128 bits as longs if all fit and as floats if not, and
// texts one of which holds a NUL as char vectors.
// Threads: one for measure(); any afterwards, for the rest is const.
class TableWriter {
public:
    // Errors: kBadRequest: a column's type has no counterpart in kdb+; names it and the way out.
    [[nodiscard]] static Result<TableWriter> make(Schema schema, TableOptions options = {});
    TableWriter(TableWriter&&) noexcept;
    TableWriter& operator=(TableWriter&&) noexcept;
    ~TableWriter();

    // Pre:    `batch` has passed proto::assemble() with this schema.
    // Errors: kBadRequest: a value that kdb+ cannot hold (a timestamp of the year 3000, an interval
    //         of months); names column, row and the way out. kTooLarge: over kCountMax rows.
    [[nodiscard]] Result<void> measure(const Batch& batch);

    // Of the message, header included. Errors: kTooLarge over kMessageBytesMax.
    [[nodiscard]] Result<std::uint64_t> message_bytes() const;

    [[nodiscard]] std::uint64_t rows() const { return rows_; }
    [[nodiscard]] std::size_t columns() const;

    // Pre: message_bytes() is no error.
    void append_head(Kind kind, std::vector<std::byte>& out) const;
    void append_column_head(std::size_t column, std::vector<std::byte>& out) const;
    // Pre: the batch was measured.
    void append_column(std::size_t column, const Batch& batch, std::vector<std::byte>& out) const;

private:
    explicit TableWriter(Schema schema);

    std::unique_ptr<const Schema> schema_;  // The columns point into it.
    std::vector<std::string> names_;
    std::vector<ColumnNode> columns_;
    std::uint64_t rows_ = 0;
};

// All of it at once, for results that are small. Pre: the batches are those measured, in order.
void append_table(const TableWriter& table, Kind kind, std::span<const Batch> batches,
                  std::vector<std::byte>& out);

}  // namespace shortq::kdb
