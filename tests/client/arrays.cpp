#include "tests/client/arrays.h"

#include <algorithm>

namespace shortq::test {

Buffer own_bytes(std::vector<std::byte> bytes) {
    auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    return {std::span(*owner), owner};
}

Buffer bits_of(const std::vector<bool>& bits) {
    std::vector<std::byte> bytes((bits.size() + 7) / 8);
    for (std::size_t i = 0; i < bits.size(); ++i) {
        if (bits[i]) bytes[i / 8] |= std::byte{1} << (i % 8);
    }
    return own_bytes(std::move(bytes));
}

Array with_nulls(Array array, const std::vector<bool>& valid) {
    array.null_count = std::ranges::count(valid, false);
    array.buffers[0] = bits_of(valid);
    return array;
}

Array booleans(const std::vector<bool>& values) {
    Array array;
    array.length = static_cast<std::int64_t>(values.size());
    array.buffers = {Buffer{}, bits_of(values)};
    return array;
}

Array texts(const std::vector<std::string>& values) {
    std::vector<std::int32_t> offsets{0};
    std::vector<char> data;
    for (const auto& value : values) {
        data.insert(data.end(), value.begin(), value.end());
        offsets.push_back(static_cast<std::int32_t>(data.size()));
    }
    Array array;
    array.length = static_cast<std::int64_t>(values.size());
    array.buffers = {Buffer{}, buffer_of(offsets), buffer_of(data)};
    return array;
}

Array list(const std::vector<std::int32_t>& offsets, Array child) {
    Array array;
    array.length = static_cast<std::int64_t>(offsets.size()) - 1;
    array.buffers = {Buffer{}, buffer_of(offsets)};
    array.children.push_back(std::move(child));
    return array;
}

Array structure(std::int64_t length, std::vector<Array> children) {
    Array array;
    array.length = length;
    array.buffers = {Buffer{}};
    array.children = std::move(children);
    return array;
}

Field field(std::string name, std::string format, std::vector<Field> children,
            std::string engine_type) {
    Field made;
    made.name = std::move(name);
    made.format = std::move(format);
    made.engine_type = std::move(engine_type);
    made.children = std::move(children);
    return made;
}

}  // namespace shortq::test
