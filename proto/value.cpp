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

// Packs the value itself, whatever its alternative.
class ValuePacker {
public:
    ValuePacker(ByteStream& stream, Packer& packer) : stream_(stream), packer_(packer) {}

    void operator()(const Null& /*value*/) const { packer_.pack_nil(); }
    void operator()(bool value) const { packer_.pack(value); }
    void operator()(std::int64_t value) const { packer_.pack_int64(value); }
    void operator()(double value) const { pack_float64(stream_, value); }
    void operator()(const std::string& value) const { pack_text(packer_, value); }
    void operator()(const Blob& value) const { pack_bytes(packer_, value.bytes); }
    void operator()(const Date& value) const { packer_.pack_int32(value.days); }
    void operator()(const Timestamp& value) const { packer_.pack_int64(value.microseconds); }

private:
    ByteStream& stream_;
    Packer& packer_;
};

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

// Many msgpack libraries write 2.0 as the integer 2, or as a float 32.
std::optional<Value> read_double(Reader& reader) {
    double real = 0;
    std::int64_t number = 0;
    if (reader.floating(real)) {
        return real;
    }
    return reader.signed_int(number) ? std::optional<Value>(static_cast<double>(number))
                                     : std::nullopt;
}

// The value behind `tag`; nothing if the bytes are not such a value.
std::optional<Value> read_value(Reader& reader, ValueTag tag) {
    bool flag = false;
    std::string_view view;
    switch (tag) {
        case ValueTag::kNull:
            return reader.nil() ? std::optional<Value>(Null{}) : std::nullopt;
        case ValueTag::kBool:
            return reader.boolean(flag) ? std::optional<Value>(flag) : std::nullopt;
        case ValueTag::kDouble:
            return read_double(reader);
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
        std::visit(ValuePacker(stream, packer), parameter.value);
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
