// proto/kdb/object.h: any value of kdb+ in memory, from bytes and to bytes. The doors read queries
// and write tables without it; it serves tests, the bench, and clients that we write ourselves.
// Source: code.kx.com/q/kb/serialization.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "proto/error.h"
#include "proto/kdb/types.h"

namespace shortq::kdb {

using Guid = std::array<std::uint8_t, 16>;  // In the order of its text.

// `items` holds, by type:
//   boolean, byte                                    vector<uint8_t>
//   guid, symbol                                     vector<Guid>, vector<string>
//   short                                            vector<int16_t>
//   int, month, date, minute, second, time           vector<int32_t>
//   long, timestamp, timespan                        vector<int64_t>
//   real                                             vector<float>
//   float, datetime                                  vector<double>
//   char, error                                      string
//   general list                                     vector<Object>, its items
//   dictionary                                       vector<Object>: keys and values
//   table                                            vector<Object>: a dictionary of columns
//   lambda                                           vector<Object>: its context (a symbol), text
//   projection, composition                          vector<Object>, its parts
//   functions that iterators make (106 to 111)       vector<Object>: the function
//   unary, binary, iterator                          vector<uint8_t>: its number
// An atom is a vector of one.
struct Object {
    using Items = std::variant<std::vector<std::uint8_t>, std::vector<Guid>,
                               std::vector<std::int16_t>, std::vector<std::int32_t>,
                               std::vector<std::int64_t>, std::vector<float>, std::vector<double>,
                               std::string, std::vector<std::string>, std::vector<Object>>;
    std::int8_t type = static_cast<std::int8_t>(Type::kUnary);
    std::uint8_t attribute = 0;  // Of vectors, lists and tables: sorted, unique, parted, grouped.
    Items items{std::vector<std::uint8_t>{0}};
};

// Shorthands for the objects that clients send most.
[[nodiscard]] Object vector_of(Type type, Object::Items items);
[[nodiscard]] Object atom_of(Type type, Object::Items item);  // Pre: exactly one item.
[[nodiscard]] Object list_of(std::vector<Object> items);
[[nodiscard]] Object text_of(std::string_view text);  // A char vector.

// Reads a body: exactly one object.
// Errors: kBadRequest: malformed, cut short, spare bytes, over kDepthMax deep, or a type that is
//         never sent (enumerations, mapped lists). `body` is untrusted; counts are checked against
//         the bytes there are before memory is taken.
[[nodiscard]] Result<Object> decode(std::span<const std::byte> body, ByteOrder order);

// Appends the object's bytes. Pre: `items` holds what `type` says; symbols, errors and contexts
// have no NUL; counts are within kCountMax.
void append_object(const Object& object, ByteOrder order, std::vector<std::byte>& out);

// The object as a whole message. Pre: as append_object().
[[nodiscard]] std::vector<std::byte> encode_message(const Object& object, Kind kind,
                                                    ByteOrder order = ByteOrder::kLittle);

}  // namespace shortq::kdb
