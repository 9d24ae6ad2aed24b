#include "tools/cli/writer.h"

namespace shortq::cli {

std::unique_ptr<Writer> make_writer(Format format, Screen screen) {
    switch (format) {
        case Format::kCsv:
            return make_csv_writer();
        case Format::kJson:
            return make_json_writer(false);
        case Format::kNdjson:
            return make_json_writer(true);
        case Format::kMarkdown:
            return make_markdown_writer();
        case Format::kTable:
            break;
    }
    return make_table_writer(screen);
}

ColumnKind kind_of(const Field& field) {
    if (!field.dictionary.empty()) return ColumnKind::kText;
    if (field.format == "b") return ColumnKind::kBoolean;
    const bool number = field.format.starts_with("d:") || field.engine_type == "BIGNUM" ||
                        (field.format.size() == 1 && field.format.find_first_of("cCsSiIlLfg") == 0);
    return number ? ColumnKind::kNumber : ColumnKind::kText;
}

}  // namespace shortq::cli
