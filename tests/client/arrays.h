// tests/client/arrays.h: hand-made Arrow-layout arrays.
#pragma once

#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/columnar.h"

namespace shortq::test {

[[nodiscard]] Buffer own_bytes(std::vector<std::byte> bytes);

template <class T>
[[nodiscard]] Buffer buffer_of(const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return own_bytes(std::move(bytes));
}

[[nodiscard]] Buffer bits_of(const std::vector<bool>& bits);

// A fixed-width array without nulls: an empty validity buffer, then the values.
template <class T>
[[nodiscard]] Array fixed(const std::vector<T>& values) {
    Array array;
    array.length = static_cast<std::int64_t>(values.size());
    array.buffers = {Buffer{}, buffer_of(values)};
    return array;
}

// Marks rows as null where `valid` is false.
[[nodiscard]] Array with_nulls(Array array, const std::vector<bool>& valid);

[[nodiscard]] Array booleans(const std::vector<bool>& values);
[[nodiscard]] Array texts(const std::vector<std::string>& values);  // Format "u" or "z".

// Offsets into one child: format "+l"; with "+m", the child is the entries' struct.
[[nodiscard]] Array list(const std::vector<std::int32_t>& offsets, Array child);
[[nodiscard]] Array structure(std::int64_t length, std::vector<Array> children);

[[nodiscard]] Field field(std::string name, std::string format, std::vector<Field> children = {},
                          std::string engine_type = {});

}  // namespace shortq::test
