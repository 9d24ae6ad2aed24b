#include "tools/cli/json_value.h"

#include <algorithm>
#include <set>

#include "tools/cli/json_text.h"
#include "tools/cli/type_names.h"
#include "tools/cli/writer.h"

namespace shortq::cli {
namespace {

Table alone(Field field, std::string_view engine_type, const Array& array) {
    field.engine_type = engine_type;
    return {Schema{{std::move(field)}}, {Batch{array.length, {array}}}, {}};
}

}  // namespace

std::vector<std::string> json_keys(const std::vector<Field>& fields) {
    std::set<std::string> used;
    std::vector<std::string> keys;
    for (const auto& field : fields) {
        auto name = field.name;
        for (int n = 1; !used.insert(name).second; ++n) name = field.name + "_" + std::to_string(n);
        append_json_string(keys.emplace_back(), name);
        keys.back() += ':';
    }
    return keys;
}

JsonValue::JsonValue(const Field& field, std::string_view engine_type, const Array& array)
    : cells_(alone(field, engine_type, array)), shape_(shape_of(field, engine_type)) {
    const bool is_map = shape_ == Shape::kMap;
    const auto& fields = is_map ? field.children[0].children : field.children;
    const auto& arrays = is_map ? array.children[0].children : array.children;
    named_ = std::ranges::none_of(fields, &std::string::empty, &Field::name);
    keys_ = json_keys(fields);
    for (std::size_t i = 0; i < fields.size(); ++i) {
        children_.emplace_back(fields[i], child_type(engine_type, i), arrays[i]);
    }
}

JsonValue::Shape JsonValue::shape_of(const Field& field, std::string_view engine_type) {
    const std::string_view format = field.format;
    if (engine_type == "JSON") return Shape::kDocument;
    if (!field.dictionary.empty()) return Shape::kText;
    if (format == "+s") return Shape::kStruct;
    if (format == "+m") return Shape::kMap;
    if (format == "+l" || format == "+L" || format.starts_with("+w:")) return Shape::kList;
    if (format.starts_with("+u")) return Shape::kUnion;
    if (engine_type == "BIGNUM") return Shape::kNumber;
    const bool bytes = format == "z" || format == "Z" || format == "vz";
    if (bytes && engine_type != "BIT") return Shape::kBytes;
    switch (kind_of(field)) {
        case ColumnKind::kNumber:
            return Shape::kNumber;
        case ColumnKind::kBoolean:
            return Shape::kBoolean;
        case ColumnKind::kText:
            break;
    }
    return Shape::kText;
}

void JsonValue::append(std::string& out, std::uint64_t row) const {
    if (cells_.is_null(row, 0)) {
        out += "null";
        return;
    }
    switch (shape_) {
        case Shape::kText:
            return append_json_string(out, cells_.text(row, 0));
        case Shape::kNumber:
            return append_json_number(out, cells_.text(row, 0));
        case Shape::kBoolean:
            out += cells_.text(row, 0);
            return;
        case Shape::kBytes:
            return append_json_bytes(out, cells_.view(row, 0).value_or(std::string_view{}));
        case Shape::kDocument:
            return append_json_document(out, cells_.text(row, 0));
        case Shape::kList:
            return append_list(out, row);
        case Shape::kStruct:
            return append_struct(out, row);
        case Shape::kMap:
            return append_map(out, row);
        case Shape::kUnion:
            return append_union(out, row);
    }
}

Column::Range JsonValue::range(std::uint64_t row) const {
    return cells_.chunk(0, 0).list(static_cast<std::int64_t>(row)).value_or(Column::Range{});
}

void JsonValue::append_list(std::string& out, std::uint64_t row) const {
    const auto [begin, end] = range(row);
    out += '[';
    for (auto element = begin; element < end; ++element) {
        if (element != begin) out += ',';
        children_[0].append(out, static_cast<std::uint64_t>(element));
    }
    out += ']';
}

void JsonValue::append_struct(std::string& out, std::uint64_t row) const {
    out += named_ ? '{' : '[';
    for (std::size_t i = 0; i < children_.size(); ++i) {
        if (i != 0) out += ',';
        if (named_) out += keys_[i];
        children_[i].append(out, row);
    }
    out += named_ ? '}' : ']';
}

void JsonValue::append_map(std::string& out, std::uint64_t row) const {
    const auto [begin, end] = range(row);
    out += '{';
    for (auto entry = begin; entry < end; ++entry) {
        if (entry != begin) out += ',';
        append_json_string(out, children_[0].cells_.text(static_cast<std::uint64_t>(entry), 0));
        out += ':';
        children_[1].append(out, static_cast<std::uint64_t>(entry));
    }
    out += '}';
}

void JsonValue::append_union(std::string& out, std::uint64_t row) const {
    const auto member =
        cells_.chunk(0, 0).member(static_cast<std::int64_t>(row)).value_or(Column::Member{});
    out += '{';
    out += keys_[member.child];
    children_[member.child].append(out, static_cast<std::uint64_t>(member.row));
    out += '}';
}

}  // namespace shortq::cli
