#include "worker/engine/duckdb_arrow.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "worker/engine/duckdb_handles.h"
#include "worker/engine/duckdb_types.h"

// The Arrow C data interface, as its specification prints it.
extern "C" {
struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    std::int64_t flags;
    std::int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};
struct ArrowArray {
    std::int64_t length;
    std::int64_t null_count;
    std::int64_t offset;
    std::int64_t n_buffers;
    std::int64_t n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};
}

namespace shortq::engine {
namespace {

constexpr std::int64_t kFlagNullable = 2;

// An exported struct, released by the callback it carries.
template <class T>
struct Exported {
    Exported() = default;
    Exported(const Exported&) = delete;
    Exported& operator=(const Exported&) = delete;
    ~Exported() {
        if (value.release != nullptr) value.release(&value);
    }
    T value{};
};

tl::unexpected<Error> export_failed(duckdb_error_data data, std::string_view what) {
    const ErrorData error(data);
    return fail(ErrorCode::kInternal,
                std::string(what) + ": " + duckdb_error_data_message(error.get()));
}

// Metadata is int32 counts and lengths in native byte order, then the bytes.
std::vector<std::pair<std::string, std::string>> metadata_of(const char* bytes) {
    std::vector<std::pair<std::string, std::string>> out;
    if (bytes == nullptr) return out;
    const auto number = [&bytes] {
        std::int32_t value = 0;
        std::memcpy(&value, bytes, sizeof value);
        bytes += sizeof value;
        return value;
    };
    const auto text = [&] {
        const std::int32_t length = number();
        std::string value(bytes, static_cast<std::size_t>(length));
        bytes += length;
        return value;
    };
    for (std::int32_t left = number(); left > 0; --left) {
        std::string key = text();
        out.emplace_back(std::move(key), text());
    }
    return out;
}

Field field_of(const ArrowSchema& schema) {
    Field field;
    field.name = schema.name == nullptr ? "" : schema.name;
    field.format = schema.format;
    field.nullable = (schema.flags & kFlagNullable) != 0;
    field.metadata = metadata_of(schema.metadata);
    for (std::int64_t i = 0; i < schema.n_children; ++i) {
        field.children.push_back(field_of(*schema.children[i]));
    }
    if (schema.dictionary != nullptr) field.dictionary.push_back(field_of(*schema.dictionary));
    return field;
}

std::size_t number_after(std::string_view format, std::size_t from) {
    std::size_t value = 0;
    std::from_chars(format.data() + std::min(from, format.size()), format.data() + format.size(),
                    value);
    return value;
}

// Bits of one value of a fixed-width format; 0 for any other format.
std::size_t fixed_bits(std::string_view format) {
    if (format == "b") return 1;
    if (format == "c" || format == "C") return 8;
    if (format == "s" || format == "S" || format == "e") return 16;
    if (format == "i" || format == "I" || format == "f") return 32;
    if (format == "l" || format == "L" || format == "g") return 64;
    if (format == "tdD" || format == "tts" || format == "ttm" || format == "tiM") return 32;
    if (format == "tin") return 128;
    if (format.starts_with("t")) return 64;
    if (format.starts_with("w:")) return 8 * number_after(format, 2);
    if (format.starts_with("d:")) {
        const std::size_t comma = format.rfind(',');
        const bool has_width = format.find(',') != comma;
        return has_width ? number_after(format, comma + 1) : 128;
    }
    return 0;
}

// Turns one exported array and its descendants into Arrays that share `owner`.
class Importer {
public:
    explicit Importer(std::shared_ptr<const void> owner) : owner_(std::move(owner)) {}

