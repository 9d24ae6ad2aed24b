#include "proto/kdb/object.h"

#include <type_traits>
#include <utility>

#include "proto/kdb/bytes.h"
#include "proto/kdb/message.h"

namespace shortq::kdb {
namespace {

// How the items of a type look.
enum class Shape : std::uint8_t {
    kNone,     // Not a type that is sent.
    kItems,    // An atom is one item; a vector has a head and any number.
    kText,     // Up to a NUL.
    kNumber,   // One byte.
    kObjects,  // As many as the type has: see parts_of().
    kCounted,  // A count and so many objects.
};

Shape shape_of(std::int8_t type) {
    const auto is = [type](Type first, Type last) {
        return type >= static_cast<std::int8_t>(first) && type <= static_cast<std::int8_t>(last);
    };
    if (type == static_cast<std::int8_t>(Type::kError)) return Shape::kText;
    if (type >= -static_cast<std::int8_t>(Type::kTime) && is(Type::kError, Type::kTime)) {
        return type == 3 || type == -3 ? Shape::kNone : Shape::kItems;
    }
    if (is(Type::kUnary, Type::kIterator)) return Shape::kNumber;
    if (is(Type::kProjection, Type::kComposition)) return Shape::kCounted;
    const bool objects = is(Type::kTable, Type::kLambda) || is(Type::kEach, Type::kEachLeft) ||
                         is(Type::kSortedDictionary, Type::kSortedDictionary);
    return objects ? Shape::kObjects : Shape::kNone;
}

std::size_t parts_of(std::int8_t type) {
    const auto known = static_cast<Type>(type);
    return known == Type::kDictionary || known == Type::kSortedDictionary || known == Type::kLambda
               ? 2
               : 1;
}

// Empty items of the kind that a type has.
Object::Items items_of(std::int8_t type) {
    switch (static_cast<Type>(type < 0 && type != static_cast<std::int8_t>(Type::kError) ? -type
                                                                                         : type)) {
        case Type::kBoolean:
        case Type::kByte:
        case Type::kUnary:
        case Type::kBinary:
        case Type::kIterator:
            return std::vector<std::uint8_t>{};
        case Type::kGuid:
            return std::vector<Guid>{};
        case Type::kShort:
            return std::vector<std::int16_t>{};
        case Type::kInt:
        case Type::kMonth:
        case Type::kDate:
        case Type::kMinute:
        case Type::kSecond:
        case Type::kTime:
            return std::vector<std::int32_t>{};
        case Type::kLong:
        case Type::kTimestamp:
        case Type::kTimespan:
            return std::vector<std::int64_t>{};
        case Type::kReal:
            return std::vector<float>{};
        case Type::kFloat:
        case Type::kDatetime:
            return std::vector<double>{};
        case Type::kChar:
        case Type::kError:
            return std::string{};
        case Type::kSymbol:
            return std::vector<std::string>{};
        default:
            return std::vector<Object>{};
    }
}

// ---- from bytes ----

class Decoder {
public:
    Decoder(std::span<const std::byte> body, ByteOrder order) : reader_(body, order) {}

    Result<Object> read() {
        Object object;
        if (!read_object(object, 1)) {
            return fail(ErrorCode::kBadRequest,
                        "malformed kdb+ message: its object is cut short, too deep or unknown");
        }
        if (reader_.left() != 0) {
            return fail(ErrorCode::kBadRequest,
                        "malformed kdb+ message: spare bytes behind its object");
        }
        return object;
    }

private:
    bool read_object(Object& object, std::size_t depth) {
        if (depth > kDepthMax || !reader_.number(object.type)) return false;
        object.items = items_of(object.type);
        switch (shape_of(object.type)) {
            case Shape::kItems:
                return read_items(object, depth);
            case Shape::kText:
                return read_text(std::get<std::string>(object.items));
            case Shape::kNumber:
                return read(std::get<std::vector<std::uint8_t>>(object.items), 1, depth);
            case Shape::kObjects:
                return read_parts(object, depth);
            case Shape::kCounted:
                return read_counted(std::get<std::vector<Object>>(object.items), depth);
            case Shape::kNone:
                return false;
        }
        return false;
    }

    bool read_items(Object& object, std::size_t depth) {
        std::size_t count = 1;
        if (object.type >= 0 && !reader_.vector_head(object.attribute, count)) return false;
        return std::visit([&](auto& items) { return read(items, count, depth); }, object.items);
    }

    template <class T>
    bool read(std::vector<T>& items, std::size_t count, std::size_t /*depth*/) {
        std::span<const std::byte> bytes;
        if (!reader_.items(count, sizeof(T), bytes)) return false;
        items.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            const ByteOrder order = std::is_arithmetic_v<T> ? reader_.order() : ByteOrder::kLittle;
            items[i] = load_number<T>(&bytes[i * sizeof(T)], order);
        }
        return true;
    }
    bool read(std::string& text, std::size_t count, std::size_t /*depth*/) {
        std::span<const std::byte> bytes;
        if (!reader_.items(count, 1, bytes)) return false;
        text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return true;
    }
    bool read(std::vector<std::string>& items, std::size_t count, std::size_t /*depth*/) {
        if (count > reader_.left()) return false;
        std::string_view text;
        for (; count > 0; --count) {
            if (!reader_.symbol(text)) return false;
            items.emplace_back(text);
        }
        return true;
    }
    // Items are put there one by one: a count costs nothing until its items are there.
    bool read(std::vector<Object>& items, std::size_t count, std::size_t depth) {
        if (count > reader_.left()) return false;
        for (; count > 0; --count) {
            if (!read_object(items.emplace_back(), depth + 1)) return false;
        }
        return true;
    }

