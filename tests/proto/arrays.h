// tests/proto/arrays.h: columns of every Arrow layout, built by hand.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proto/columnar.h"

namespace shortq::test {

struct Column {
    Field field;
    Array array;
};

// A buffer with exactly these bytes on the heap, so that a sanitizer sees one byte too far.
template <class T>
Buffer buffer_of(const std::vector<T>& items) {
    auto bytes = std::make_shared<std::vector<std::byte>>(items.size() * sizeof(T));
    if (!items.empty()) {
        std::memcpy(bytes->data(), items.data(), bytes->size());
    }
    return Buffer{std::span<const std::byte>(*bytes), bytes};
}

inline Buffer text_buffer(const std::string& text) {
    return buffer_of(std::vector<char>(text.begin(), text.end()));
}

// All valid.
template <class T>
Column numbers(const std::string& format, const std::vector<T>& values) {
    const auto length = static_cast<std::int64_t>(values.size());
    return {Field{.name = "x", .format = format},
            Array{.length = length, .buffers = {Buffer{}, buffer_of(values)}}};
}

// `width` zero bytes per row, row 1 null.
Column fixed(const std::string& format, std::size_t width, std::int64_t rows);
// "a", null, "", "bcd".
Column texts32(const std::string& format);
Column texts64(const std::string& format);
// An inline text, null, one in each of two data buffers.
Column views(const std::string& format);
// [1, 2], null, [], [3], over int64 children.
Column list32(const std::string& format);
Column list64(const std::string& format);
Column list_view32();
Column list_view64();
Column fixed_list();    // "+w:2"
Column structure();     // {a: int32, b: text}, row 2 null.
Column map();           // Four rows of text to int64.
Column sparse_union();  // Type ids 5 and 0.
Column dense_union();
Column dictionary();  // Four rows over three texts, row 1 null with a wild index.
Column runs();        // Four rows in two runs.
Column nulls(std::int64_t rows);

// One of each, four rows each, names c0, c1, ...
std::vector<Column> every_layout();

// The columns side by side.
Schema schema_of(const std::vector<Column>& columns);
Batch batch_of(const std::vector<Column>& columns);

// Whether the two hold the same lengths, counts and bytes.
bool same(const Array& left, const Array& right);

}  // namespace shortq::test
