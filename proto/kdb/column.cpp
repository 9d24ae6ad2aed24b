#include "proto/kdb/column.h"

#include <algorithm>
#include <array>
#include <utility>

#include "proto/cells.h"
#include "proto/engine_type.h"
#include "proto/kdb/bytes.h"
#include "proto/kdb/names.h"

namespace shortq::kdb {
namespace {

constexpr std::array<std::pair<std::string_view, Form>, 20> kForms{{
    {"n", Form::kNull},  {"b", Form::kBoolean}, {"c", Form::kInt8},    {"C", Form::kUint8},
    {"s", Form::kInt16}, {"S", Form::kUint16},  {"i", Form::kInt32},   {"I", Form::kUint32},
    {"l", Form::kInt64}, {"L", Form::kUint64},  {"f", Form::kFloat32}, {"g", Form::kFloat64},
    {"u", Form::kText},  {"U", Form::kText},    {"vu", Form::kText},   {"z", Form::kBlob},
    {"Z", Form::kBlob},  {"vz", Form::kBlob},   {"tdD", Form::kDate},  {"tin", Form::kInterval},
}};

// Types that look like another one on the wire but mean something else. Nothing: go by the format.
constexpr std::array<std::string_view, 5> kWithoutCounterpart{"BIT", "BIGNUM", "VARINT",
                                                              "TIME WITH TIME ZONE", "TIMETZ"};

std::int64_t units_per_second(char unit) {
    return unit == 's' ? 1 : unit == 'm' ? 1'000 : unit == 'u' ? 1'000'000 : 1'000'000'000;
}

// Whether there is one; `node` then has its form.
bool find_time(std::string_view format, ColumnNode& node) {
    const bool timestamp = format.starts_with("ts");
    if (format.size() < 3 || (!timestamp && !format.starts_with("tt"))) return false;
    node.form = timestamp ? Form::kTimestamp : Form::kTime;
    node.per_second = units_per_second(format[2]);
    return true;
}

bool find_number(std::string_view format, std::string_view type, ColumnNode& node) {
    if (!shortq::detail::decimal_format(format)) return false;
    node.form = type == "HUGEINT"    ? Form::kInt128
                : type == "UHUGEINT" ? Form::kUint128
                                     : Form::kDecimal;
    return true;
}

bool find_nested(std::string_view format, ColumnNode& node) {
    if (format == "+s") {
        node.form = Form::kStruct;
    } else if (format == "+m") {
        node.form = Form::kMap;
    } else if (format.starts_with("+l") || format == "+L" || format.starts_with("+v") ||
               format.starts_with("+w:")) {
        node.form = Form::kList;
    } else {
        return false;
    }
    return true;
}

bool find_form(const Field& field, std::string_view type, ColumnNode& node) {
    const std::string_view format =
        field.dictionary.empty() ? field.format : field.dictionary[0].format;
    if (std::ranges::find(kWithoutCounterpart, type) != kWithoutCounterpart.end()) return false;
    const auto* known =
        std::ranges::find(kForms, format, &std::pair<std::string_view, Form>::first);
    if (known != kForms.end()) {
        node.form = known->second;
        if (type == "UUID" && node.form == Form::kText) node.form = Form::kGuid;
        return field.dictionary.empty() || node.form == Form::kText;
    }
    if (!field.dictionary.empty()) return false;
    if (format.starts_with("w:")) {
        node.form = Form::kBlob;
        return true;
    }
    return find_time(format, node) || find_number(format, type, node) || find_nested(format, node);
}

// Builds the nodes of one column.
class Builder {
public:
    Builder(const Field& column, bool char_vectors)
        : column_(column), char_vectors_(char_vectors) {}

    Result<ColumnNode> build(const Field& field, std::string_view type) const {
        ColumnNode node{.field = &field, .char_vectors = char_vectors_};
        if (!find_form(field, type, node))
            return no_counterpart(type.empty() ? field.format : type);
        auto built = Result<void>{};
        if (node.form == Form::kList) {
            built = add(field.children[0], shortq::detail::element_type(type), node);
        } else if (node.form == Form::kMap) {
            const auto& entry = field.children[0].children;
            built =
                add(entry[0], shortq::detail::argument_type(type, 0, false), node).and_then([&] {
                    return add(entry[1], shortq::detail::argument_type(type, 1, false), node);
                });
        } else if (node.form == Form::kStruct) {
            built = add_members(field, type, node);
        }
        return built.map([&] { return std::move(node); });
    }

private:
    Result<void> add(const Field& field, std::string_view type, ColumnNode& node) const {
        return build(field, type).map([&](ColumnNode&& child) {
            node.children.push_back(std::move(child));
        });
    }

