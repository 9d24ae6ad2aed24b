// tools/cli/printed_column.h: the cells of one column of one batch, ready to be printed one after
// the other.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "shortq/table.h"
#include "tools/cli/writer.h"

namespace shortq::cli {

// Prepared once, so that printing a cell of a common type neither looks anything up nor allocates.
// Must not outlive the table.
class PrintedColumn {
public:
    // Pre: the table has one batch.
    PrintedColumn(const Table& table, std::size_t column);

    [[nodiscard]] const Field& field() const { return table_->schema().fields[column_]; }
    [[nodiscard]] ColumnKind kind() const noexcept { return kind_; }
    // Whether the column's texts may hold any character at all.
    [[nodiscard]] bool is_free_text() const noexcept { return free_text_; }

    [[nodiscard]] bool is_null(std::uint64_t row) const {
        if (asks_table_) return table_->is_null(row, column_);
        return !validity_.empty() && (validity_[row / 8] >> row % 8 & std::byte{1}) == std::byte{0};
    }
    // The value as the engine prints it. Pre: it is not null.
    void append(std::string& out, std::uint64_t row) const;
    // The bytes of a text or blob. Pre: it is not null; the column is one of those.
    [[nodiscard]] std::string_view view(std::uint64_t row) const {
        return table_->view(row, column_).value_or(std::string_view{});
    }

private:
    template <class... T>
    using Spans = std::variant<std::monostate, std::span<const T>...>;

    template <class T>
    void try_values();

    const Table* table_;
    std::size_t column_;
    ColumnKind kind_;
    bool is_text_ = false;
    bool free_text_ = false;
    bool asks_table_ = false;  // Nulls that no bitmap tells.
    std::span<const std::byte> validity_;
    Spans<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
          std::uint32_t, std::uint64_t, float, double>
        values_;
};

// The columns of a table of one batch.
[[nodiscard]] std::vector<PrintedColumn> columns_of(const Table& table);

// Calls `visit(columns, row)` for each row of the table, batch by batch, until it returns false.
// Row numbers start anew in each batch.
template <class Visit>
void for_each_row(const Table& table, Visit visit) {
    for (const auto& batch : table.batches()) {
        const Table part(table.schema(), {batch}, {});
        const auto columns = columns_of(part);
        for (std::uint64_t row = 0; row < part.rows(); ++row) {
            if (!visit(columns, row)) return;
        }
    }
}

}  // namespace shortq::cli
