#include "shortq/arrow.h"

#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace shortq {
namespace {

// ---- Schemas ----

// What an exported schema's pointers point into.
struct SchemaParts {
    std::string format;
    std::string name;
    std::string metadata;
    std::vector<ArrowSchema> children;
    std::vector<ArrowSchema*> pointers;
    ArrowSchema dictionary{};
};

void release_schema(ArrowSchema* schema) {
    const std::unique_ptr<SchemaParts> parts(static_cast<SchemaParts*>(schema->private_data));
    for (auto& child : parts->children) {
        if (child.release != nullptr) child.release(&child);
    }
    if (parts->dictionary.release != nullptr) parts->dictionary.release(&parts->dictionary);
    schema->release = nullptr;
}

void append_number(std::string& out, std::size_t number) {
    const auto value = static_cast<std::int32_t>(number);
    std::array<char, sizeof value> bytes{};
    std::memcpy(bytes.data(), &value, sizeof value);
    out.append(bytes.data(), bytes.size());
}

// Their number, then each key and value after its length; native byte order.
std::string encode_metadata(const std::vector<std::pair<std::string, std::string>>& metadata) {
    std::string out;
    if (metadata.empty()) return out;
    append_number(out, metadata.size());
    for (const auto& [key, value] : metadata) {
        append_number(out, key.size());
        out += key;
        append_number(out, value.size());
        out += value;
    }
    return out;
}

void export_field(const Field& field, ArrowSchema* out) {
    auto parts = std::make_unique<SchemaParts>();
    parts->format = field.format;
    parts->name = field.name;
    parts->metadata = encode_metadata(field.metadata);
    parts->children.resize(field.children.size());
    for (std::size_t i = 0; i < field.children.size(); ++i) {
        export_field(field.children[i], &parts->children[i]);
        parts->pointers.push_back(&parts->children[i]);
    }
    if (!field.dictionary.empty()) export_field(field.dictionary[0], &parts->dictionary);
    *out = {};
    out->format = parts->format.c_str();
    out->name = parts->name.c_str();
    out->metadata = parts->metadata.empty() ? nullptr : parts->metadata.data();
    out->flags = field.nullable ? ARROW_FLAG_NULLABLE : 0;
    out->n_children = static_cast<std::int64_t>(parts->pointers.size());
    out->children = parts->pointers.empty() ? nullptr : parts->pointers.data();
    out->dictionary = field.dictionary.empty() ? nullptr : &parts->dictionary;
    out->release = release_schema;
    out->private_data = parts.release();
}

// ---- Arrays ----

// What an exported array's pointers point into.
struct ArrayParts {
    std::vector<Buffer> buffers;  // Keeps them alive.
    std::vector<std::int64_t> view_lengths;
    std::vector<const void*> pointers;
    std::vector<ArrowArray> children;
    std::vector<ArrowArray*> child_pointers;
    ArrowArray dictionary{};
};

void release_array(ArrowArray* array) {
    const std::unique_ptr<ArrayParts> parts(static_cast<ArrayParts*>(array->private_data));
    for (auto& child : parts->children) {
        if (child.release != nullptr) child.release(&child);
    }
    if (parts->dictionary.release != nullptr) parts->dictionary.release(&parts->dictionary);
    array->release = nullptr;
}

bool has_views(const std::string& format) { return format == "vu" || format == "vz"; }

// Null, unions and run ends have no validity: their first buffer, if any, is data.
bool has_validity(const std::string& format) {
    return format != "n" && format != "+r" && !format.starts_with("+u");
}

// How many buffers the C interface wants, which counts those that may be left out at length 0.
std::size_t buffers_of(const std::string& format) {
    if (format == "n" || format == "+r") return 0;
    if (format == "+s" || format.starts_with("+w:") || format.starts_with("+us:")) return 1;
    if (format == "+vl" || format == "+vL") return 3;
    if (format == "u" || format == "z" || format == "U" || format == "Z") return 3;
    return 2;
}

// A buffer of no bytes still has an address: consumers read the first offset of an empty column.
const void* address_of(const Buffer& buffer, bool may_be_absent) {
    alignas(64) static constexpr std::array<std::byte, 64> kZeros{};
    if (!buffer.bytes.empty()) return buffer.bytes.data();
    return may_be_absent ? nullptr : kZeros.data();
}

void point_at_buffers(const std::string& format, ArrayParts& parts) {
    for (std::size_t i = 0; i < parts.buffers.size(); ++i) {
        const bool validity = i == 0 && has_validity(format);
        parts.pointers.push_back(address_of(parts.buffers[i], validity));
    }
    while (parts.pointers.size() < buffers_of(format)) {
        const bool validity = parts.pointers.empty() && has_validity(format);
        parts.pointers.push_back(address_of({}, validity));
    }
    if (!has_views(format)) return;
    for (std::size_t i = 2; i < parts.buffers.size(); ++i) {
        parts.view_lengths.push_back(static_cast<std::int64_t>(parts.buffers[i].bytes.size()));
    }
    parts.pointers.push_back(parts.view_lengths.data());
}

void export_array(const Field& field, const Array& array, ArrowArray* out) {
    auto parts = std::make_unique<ArrayParts>();
    parts->buffers = array.buffers;
    point_at_buffers(field.format, *parts);
    parts->children.resize(array.children.size());
    for (std::size_t i = 0; i < array.children.size(); ++i) {
        export_array(field.children[i], array.children[i], &parts->children[i]);
        parts->child_pointers.push_back(&parts->children[i]);
    }
    if (!array.dictionary.empty()) {
        export_array(field.dictionary[0], array.dictionary[0], &parts->dictionary);
    }
    *out = {};
    out->length = array.length;
    out->null_count = array.null_count;
    out->n_buffers = static_cast<std::int64_t>(parts->pointers.size());
    out->buffers = parts->pointers.empty() ? nullptr : parts->pointers.data();
    out->n_children = static_cast<std::int64_t>(parts->child_pointers.size());
    out->children = parts->child_pointers.empty() ? nullptr : parts->child_pointers.data();
    out->dictionary = array.dictionary.empty() ? nullptr : &parts->dictionary;
    out->release = release_array;
    out->private_data = parts.release();
}

Field struct_of(const Schema& schema) {
    Field field;
    field.format = "+s";
    field.nullable = false;
    field.children = schema.fields;
    return field;
}

void export_rows(const Schema& schema, const Batch& batch, ArrowArray* out) {
    Array rows;
    rows.length = batch.rows;
    rows.buffers.resize(1);  // No row is null.
    rows.children = batch.columns;
    export_array(struct_of(schema), rows, out);
}

// ---- Streams ----

// Where the batches of an exported stream come from.
class Source {
public:
    virtual ~Source() = default;
    [[nodiscard]] virtual Result<Schema> schema() = 0;
    // Released at the end: an array that is not there.
    [[nodiscard]] virtual Result<void> next(ArrowArray* out) = 0;

