// tests/proto/arrays.cpp: see the header. Every column has four rows unless it says otherwise.
#include "tests/proto/arrays.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace shortq::test {
namespace {

Buffer bitmap(std::uint8_t bits) { return buffer_of(std::vector<std::uint8_t>{bits}); }

// Rows 0, 2 and 3 of four are valid.
Buffer second_is_null() { return bitmap(0b1101); }

using View = std::array<std::int32_t, 4>;

View inline_view(const std::string& text) {
    View view{static_cast<std::int32_t>(text.size())};
    std::memcpy(&view[1], text.data(), text.size());
    return view;
}

View outside_view(const std::string& text, std::int32_t buffer, std::int32_t offset) {
    View view{static_cast<std::int32_t>(text.size()), 0, buffer, offset};
    std::memcpy(&view[1], text.data(), 4);
    return view;
}

template <class Offset>
Column list(const std::string& format) {
    Column child = numbers<std::int64_t>("l", {1, 2, 3});
    child.field.name = "item";
    return {Field{.name = "x", .format = format, .children = {child.field}},
            Array{.length = 4,
                  .null_count = 1,
                  .buffers = {second_is_null(), buffer_of(std::vector<Offset>{0, 2, 2, 2, 3})},
                  .children = {child.array}}};
}

template <class Offset>
Column list_view(const std::string& format) {
    Column column = list<Offset>(format);
    column.array.buffers[1] = buffer_of(std::vector<Offset>{1, 0, 3, 0});
    column.array.buffers.push_back(buffer_of(std::vector<Offset>{2, 0, 0, 1}));
    return column;
}

template <class Offset>
Column texts(const std::string& format) {
    return {Field{.name = "x", .format = format},
            Array{.length = 4,
                  .null_count = 1,
                  .buffers = {second_is_null(), buffer_of(std::vector<Offset>{0, 1, 1, 1, 4}),
                              text_buffer("abcd")}}};
}

Column named(std::string name, Column column) {
    column.field.name = std::move(name);
    return column;
}

}  // namespace

Column fixed(const std::string& format, std::size_t width, std::int64_t rows) {
    const std::vector<std::byte> zeros(width * static_cast<std::size_t>(rows));
    return {
        Field{.name = "x", .format = format},
        Array{.length = rows, .null_count = 1, .buffers = {bitmap(0b11111101), buffer_of(zeros)}}};
}

Column texts32(const std::string& format) { return texts<std::int32_t>(format); }
Column texts64(const std::string& format) { return texts<std::int64_t>(format); }

Column views(const std::string& format) {
    const std::string one = "thirteen byte";
    const std::string two = "and one that is longer";
    const std::vector<View> slots = {inline_view("twelve bytes"), View{99, 0, 99, 99},
                                     outside_view(one, 0, 0), outside_view(two, 1, 1)};
    return {Field{.name = "x", .format = format},
            Array{.length = 4,
                  .null_count = 1,
                  .buffers = {second_is_null(), buffer_of(slots), text_buffer(one),
                              text_buffer('|' + two)}}};
}

Column list32(const std::string& format) { return list<std::int32_t>(format); }
Column list64(const std::string& format) { return list<std::int64_t>(format); }
Column list_view32() { return list_view<std::int32_t>("+vl"); }
Column list_view64() { return list_view<std::int64_t>("+vL"); }

Column fixed_list() {
    const Column child = named("item", numbers<float>("f", {1, 2, 3, 4, 5, 6, 7, 8}));
    return {Field{.name = "x", .format = "+w:2", .children = {child.field}},
            Array{.length = 4,
                  .null_count = 1,
                  .buffers = {second_is_null()},
                  .children = {child.array}}};
}

Column structure() {
    const Column a = named("a", fixed("i", 4, 4));
    const Column b = named("b", texts32("u"));
    return {Field{.name = "x", .format = "+s", .children = {a.field, b.field}},
            Array{.length = 4,
                  .null_count = 1,
                  .buffers = {bitmap(0b1011)},
                  .children = {a.array, b.array}}};
}

