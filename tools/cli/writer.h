// tools/cli/writer.h: how results are printed: one interface, a class per format.
#pragma once

#include <cstdint>
#include <memory>

#include "shortq/table.h"
#include "tools/cli/output.h"

namespace shortq::cli {

enum class Format : std::uint8_t { kTable, kCsv, kJson, kNdjson, kMarkdown };

// Writers keep no state between results; a statement without a result prints nothing (json: []).
class Writer {
public:
    virtual ~Writer() = default;
    virtual void write(const Table& table, Output& out) = 0;
};

[[nodiscard]] std::unique_ptr<Writer> make_writer(Format format);

// What decides alignment and JSON types: the kind of a column's values.
enum class ColumnKind : std::uint8_t { kText, kNumber, kBoolean };
[[nodiscard]] ColumnKind kind_of(const Field& field);

// One per source file.
[[nodiscard]] std::unique_ptr<Writer> make_table_writer();
[[nodiscard]] std::unique_ptr<Writer> make_csv_writer();
[[nodiscard]] std::unique_ptr<Writer> make_json_writer(bool one_per_line);
[[nodiscard]] std::unique_ptr<Writer> make_markdown_writer();

}  // namespace shortq::cli