    Result<void> add_members(const Field& field, std::string_view type, ColumnNode& node) const {
        const bool named = std::ranges::none_of(field.children, &std::string::empty, &Field::name);
        for (std::size_t i = 0; i < field.children.size(); ++i) {
            node.names.push_back(field.children[i].name);
            auto added =
                add(field.children[i], shortq::detail::argument_type(type, i, named), node);
            if (!added) return added;
        }
        node.names = distinct_names(std::move(node.names));
        return {};
    }

    tl::unexpected<Error> no_counterpart(std::string_view type) const {
        return fail(ErrorCode::kBadRequest, "column \"" + column_.name +
                                                "\": kdb+ has nothing for " + std::string(type) +
                                                ": cast it to VARCHAR");
    }

    const Field& column_;
    bool char_vectors_;
};

std::uint64_t item_width(Type type) {
    switch (type) {
        case Type::kBoolean:
            return 1;
        case Type::kShort:
            return 2;
        case Type::kInt:
        case Type::kReal:
        case Type::kDate:
            return 4;
        case Type::kGuid:
            return 16;
        default:
            return 8;
    }
}

// As values of a general list: an atom has its type in front.
std::uint64_t atoms_bytes(const ColumnNode& node) {
    return items_bytes(node) + (vector_type(node) == Type::kList ? 0 : node.items);
}

}  // namespace

Result<ColumnNode> make_node(const Field& field, bool texts_as_char_vectors) {
    return Builder(field, texts_as_char_vectors).build(field, field.engine_type);
}

Type vector_type(const ColumnNode& node) {
    switch (node.form) {
        case Form::kBoolean:
            return node.nulls ? Type::kShort : Type::kBoolean;
        case Form::kInt8:
        case Form::kUint8:
        case Form::kInt16:
            return Type::kShort;
        case Form::kUint16:
        case Form::kInt32:
            return Type::kInt;
        case Form::kUint32:
        case Form::kInt64:
            return Type::kLong;
        case Form::kUint64:
        case Form::kInt128:
        case Form::kUint128:
            return node.wide ? Type::kFloat : Type::kLong;
        case Form::kFloat32:
            return Type::kReal;
        case Form::kFloat64:
        case Form::kDecimal:
            return Type::kFloat;
        case Form::kGuid:
            return Type::kGuid;
        case Form::kText:
            return node.char_vectors ? Type::kList : Type::kSymbol;
        case Form::kDate:
            return Type::kDate;
        case Form::kTimestamp:
            return Type::kTimestamp;
        case Form::kTime:
        case Form::kInterval:
            return Type::kTimespan;
        case Form::kNull:
        case Form::kBlob:
        case Form::kList:
        case Form::kMap:
        case Form::kStruct:
            return Type::kList;
    }
    return Type::kList;
}

std::uint64_t items_bytes(const ColumnNode& node) {
    switch (node.form) {
        case Form::kNull:
            return node.items * 2;
        case Form::kText:
            return node.text_bytes + node.items * (node.char_vectors ? kVectorHeadBytes : 1);
        case Form::kBlob:
            return node.text_bytes + node.items * kVectorHeadBytes;
        case Form::kList:
            return node.items * kVectorHeadBytes + items_bytes(node.children[0]);
        case Form::kMap:
            return node.items * (1 + 2 * kVectorHeadBytes) + items_bytes(node.children[0]) +
                   items_bytes(node.children[1]);
        case Form::kStruct: {
            std::uint64_t bytes = node.items * (1 + symbols_bytes(node.names) + kVectorHeadBytes);
            for (const ColumnNode& child : node.children) bytes += atoms_bytes(child);
            return bytes;
        }
        default:
            return node.items * item_width(vector_type(node));
    }
}

void append_vector_head(Type type, std::uint64_t count, std::vector<std::byte>& out) {
    std::array<std::byte, kVectorHeadBytes> head{static_cast<std::byte>(type)};
    const auto short_count = static_cast<std::uint32_t>(count);
    std::memcpy(&head[2], &short_count, sizeof short_count);
    append_bytes(head, out);
}

void append_symbols(const std::vector<std::string>& symbols, std::vector<std::byte>& out) {
    append_vector_head(Type::kSymbol, symbols.size(), out);
    for (const std::string& symbol : symbols) {
        append_text(symbol, out);
        out.push_back(std::byte{0});
    }
}

std::uint64_t symbols_bytes(const std::vector<std::string>& symbols) {
    std::uint64_t bytes = kVectorHeadBytes;
    for (const std::string& symbol : symbols) bytes += symbol.size() + 1;
    return bytes;
}

}  // namespace shortq::kdb
