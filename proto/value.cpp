// proto/value.cpp: the parameters of a request to and from bytes. PROTOCOL.md#parameters.
#include "proto/value.h"

#include <optional>
#include <string_view>
#include <utility>

#include "proto/limits.h"
#include "proto/reader.h"
#include "proto/utf8.h"
#include "proto/writer.h"

namespace shortq::proto {
namespace {

// On the wire: append only, never renumber or reuse. Equal to the alternative's place in Value.
enum class ValueTag : std::uint8_t {
    kNull = 0,
    kBool = 1,
    kInt64 = 2,
    kDouble = 3,
    kText = 4,
    kBlob = 5,
    kDate = 6,
    kTimestamp = 7,
};
static_assert(std::variant_size_v<Value> == static_cast<std::size_t>(ValueTag::kTimestamp) + 1);

void pack_value(Packer& packer, const Null& /*value*/) { packer.pack_nil(); }
void pack_value(Packer& packer, bool value) { packer.pack(value); }
void pack_value(Packer& packer, std::int64_t value) { packer.pack_int64(value); }
// msgpack-c's pack(double) writes whole numbers as integers; the type must survive.
void pack_value(Packer& packer, double value) { packer.pack_double(value); }
void pack_value(Packer& packer, const std::string& value) { pack_text(packer, value); }
void pack_value(Packer& packer, const Blob& value) { pack_bytes(packer, value.bytes); }
void pack_value(Packer& packer, const Date& value) { packer.pack_int32(value.days); }
void pack_value(Packer& packer, const Timestamp& value) { packer.pack_int64(value.microseconds); }

std::optional<Value> read_number(Reader& reader, ValueTag tag) {
    std::int64_t number = 0;
    if (!reader.signed_int(number)) {
        return std::nullopt;
    }
    if (tag == ValueTag::kInt64) {
        return number;
    }
    if (tag == ValueTag::kTimestamp) {
        return Timestamp{number};
    }
    if (!std::in_range<std::int32_t>(number)) {
        return std::nullopt;
    }
    return Date{static_cast<std::int32_t>(number)};
}

// The value behind `tag`; nothing if the bytes are not such a value.
std::optional<Value> read_value(Reader& reader, ValueTag tag) {
    bool flag = false;
    double real = 0;
    std::string_view view;
    switch (tag) {
        case ValueTag::kNull:
            return reader.nil() ? std::optional<Value>(Null{}) : std::nullopt;
        case ValueTag::kBool:
            return reader.boolean(flag) ? std::optional<Value>(flag) : std::nullopt;
        case ValueTag::kDouble:
            return reader.float64(real) ? std::optional<Value>(real) : std::nullopt;
        case ValueTag::kText:
            return reader.str(view) && is_utf8(view) ? std::optional<Value>(std::string(view))
                                                     : std::nullopt;
        case ValueTag::kBlob:
            return reader.bin(view) ? std::optional<Value>(Blob{std::string(view)}) : std::nullopt;
        case ValueTag::kInt64:
        case ValueTag::kDate:
        case ValueTag::kTimestamp:
            return read_number(reader, tag);
    }
    return std::nullopt;
}

tl::unexpected<Error> malformed(std::size_t number, const char* problem) {
    return fail(ErrorCode::kBadRequest,
                "malformed parameters: parameter " + std::to_string(number) + ' ' + problem);
}

Result<Parameter> read_parameter(Reader& reader, std::size_t number) {
    std::uint64_t items = 0;
    std::uint64_t tag = 0;
    std::string_view name;
    if (!reader.array(items) || items != 3) {
        return malformed(number, "is not an array of name, type and value");
    }
    if (!reader.str(name) || !is_utf8(name)) {
        return malformed(number, "has a name that is not UTF-8 text");
    }
    if (name.size() > kParameterNameBytesMax) {
        return fail(ErrorCode::kTooLarge, "the name of parameter " + std::to_string(number) +
                                              " is over " + std::to_string(kParameterNameBytesMax) +
                                              " bytes");
    }
    if (!reader.unsigned_int(tag) || tag > static_cast<std::uint64_t>(ValueTag::kTimestamp)) {
        return malformed(number, "has an unknown type");
    }
    std::optional<Value> value = read_value(reader, static_cast<ValueTag>(tag));
    if (!value) {
        return malformed(number, "has a value that is not of its type");
    }
    return Parameter{std::string(name), std::move(*value)};
}

}  // namespace

std::vector<std::byte> encode_parameters(std::span<const Parameter> parameters) {
    ByteStream stream;
    Packer packer(stream);
    packer.pack_array(packed_size(parameters.size()));
    for (const Parameter& parameter : parameters) {
        packer.pack_array(3);
        pack_text(packer, parameter.name);
        packer.pack(static_cast<std::uint8_t>(parameter.value.index()));
        std::visit([&](const auto& value) { pack_value(packer, value); }, parameter.value);
    }
    return stream.take();
}

Result<Parameters> decode_parameters(std::span<const std::byte> frame) {
    Reader reader(frame);
    std::uint64_t count = 0;
    if (!reader.array(count)) {
        return fail(ErrorCode::kBadRequest, "malformed parameters: not a msgpack array");
    }
    if (count > kParametersMax) {
        return fail(ErrorCode::kTooLarge, std::to_string(count) + " parameters; at most " +
                                              std::to_string(kParametersMax) + " are accepted");
    }
    Parameters parameters;
    for (std::size_t number = 1; number <= count; ++number) {
        Result<Parameter> parameter = read_parameter(reader, number);
        if (!parameter) {
            return tl::unexpected(std::move(parameter.error()));
        }
        parameters.push_back(std::move(*parameter));
    }
    if (!reader.done()) {
        return fail(ErrorCode::kBadRequest,
                    "malformed parameters: spare bytes after the last parameter");
    }
    return parameters;
}

}  // namespace shortq::proto
