// proto/value.h: one SQL value, and the parameters of a request (PROTOCOL.md#parameters).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "proto/error.h"

namespace shortq {

struct Null {
    bool operator==(const Null&) const = default;
};
struct Blob {
    std::string bytes;
    bool operator==(const Blob&) const = default;
};
// Days since 1970-01-01, and microseconds since 1970-01-01T00:00Z.
struct Date {
    std::int32_t days = 0;
    bool operator==(const Date&) const = default;
};
struct Timestamp {
    std::int64_t microseconds = 0;
    bool operator==(const Timestamp&) const = default;
};

using Value = std::variant<Null, bool, std::int64_t, double, std::string, Blob, Date, Timestamp>;

// A positional parameter has an empty name and binds to `?` or `$1` by its place; a named one binds
// to `$name`.
struct Parameter {
    std::string name;
    Value value;
    bool operator==(const Parameter&) const = default;
};
using Parameters = std::vector<Parameter>;

namespace proto {

// The body frame that follows a request's text. Round-trips exactly.
[[nodiscard]] std::vector<std::byte> encode_parameters(std::span<const Parameter> parameters);

// Errors: kBadRequest for malformed bytes, kTooLarge over kParametersMax. `frame` is untrusted.
[[nodiscard]] Result<Parameters> decode_parameters(std::span<const std::byte> frame);

}  // namespace proto
}  // namespace shortq
