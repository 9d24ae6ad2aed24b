// proto/kdb/column_measure.cpp: the first pass over a column: sizes, and what decides its type.
#include <algorithm>

#include "proto/cells.h"
#include "proto/kdb/column.h"
#include "proto/kdb/leaf.h"
#include "proto/kdb/texts.h"

namespace shortq::kdb {
namespace {

using shortq::detail::load;

constexpr std::string_view kDateRange =
    "a date before kdb+'s first: cast the column to VARCHAR or filter it";
constexpr std::string_view kTimestampRange =
    "a timestamp outside kdb+'s range, 1707-09-22 to 2292-04-10: cast the column to VARCHAR or "
    "DATE, or filter it";
constexpr std::string_view kMonths =
    "an interval of months, or too long for a kdb+ timespan: cast the column to VARCHAR";
constexpr std::string_view kNoGuid = "a UUID that is malformed: cast the column to VARCHAR";

// A row that is null because the struct around it is.
void measure_null(ColumnNode& node) {
    ++node.items;
    node.nulls = true;
    if (node.form != Form::kStruct) return;
    for (ColumnNode& child : node.children) measure_null(child);
}

class Measurer {
public:
    Measurer(std::uint64_t first_row, Misfit& misfit) : row_(first_row), misfit_(misfit) {}

    [[nodiscard]] bool measure(ColumnNode& node, const Rows& rows) {
        node.items += static_cast<std::uint64_t>(rows.end - rows.begin);
        if (rows.begin == rows.end) return true;
        switch (node.form) {
            case Form::kBoolean:
                node.nulls = node.nulls || rows.array.null_count != 0;
                return true;
            case Form::kUint64:
                return measure_wide<std::uint64_t>(node, rows);
            case Form::kInt128:
                return measure_wide<Int128>(node, rows);
            case Form::kUint128:
                return measure_wide<UInt128>(node, rows);
            case Form::kText:
            case Form::kBlob:
                measure_texts(node, rows);
                return true;
            case Form::kList:
                return measure_lists(node, rows);
            case Form::kMap:
                return measure_maps(node, rows);
            case Form::kStruct:
                return measure_structs(node, rows);
            default:
                return measure_ranges(node, rows);
        }
    }

private:
    // Whether all valid rows pass.
    template <class Passes>
    [[nodiscard]] bool all(const Rows& rows, std::string_view what, Passes passes) {
        for (auto row = rows.begin; row < rows.end; ++row) {
            if (!is_valid(rows.array, row) || passes(row)) continue;
            misfit_ = {nested_ ? row_ : row_ + static_cast<std::uint64_t>(row - rows.begin), what};
            return false;
        }
        return true;
    }

    [[nodiscard]] bool measure_ranges(const ColumnNode& node, const Rows& rows) {
        const Array& array = rows.array;
        switch (node.form) {
            case Form::kDate:
                return all(rows, kDateRange, [&](std::int64_t row) {
                    std::int32_t to = 0;
                    return to_date(load<std::int32_t>(array.buffers[1], row), to);
                });
            case Form::kTimestamp:
                return all(rows, kTimestampRange, [&](std::int64_t row) {
                    std::int64_t to = 0;
                    return to_timestamp(load<std::int64_t>(array.buffers[1], row), node.per_second,
                                        to);
                });
            case Form::kInterval:
                return all(rows, kMonths, [&](std::int64_t row) {
                    std::int64_t to = 0;
                    return to_timespan(load<Interval>(array.buffers[1], row), to);
                });
            case Form::kGuid:
                return all(rows, kNoGuid, [&](std::int64_t row) {
                    return parse_guid(*shortq::detail::bytes_at(node.field->format, array, row))
                        .has_value();
                });
            default:
                return true;
        }
    }

    template <class T>
    [[nodiscard]] static bool measure_wide(ColumnNode& node, const Rows& rows) {
        for (auto row = rows.begin; row < rows.end && !node.wide; ++row) {
            node.wide =
                is_valid(rows.array, row) && !fits_long(load<T>(rows.array.buffers[1], row));
        }
        return true;
    }

    static void measure_texts(ColumnNode& node, const Rows& rows) {
        const bool symbols = node.form == Form::kText && !node.char_vectors;
        std::uint64_t bytes = 0;
        bool nul = false;
        for_each_text(*node.field, rows, [&](std::string_view text) {
            bytes += text.size();
            nul = nul || (symbols && text.find('\0') != std::string_view::npos);
        });
        node.text_bytes += bytes;
        node.char_vectors = node.char_vectors || nul;
    }

    // Rows of nested arrays are not rows of the result: row_ says which one they are in.
    template <class Visit>
    [[nodiscard]] bool for_each_cell(const Rows& rows, Visit visit) {
        const auto [row_before, nested_before] = std::pair(row_, nested_);
        nested_ = true;
        bool fits = true;
        for (auto row = rows.begin; row < rows.end && fits; ++row) {
            if (!nested_before) row_ = row_before + static_cast<std::uint64_t>(row - rows.begin);
            fits = visit(row);
        }
        row_ = row_before;
        nested_ = nested_before;
        return fits;
    }

    [[nodiscard]] bool measure_lists(ColumnNode& node, const Rows& rows) {
        const Array& array = rows.array;
        return for_each_cell(rows, [&](std::int64_t row) {
            if (!is_valid(array, row)) return true;
            const auto range = *shortq::detail::list_range(node.field->format, array, row);
            return measure(node.children[0], {array.children[0], range.begin, range.end});
        });
    }

    [[nodiscard]] bool measure_maps(ColumnNode& node, const Rows& rows) {
        const Array& array = rows.array;
        const auto& entries = array.children[0].children;
        return for_each_cell(rows, [&](std::int64_t row) {
            if (!is_valid(array, row)) return true;
            const auto range = *shortq::detail::list_range(node.field->format, array, row);
            return measure(node.children[0], {entries[0], range.begin, range.end}) &&
                   measure(node.children[1], {entries[1], range.begin, range.end});
        });
    }

    [[nodiscard]] bool measure_structs(ColumnNode& node, const Rows& rows) {
        const Array& array = rows.array;
        return for_each_cell(rows, [&](std::int64_t row) {
            const bool valid = is_valid(array, row);
            for (std::size_t i = 0; i < node.children.size(); ++i) {
                if (!valid) {
                    measure_null(node.children[i]);
                } else if (!measure(node.children[i], {array.children[i], row, row + 1})) {
                    return false;
                }
            }
            return true;
        });
    }

    std::uint64_t row_;
    bool nested_ = false;
    Misfit& misfit_;
};

}  // namespace

bool measure(ColumnNode& node, const Rows& rows, std::uint64_t first_row, Misfit& misfit) {
    return Measurer(first_row, misfit).measure(node, rows);
}

}  // namespace shortq::kdb
