// proto/schema.cpp: the schema frame of a reply to and from bytes. PROTOCOL.md#results.
#include <string_view>
#include <utility>

#include "proto/columnar.h"
#include "proto/limits.h"
#include "proto/reader.h"
#include "proto/utf8.h"
#include "proto/writer.h"

namespace shortq::proto {
namespace {

constexpr std::uint64_t kFieldItems = 7;
constexpr std::string_view kCut = "...";

// The engine's name of an ENUM holds every value; what people can read is enough.
void pack_engine_type(Packer& packer, std::string_view text) {
    if (text.size() <= kEngineTypeBytesMax) {
        return pack_text(packer, text);
    }
    std::size_t end = kEngineTypeBytesMax - kCut.size();
    while (end > 0 && (static_cast<std::uint8_t>(text[end]) & 0xc0U) == 0x80U) {
        --end;  // Not in the middle of a character.
    }
    pack_text(packer, std::string(text.substr(0, end)).append(kCut));
}

void pack_fields(Packer& packer, const std::vector<Field>& fields);

void pack_field(Packer& packer, const Field& field) {
    packer.pack_array(kFieldItems);
    pack_text(packer, field.name);
    pack_text(packer, field.format);
    pack_engine_type(packer, field.engine_type);
    packer.pack(field.nullable);
    packer.pack_array(packed_size(2 * field.metadata.size()));
    for (const auto& [key, value] : field.metadata) {
        pack_text(packer, key);
        pack_bytes(packer, value);
    }
    pack_fields(packer, field.children);
    pack_fields(packer, field.dictionary);
}

void pack_fields(Packer& packer, const std::vector<Field>& fields) {
    packer.pack_array(packed_size(fields.size()));
    for (const Field& field : fields) {
        pack_field(packer, field);
    }
}

tl::unexpected<Error> malformed(std::string_view problem) {
    return fail(ErrorCode::kBadRequest, std::string("malformed schema: ").append(problem));
}

// Reads fields until something is wrong. Fields and metadata entries are counted together, so
// that few bytes cannot ask for much memory.
class SchemaReader {
public:
    explicit SchemaReader(std::span<const std::byte> frame) : reader_(frame) {}

    Result<Schema> read() {
        Schema schema;
        if (auto ok = read_fields(schema.fields, 1); !ok) {
            return tl::unexpected(std::move(ok.error()));
        }
        if (!reader_.done()) {
            return malformed("spare bytes after the last field");
        }
        return schema;
    }

private:
    Result<void> read_fields(std::vector<Field>& fields, std::size_t depth) {
        std::uint64_t count = 0;
        if (!reader_.array(count)) {
            return malformed("a list of fields is not an array");
        }
        if (count > 0 && depth > kSchemaDepthMax) {
            return fail(ErrorCode::kTooLarge, "the schema is nested more than " +
                                                  std::to_string(kSchemaDepthMax) + " deep");
        }
        for (; count > 0; --count) {
            if (auto ok = charge(); !ok) {
                return ok;
            }
            if (auto ok = read_field(fields.emplace_back(), depth); !ok) {
                return ok;
            }
        }
        return {};
    }

    Result<void> read_field(Field& field, std::size_t depth) {
        std::uint64_t items = 0;
        if (!reader_.array(items) || items != kFieldItems) {
            return malformed("a field is not an array of " + std::to_string(kFieldItems));
        }
        if (!read_text(field.name) || !read_text(field.format) || !read_text(field.engine_type)) {
            return malformed("a field's name, format or engine type is not UTF-8 text");
        }
        if (!reader_.boolean(field.nullable)) {
            return malformed("a field's nullable is not a boolean");
        }
        if (auto ok = read_metadata(field); !ok) {
            return ok;
        }
        if (auto ok = read_fields(field.children, depth + 1); !ok) {
            return ok;
        }
        if (auto ok = read_fields(field.dictionary, depth + 1); !ok) {
            return ok;
        }
        return field.dictionary.size() > 1 ? malformed("a field has more than one dictionary")
                                           : Result<void>{};
    }

    Result<void> read_metadata(Field& field) {
        std::uint64_t items = 0;
        if (!reader_.array(items) || items % 2 != 0) {
            return malformed("a field's metadata is not an array of keys and values");
        }
        for (; items > 0; items -= 2) {
            if (auto ok = charge(); !ok) {
                return ok;
            }
            auto& [key, value] = field.metadata.emplace_back();
            std::string_view view;
            if (!read_text(key) || !reader_.bin(view)) {
                return malformed("a metadata entry is not a text and bytes");
            }
            value = view;
        }
        return {};
    }

    Result<void> charge() {
        if (++nodes_ > kColumnsMax) {
            return fail(ErrorCode::kTooLarge,
                        "the schema has more than " + std::to_string(kColumnsMax) + " fields");
        }
        return {};
    }

    bool read_text(std::string& text) {
        std::string_view view;
        if (!reader_.str(view) || !is_utf8(view)) {
            return false;
        }
        text = view;
        return true;
    }

    Reader reader_;
    std::size_t nodes_ = 0;
};

}  // namespace

std::vector<std::byte> encode_schema(const Schema& schema) {
    ByteStream stream;
    Packer packer(stream);
    pack_fields(packer, schema.fields);
    return stream.take();
}

Result<Schema> decode_schema(std::span<const std::byte> frame) {
    if (frame.size() > kSchemaBytesMax) {
        return fail(ErrorCode::kTooLarge,
                    "the schema is over " + std::to_string(kSchemaBytesMax) + " bytes");
    }
    return SchemaReader(frame).read();
}

}  // namespace shortq::proto