    bool read_text(std::string& text) {
        std::string_view view;
        if (!reader_.symbol(view)) return false;
        text = view;
        return true;
    }

    bool read_parts(Object& object, std::size_t depth) {
        auto& parts = std::get<std::vector<Object>>(object.items);
        const auto type = static_cast<Type>(object.type);
        if (type == Type::kTable && !reader_.number(object.attribute)) return false;
        if (type == Type::kLambda) {  // Its context has no type in front.
            std::string context;
            if (!read_text(context)) return false;
            parts.push_back(atom_of(Type::kSymbol, std::vector<std::string>{std::move(context)}));
        }
        return read(parts, parts_of(object.type) - parts.size(), depth);
    }

    bool read_counted(std::vector<Object>& parts, std::size_t depth) {
        std::int32_t count = 0;
        return reader_.number(count) && count >= 0 &&
               read(parts, static_cast<std::size_t>(count), depth);
    }

    ByteReader reader_;
};

// ---- to bytes ----

class Encoder {
public:
    Encoder(ByteOrder order, std::vector<std::byte>& out) : order_(order), out_(out) {}

    void write(const Object& object) {
        append_number(object.type, order_, out_);
        const auto write_items = [this](const auto& items) { write_all(items); };
        switch (shape_of(object.type)) {
            case Shape::kItems:
                if (object.type >= 0) write_head(object);
                std::visit(write_items, object.items);
                break;
            case Shape::kText:
                std::visit(write_items, object.items);
                out_.push_back(std::byte{0});
                break;
            case Shape::kCounted:
                append_number(static_cast<std::int32_t>(count_of(object)), order_, out_);
                std::visit(write_items, object.items);
                break;
            case Shape::kObjects:
                write_parts(object);
                break;
            case Shape::kNumber:
            case Shape::kNone:
                std::visit(write_items, object.items);
                break;
        }
    }

private:
    static std::size_t count_of(const Object& object) {
        return std::visit([](const auto& items) { return items.size(); }, object.items);
    }

    void write_head(const Object& object) {
        append_number(object.attribute, order_, out_);
        append_number(static_cast<std::int32_t>(count_of(object)), order_, out_);
    }

    template <class T>
    void write_all(const std::vector<T>& items) {
        for (const T& item : items) {
            append_number(item, std::is_arithmetic_v<T> ? order_ : ByteOrder::kLittle, out_);
        }
    }
    void write_all(const std::string& text) { append_text(text, out_); }
    void write_all(const std::vector<std::string>& symbols) {
        for (const std::string& symbol : symbols) {
            append_text(symbol, out_);
            out_.push_back(std::byte{0});
        }
    }
    void write_all(const std::vector<Object>& objects) {
        for (const Object& object : objects) write(object);
    }

    void write_parts(const Object& object) {
        const auto& parts = std::get<std::vector<Object>>(object.items);
        const auto type = static_cast<Type>(object.type);
        if (type == Type::kTable) append_number(object.attribute, order_, out_);
        std::size_t first = 0;
        if (type == Type::kLambda) {
            write_all(std::get<std::vector<std::string>>(parts[0].items));
            first = 1;
        }
        for (; first < parts.size(); ++first) write(parts[first]);
    }

    ByteOrder order_;
    std::vector<std::byte>& out_;
};

}  // namespace

Object vector_of(Type type, Object::Items items) {
    return {.type = static_cast<std::int8_t>(type), .items = std::move(items)};
}

Object atom_of(Type type, Object::Items item) {
    return {.type = static_cast<std::int8_t>(-static_cast<int>(type)), .items = std::move(item)};
}

Object list_of(std::vector<Object> items) { return vector_of(Type::kList, std::move(items)); }

Object text_of(std::string_view text) { return vector_of(Type::kChar, std::string(text)); }

Result<Object> decode(std::span<const std::byte> body, ByteOrder order) {
    return Decoder(body, order).read();
}

void append_object(const Object& object, ByteOrder order, std::vector<std::byte>& out) {
    Encoder(order, out).write(object);
}

std::vector<std::byte> encode_message(const Object& object, Kind kind, ByteOrder order) {
    std::vector<std::byte> out(kHeaderBytes);
    append_object(object, order, out);
    out[0] = static_cast<std::byte>(order);
    out[1] = static_cast<std::byte>(kind);
    auto bytes = static_cast<std::uint32_t>(out.size());
    if (order == ByteOrder::kBig) bytes = swapped(bytes);
    std::memcpy(&out[4], &bytes, sizeof bytes);
    return out;
}

}  // namespace shortq::kdb
