#include "proto/kdb/table.h"

#include <utility>

#include "proto/kdb/bytes.h"
#include "proto/kdb/column.h"
#include "proto/kdb/message.h"
#include "proto/kdb/names.h"
#include "proto/kdb/reply.h"

namespace shortq::kdb {

TableWriter::TableWriter(Schema schema)
    : schema_(std::make_unique<const Schema>(std::move(schema))) {}
TableWriter::TableWriter(TableWriter&&) noexcept = default;
TableWriter& TableWriter::operator=(TableWriter&&) noexcept = default;
TableWriter::~TableWriter() = default;

Result<TableWriter> TableWriter::make(Schema schema, TableOptions options) {
    TableWriter table(std::move(schema));
    for (const Field& field : table.schema_->fields) {
        auto node = make_node(field, options.texts_as_char_vectors);
        if (!node) return tl::unexpected(std::move(node.error()));
        table.columns_.push_back(std::move(*node));
        table.names_.push_back(field.name);
    }
    table.names_ = distinct_names(std::move(table.names_));
    return table;
}

std::size_t TableWriter::columns() const { return columns_.size(); }

Result<void> TableWriter::measure(const Batch& batch) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        Misfit misfit;
        if (kdb::measure(columns_[i], {batch.columns[i], 0, batch.rows}, rows_, misfit)) continue;
        return fail(ErrorCode::kBadRequest, "column \"" + schema_->fields[i].name + "\", row " +
                                                std::to_string(misfit.row + 1) + " has " +
                                                std::string(misfit.what));
    }
    rows_ += static_cast<std::uint64_t>(batch.rows);
    if (rows_ <= kCountMax) return {};
    return fail(ErrorCode::kTooLarge, "the result has over " + std::to_string(kCountMax) +
                                          " rows, more than a kdb+ table that can be sent: ask "
                                          "for fewer");
}

Result<std::uint64_t> TableWriter::message_bytes() const {
    if (columns_.empty()) return kHeaderBytes + 2;
    std::uint64_t bytes = kHeaderBytes + 3 + symbols_bytes(names_) + kVectorHeadBytes;
    for (const ColumnNode& column : columns_) bytes += kVectorHeadBytes + items_bytes(column);
    if (bytes > kMessageBytesMax) return tl::unexpected(result_too_large(rows_, bytes));
    return bytes;
}

void TableWriter::append_head(Kind kind, std::vector<std::byte>& out) const {
    if (columns_.empty()) return append_nothing(kind, out);
    append_header(kind, *message_bytes(), out);
    for (const auto byte : {static_cast<int>(Type::kTable), 0, static_cast<int>(Type::kDictionary)})
        out.push_back(static_cast<std::byte>(byte));
    append_symbols(names_, out);
    append_vector_head(Type::kList, columns_.size(), out);
}

void TableWriter::append_column_head(std::size_t column, std::vector<std::byte>& out) const {
    append_vector_head(vector_type(columns_[column]), rows_, out);
}

void TableWriter::append_column(std::size_t column, const Batch& batch,
                                std::vector<std::byte>& out) const {
    append_items(columns_[column], {batch.columns[column], 0, batch.rows}, out);
}

void append_table(const TableWriter& table, Kind kind, std::span<const Batch> batches,
                  std::vector<std::byte>& out) {
    table.append_head(kind, out);
    for (std::size_t column = 0; column < table.columns(); ++column) {
        table.append_column_head(column, out);
        for (const Batch& batch : batches) table.append_column(column, batch, out);
    }
}

}  // namespace shortq::kdb
