// tools/cli/writer.h: how results are printed: one interface, a class per format.
#pragma once

#include <cstdint>
#include <memory>

#include "shortq/table.h"
#include "tools/cli/output.h"

namespace shortq::cli {

enum class Format : std::uint8_t { kTable, kCsv, kJson, kNdjson, kMarkdown };

// A result is begun, given in parts, and ended; the next one may follow. A statement without a
// result prints nothing (json: []).
class Writer {
public:
    virtual ~Writer() = default;
    virtual void begin(const Schema& schema, Output& out) = 0;
    // Some rows of the result that was begun. Tables share their buffers: to keep one is cheap.
    virtual void rows(const Table& part, Output& out) = 0;
    virtual void end(Output& out) = 0;

    void write(const Table& table, Output& out) {
        begin(table.schema(), out);
        rows(table, out);
        end(out);
    }
};

// What a table for people has to fit into. 0: no bound.
struct Screen {
    std::size_t columns = 0;
    std::size_t rows_shown_max = 0;  // Beyond, only the first and the last rows are shown.
};

[[nodiscard]] std::unique_ptr<Writer> make_writer(Format format, Screen screen = {});

// What decides alignment and JSON types: the kind of a column's values.
enum class ColumnKind : std::uint8_t { kText, kNumber, kBoolean };
[[nodiscard]] ColumnKind kind_of(const Field& field);

// One per source file.
[[nodiscard]] std::unique_ptr<Writer> make_table_writer(Screen screen);
[[nodiscard]] std::unique_ptr<Writer> make_csv_writer();
[[nodiscard]] std::unique_ptr<Writer> make_json_writer(bool one_per_line);
[[nodiscard]] std::unique_ptr<Writer> make_markdown_writer();

}  // namespace shortq::cli
