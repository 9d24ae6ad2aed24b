// tests/proto/kdb/objects.cpp: see the header.
#include "tests/proto/kdb/objects.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace shortq::kdb::test {
namespace {

template <class T>
T random_number(std::mt19937_64& random) {
    const auto raw = random();
    T value;
    static_assert(sizeof value <= sizeof raw);
    std::memcpy(&value, &raw, sizeof value);
    return value;
}

template <class T>
Object::Items numbers(std::mt19937_64& random, std::size_t count) {
    std::vector<T> items(count);
    for (T& item : items) item = random_number<T>(random);
    return items;
}

std::string random_text(std::mt19937_64& random, bool nuls) {
    std::string text(random() % 12, ' ');
    for (char& c : text) c = static_cast<char>(nuls ? random() % 256 : 1 + random() % 255);
    return text;
}

Object::Items random_items(std::mt19937_64& random, Type type, std::size_t count) {
    switch (type) {
        case Type::kBoolean:
        case Type::kByte:
            return numbers<std::uint8_t>(random, count);
        case Type::kShort:
            return numbers<std::int16_t>(random, count);
        case Type::kLong:
        case Type::kTimestamp:
        case Type::kTimespan:
            return numbers<std::int64_t>(random, count);
        case Type::kReal:
            return numbers<float>(random, count);
        case Type::kFloat:
        case Type::kDatetime:
            return numbers<double>(random, count);
        case Type::kGuid: {
            std::vector<Guid> guids(count);
            for (Guid& guid : guids) guid.fill(random_number<std::uint8_t>(random));
            return guids;
        }
        case Type::kChar: {
            std::string text(count, ' ');
            for (char& c : text) c = random_number<char>(random);
            return text;
        }
        case Type::kSymbol: {
            std::vector<std::string> texts;
            while (texts.size() < count) texts.push_back(random_text(random, false));
            return texts;
        }
        default:
            return numbers<std::int32_t>(random, count);
    }
}

constexpr std::array kFlat{
    Type::kBoolean, Type::kGuid,     Type::kByte,     Type::kShort,  Type::kInt,       Type::kLong,
    Type::kReal,    Type::kFloat,    Type::kChar,     Type::kSymbol, Type::kTimestamp, Type::kMonth,
    Type::kDate,    Type::kDatetime, Type::kTimespan, Type::kMinute, Type::kSecond,    Type::kTime};

std::vector<Object> random_objects(std::mt19937_64& random, std::size_t count, std::size_t depth) {
    std::vector<Object> objects;
    while (objects.size() < count) objects.push_back(random_object(random, depth));
    return objects;
}

Object random_nested(std::mt19937_64& random, std::size_t depth) {
    switch (random() % 8) {
        case 0:
            return vector_of(Type::kDictionary, random_objects(random, 2, depth));
        case 1:
            return vector_of(Type::kSortedDictionary, random_objects(random, 2, depth));
        case 2:
            return vector_of(Type::kTable, random_objects(random, 1, depth));
        case 3:
            return vector_of(Type::kProjection, random_objects(random, random() % 3, depth));
        case 4:
            return vector_of(Type::kEach, random_objects(random, 1, depth));
        case 5:
            return vector_of(
                Type::kLambda,
                std::vector<Object>{
                    atom_of(Type::kSymbol, std::vector<std::string>{random_text(random, false)}),
                    text_of(random_text(random, true))});
        default:
            return list_of(random_objects(random, random() % 5, depth));
    }
}

}  // namespace

std::string shown(const Object& object) { return shortq::test::to_hex(body_of(object)); }

Object decoded(std::span<const std::byte> body, ByteOrder order) {
    auto object = decode(body, order);
    EXPECT_TRUE(object) << object.error().message << ": " << shortq::test::to_hex(body);
    return object ? std::move(*object) : Object{};
}

Bytes body_of(const Object& object, ByteOrder order) {
    Bytes body;
    append_object(object, order, body);
    return body;
}

Object symbols(std::vector<std::string> items) {
    return vector_of(Type::kSymbol, std::move(items));
}
Object longs(std::vector<std::int64_t> items) { return vector_of(Type::kLong, std::move(items)); }
Object dictionary(Object keys, Object values) {
    std::vector<Object> parts;
    parts.push_back(std::move(keys));
    parts.push_back(std::move(values));
    return vector_of(Type::kDictionary, std::move(parts));
}

Object random_object(std::mt19937_64& random, std::size_t depth) {
    if (depth > 1 && random() % 2 == 0) return random_nested(random, depth - 1);
    const auto kind = random() % 16;
    if (kind == 0) return {};
    if (kind == 1) return vector_of(Type::kError, random_text(random, false));
    const Type type = kFlat[random() % kFlat.size()];
    if (kind % 2 == 0) return atom_of(type, random_items(random, type, 1));
    Object vector = vector_of(type, random_items(random, type, random() % 6));
    vector.attribute = static_cast<std::uint8_t>(random() % 5);
    return vector;
}

}  // namespace shortq::kdb::test