Column map() {
    const Column key = named("key", texts32("u"));
    const Column value = named("value", numbers<std::int64_t>("l", {1, 2, 3, 4}));
    Column column{
        Field{.name = "x", .format = "+m"},
        Array{.length = 4,
              .buffers = {Buffer{}, buffer_of(std::vector<std::int32_t>{0, 1, 1, 3, 4})}}};
    column.field.children = {
        Field{.name = "entries", .format = "+s", .children = {key.field, value.field}}};
    column.array.children = {
        Array{.length = 4, .buffers = {Buffer{}}, .children = {key.array, value.array}}};
    return column;
}

Column sparse_union() {
    const Column number = named("number", numbers<std::int64_t>("l", {1, 2, 3, 4}));
    const Column text = named("text", texts32("u"));
    return {Field{.name = "x", .format = "+us:5,0", .children = {number.field, text.field}},
            Array{.length = 4,
                  .buffers = {buffer_of(std::vector<std::int8_t>{5, 0, 0, 5})},
                  .children = {number.array, text.array}}};
}

Column dense_union() {
    Column column = sparse_union();
    column.field.format = "+ud:5,0";
    column.array.buffers.push_back(buffer_of(std::vector<std::int32_t>{3, 0, 3, 0}));
    return column;
}

Column dictionary() {
    Column values = named("", texts32("u"));
    values.array.length = 3;
    return {Field{.name = "x", .format = "C", .dictionary = {values.field}},
            Array{.length = 4,
                  .null_count = 1,
                  .buffers = {second_is_null(), buffer_of(std::vector<std::uint8_t>{0, 200, 2, 1})},
                  .dictionary = {values.array}}};
}

Column runs() {
    const Column ends = named("run_ends", numbers<std::int32_t>("i", {3, 4}));
    const Column values = named("values", numbers<double>("g", {1.5, 2.5}));
    return {Field{.name = "x", .format = "+r", .children = {ends.field, values.field}},
            Array{.length = 4, .children = {ends.array, values.array}}};
}

Column nulls(std::int64_t rows) {
    return {Field{.name = "x", .format = "n"}, Array{.length = rows, .null_count = rows}};
}

std::vector<Column> every_layout() {
    std::vector<Column> columns = {nulls(4),
                                   fixed("b", 1, 4),
                                   fixed("c", 1, 4),
                                   fixed("l", 8, 4),
                                   fixed("g", 8, 4),
                                   fixed("w:3", 3, 4),
                                   fixed("d:38,0", 16, 4),
                                   fixed("d:9,2,32", 4, 4),
                                   fixed("tin", 16, 4),
                                   fixed("tsu:UTC", 8, 4),
                                   texts32("u"),
                                   texts64("Z"),
                                   views("vu"),
                                   views("vz"),
                                   list32("+l"),
                                   list64("+L"),
                                   list_view32(),
                                   list_view64(),
                                   fixed_list(),
                                   structure(),
                                   map(),
                                   sparse_union(),
                                   dense_union(),
                                   dictionary(),
                                   runs()};
    for (std::size_t i = 0; i < columns.size(); ++i) {
        columns[i].field.name = 'c' + std::to_string(i);
    }
    return columns;
}

Schema schema_of(const std::vector<Column>& columns) {
    Schema schema;
    for (const Column& column : columns) {
        schema.fields.push_back(column.field);
    }
    return schema;
}

Batch batch_of(const std::vector<Column>& columns) {
    Batch batch;
    batch.rows = columns.empty() ? 0 : columns.front().array.length;
    for (const Column& column : columns) {
        batch.columns.push_back(column.array);
    }
    return batch;
}

bool same(const Array& left, const Array& right) {
    const auto same_bytes = [](const Buffer& a, const Buffer& b) {
        return std::ranges::equal(a.bytes, b.bytes);
    };
    return left.length == right.length && left.null_count == right.null_count &&
           std::ranges::equal(left.buffers, right.buffers, same_bytes) &&
           std::ranges::equal(left.children, right.children, same) &&
           std::ranges::equal(left.dictionary, right.dictionary, same);
}

}  // namespace shortq::test