    Result<Array> import(const Field& field, const ArrowArray& from) const {
        if (from.offset != 0) return broken(field, "an offset");
        Array array;
        array.length = from.length;
        array.null_count = from.null_count;
        if (!add_buffers(field, from, array)) return broken(field, "an unknown layout");
        if (static_cast<std::size_t>(from.n_children) != field.children.size() ||
            (from.dictionary != nullptr) != !field.dictionary.empty()) {
            return broken(field, "other children than its schema");
        }
        for (std::size_t i = 0; i < field.children.size(); ++i) {
            auto child = import(field.children[i], *from.children[i]);
            if (!child) return child;
            array.children.push_back(std::move(*child));
        }
        if (from.dictionary != nullptr) {
            auto dictionary = import(field.dictionary.front(), *from.dictionary);
            if (!dictionary) return dictionary;
            array.dictionary.push_back(std::move(*dictionary));
        }
        return array;
    }

private:
    static tl::unexpected<Error> broken(const Field& field, std::string_view what) {
        return fail(ErrorCode::kInternal, "column \"" + field.name + "\" of format " +
                                              field.format + " was exported with " +
                                              std::string(what));
    }

    Buffer share(const void* data, std::size_t bytes) const {
        if (data == nullptr || bytes == 0) return {};
        return {{static_cast<const std::byte*>(data), bytes}, owner_};
    }

    void add_validity(const ArrowArray& from, Array& array) const {
        const auto bytes = static_cast<std::size_t>(from.length + 7) / 8;
        const void* bitmap = from.buffers[0];
        if (bitmap == nullptr) array.null_count = 0;
        if (array.null_count < 0) array.null_count = count_nulls(bitmap, from.length);
        array.buffers.push_back(array.null_count == 0 ? Buffer{} : share(bitmap, bytes));
    }

    static std::int64_t count_nulls(const void* bitmap, std::int64_t length) {
        const auto* bytes = static_cast<const unsigned char*>(bitmap);
        std::int64_t nulls = 0;
        for (std::int64_t i = 0; i < length; ++i) {
            nulls += ((bytes[i / 8] >> (i % 8)) & 1) == 0 ? 1 : 0;
        }
        return nulls;
    }

    // The offsets buffer at place 1, and what its last entry says about the length of the data.
    template <class Offset>
    std::size_t add_offsets(const ArrowArray& from, Array& array) const {
        static constexpr Offset kZero = 0;
        const auto count = static_cast<std::size_t>(from.length) + 1;
        const auto* offsets = static_cast<const Offset*>(from.buffers[1]);
        if (offsets == nullptr) offsets = &kZero;  // Allowed for a length of 0.
        array.buffers.push_back(share(offsets, count * sizeof(Offset)));
        return static_cast<std::size_t>(offsets[count - 1]);
    }

    bool add_buffers(const Field& field, const ArrowArray& from, Array& array) const {
        const std::string_view format = field.format;
        const auto length = static_cast<std::size_t>(from.length);
        if (format == "n") {
            array.null_count = from.length;
            return true;
        }
        if (format.starts_with("+u")) {
            array.null_count = 0;
            array.buffers.push_back(share(from.buffers[0], length));
            if (format.starts_with("+ud")) {
                array.buffers.push_back(share(from.buffers[1], length * sizeof(std::int32_t)));
            }
            return true;
        }
        add_validity(from, array);
        if (format == "+s" || format.starts_with("+w:")) return true;
        if (format == "+l" || format == "+m") return add_offsets<std::int32_t>(from, array), true;
        if (format == "+L") return add_offsets<std::int64_t>(from, array), true;
        if (format == "u" || format == "z") {
            array.buffers.push_back(share(from.buffers[2], add_offsets<std::int32_t>(from, array)));
            return true;
        }
        if (format == "U" || format == "Z") {
            array.buffers.push_back(share(from.buffers[2], add_offsets<std::int64_t>(from, array)));
            return true;
        }
        const std::size_t bits = fixed_bits(format);
        if (bits == 0) return false;
        array.buffers.push_back(share(from.buffers[1], (length * bits + 7) / 8));
        return true;
    }