    std::string last_error;
};

class TableSource final : public Source {
public:
    explicit TableSource(Table table) : table_(std::move(table)) {}
    Result<Schema> schema() override { return table_.schema(); }
    Result<void> next(ArrowArray* out) override {
        if (batch_ < table_.batches().size()) export_batch(table_, batch_++, out);
        return {};
    }

private:
    Table table_;
    std::size_t batch_ = 0;
};

class StreamSource final : public Source {
public:
    explicit StreamSource(Stream stream) : stream_(std::move(stream)) {}
    Result<Schema> schema() override { return stream_.schema(); }
    Result<void> next(ArrowArray* out) override {
        while (!rows_ || batch_ == rows_->batches().size()) {
            auto more = stream_.next();
            if (!more) return tl::unexpected(std::move(more.error()));
            rows_ = *std::move(more);
            batch_ = 0;
            if (!rows_) return {};
        }
        export_batch(*rows_, batch_++, out);
        return {};
    }

private:
    Stream stream_;
    std::optional<Table> rows_;
    std::size_t batch_ = 0;
};

Source& source_of(ArrowArrayStream* stream) { return *static_cast<Source*>(stream->private_data); }

int failed(Source& source, const Error& error) {
    source.last_error = std::string(name_of(error.code)) + ": " + error.message;
    return EIO;
}

// C callers know no exceptions.
template <class Function>
int guarded(Function function) noexcept {
    try {
        return function();
    } catch (const std::exception&) {
        return ENOMEM;
    }
}

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) {
    return guarded([&] {
        const auto schema = source_of(stream).schema();
        if (!schema) return failed(source_of(stream), schema.error());
        export_schema(*schema, out);
        return 0;
    });
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) {
    return guarded([&] {
        *out = {};
        const auto got = source_of(stream).next(out);
        return got ? 0 : failed(source_of(stream), got.error());
    });
}

const char* stream_error(ArrowArrayStream* stream) {
    const auto& text = source_of(stream).last_error;
    return text.empty() ? nullptr : text.c_str();
}

void release_stream(ArrowArrayStream* stream) {
    const std::unique_ptr<Source> source(static_cast<Source*>(stream->private_data));
    stream->release = nullptr;
}

void export_source(std::unique_ptr<Source> source, ArrowArrayStream* out) {
    *out = {};
    out->get_schema = stream_schema;
    out->get_next = stream_next;
    out->get_last_error = stream_error;
    out->release = release_stream;
    out->private_data = source.release();
}

}  // namespace

void export_schema(const Schema& schema, ArrowSchema* out) { export_field(struct_of(schema), out); }

void export_batch(const Table& table, std::size_t batch, ArrowArray* out) {
    assert(batch < table.batches().size());
    export_rows(table.schema(), table.batches()[batch], out);
}

void export_stream(Table table, ArrowArrayStream* out) {
    export_source(std::make_unique<TableSource>(std::move(table)), out);
}

void export_stream(Stream stream, ArrowArrayStream* out) {
    export_source(std::make_unique<StreamSource>(std::move(stream)), out);
}

}  // namespace shortq