    std::shared_ptr<const void> owner_;
};

// DuckDB exports TIME WITH TIME ZONE as a plain time and drops the offset; so such a column leaves
// as text. (Inside a LIST or STRUCT the offset is lost.)
constexpr std::string_view kTimeTz = "TIME WITH TIME ZONE";

bool is_time_tz(const Field& field) { return field.engine_type == kTimeTz; }

void append_two_digits(std::string& out, std::int64_t value) {
    out += static_cast<char>('0' + value / 10);
    out += static_cast<char>('0' + value % 10);
}

// "12:30:00.5+02", as DuckDB writes it.
void append_time_tz(std::string& out, duckdb_time_tz value) {
    const duckdb_time_tz_struct parts = duckdb_from_time_tz(value);
    append_two_digits(out, parts.time.hour);
    append_two_digits(out += ':', parts.time.min);
    append_two_digits(out += ':', parts.time.sec);
    if (parts.time.micros != 0) {
        std::string fraction = std::to_string(1'000'000 + parts.time.micros);
        fraction.front() = '.';
        fraction.erase(fraction.find_last_not_of('0') + 1);
        out += fraction;
    }
    const std::int64_t offset = parts.offset < 0 ? -std::int64_t{parts.offset} : parts.offset;
    append_two_digits(out += parts.offset < 0 ? '-' : '+', offset / 3600);
    if (offset % 3600 != 0) append_two_digits(out += ':', offset / 60 % 60);
    if (offset % 60 != 0) append_two_digits(out += ':', offset % 60);
}

template <class Container>
Buffer buffer_of(Container values) {
    const auto owner = std::make_shared<const Container>(std::move(values));
    return {std::as_bytes(std::span(*owner)), owner};
}

// Keeps the exported validity and writes the values anew.
Array time_tz_column(Array exported, duckdb_vector vector) {
    const auto* values = static_cast<const duckdb_time_tz*>(duckdb_vector_get_data(vector));
    std::uint64_t* validity = duckdb_vector_get_validity(vector);
    std::string text;
    std::vector<std::int32_t> offsets{0};
    for (idx_t row = 0; row < static_cast<idx_t>(exported.length); ++row) {
        if (duckdb_validity_row_is_valid(validity, row)) append_time_tz(text, values[row]);
        offsets.push_back(static_cast<std::int32_t>(text.size()));
    }
    exported.buffers.resize(1);
    exported.buffers.push_back(buffer_of(std::move(offsets)));
    exported.buffers.push_back(buffer_of(std::move(text)));
    return exported;
}

}  // namespace

Result<Schema> schema_of(duckdb_arrow_options options, duckdb_result* result) {
    const idx_t count = duckdb_column_count(result);
    std::vector<LogicalType> types;
    std::vector<duckdb_logical_type> raw_types;
    std::vector<const char*> names;
    for (idx_t i = 0; i < count; ++i) {
        types.emplace_back(duckdb_column_logical_type(result, i));
        raw_types.push_back(types.back().get());
        names.push_back(duckdb_column_name(result, i));
    }
    Exported<ArrowSchema> exported;
    if (auto* error = duckdb_to_arrow_schema(options, raw_types.data(), names.data(), count,
                                             &exported.value)) {
        return export_failed(error, "the result's schema");
    }
    Schema schema;
    schema.fields = field_of(exported.value).children;
    for (idx_t i = 0; i < count; ++i) {
        schema.fields[i].engine_type = type_name(raw_types[i]);
        if (is_time_tz(schema.fields[i])) schema.fields[i].format = "u";
    }
    return schema;
}

Result<Batch> batch_of(duckdb_arrow_options options, const Schema& schema,
                       duckdb_data_chunk chunk) {
    const auto exported = std::make_shared<Exported<ArrowArray>>();
    const ArrowArray& rows = exported->value;
    if (auto* error = duckdb_data_chunk_to_arrow(options, chunk, &exported->value)) {
        return export_failed(error, "the result's rows");
    }
    static const Field kExportedTimeTz{"", "ttu", {}, true, {}, {}, {}};
    Batch batch;
    batch.rows = rows.length;
    const Importer importer(exported);
    for (std::size_t i = 0; i < schema.fields.size(); ++i) {
        const bool time_tz = is_time_tz(schema.fields[i]);
        auto column =
            importer.import(time_tz ? kExportedTimeTz : schema.fields[i], *rows.children[i]);
        if (!column) return tl::unexpected(column.error());
        if (time_tz) {
            column = time_tz_column(std::move(*column),
                                    duckdb_data_chunk_get_vector(chunk, static_cast<idx_t>(i)));
        }
        batch.columns.push_back(std::move(*column));
    }
    return batch;
}

}  // namespace shortq::engine
