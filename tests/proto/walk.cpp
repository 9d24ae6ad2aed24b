// tests/proto/walk.cpp: written from the Arrow specification, apart from the validator's code.
#include "tests/proto/walk.h"

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace shortq::test {
namespace {

std::uint64_t cell(const Field& field, const Array& array, std::int64_t row);

template <class T>
T load(const Buffer& buffer, std::int64_t index) {
    T value;
    std::memcpy(&value, buffer.bytes.data() + static_cast<std::size_t>(index) * sizeof(T),
                sizeof(T));
    return value;
}

std::uint64_t sum(const Buffer& buffer, std::int64_t offset, std::int64_t size) {
    std::uint64_t total = static_cast<std::uint64_t>(size);
    for (std::int64_t i = 0; i < size; ++i) {
        total = total * 31 + load<std::uint8_t>(buffer, offset + i);
    }
    return total;
}

std::uint64_t cells(const Field& field, const Array& array, std::int64_t begin, std::int64_t end) {
    std::uint64_t total = 1;
    for (std::int64_t row = begin; row < end; ++row) {
        total = total * 31 + cell(field, array, row);
    }
    return total;
}

bool is_null(const Array& array, std::int64_t row) {
    return array.null_count != 0 &&
           (load<std::uint8_t>(array.buffers[0], row / 8) >> (row % 8) & 1) == 0;
}

std::uint64_t view_cell(const Array& array, std::int64_t row) {
    const auto size = load<std::int32_t>(array.buffers[1], 4 * row);
    if (size <= 12) {
        return sum(array.buffers[1], 16 * row + 4, size);
    }
    const auto buffer = static_cast<std::size_t>(load<std::int32_t>(array.buffers[1], 4 * row + 2));
    return sum(array.buffers.at(2 + buffer), load<std::int32_t>(array.buffers[1], 4 * row + 3),
               size);
}

template <class Offset>
std::uint64_t list_cell(const Field& field, const Array& array, std::int64_t row, bool view) {
    const auto begin = static_cast<std::int64_t>(load<Offset>(array.buffers[1], row));
    const auto end = view ? begin + static_cast<std::int64_t>(load<Offset>(array.buffers[2], row))
                          : static_cast<std::int64_t>(load<Offset>(array.buffers[1], row + 1));
    return cells(field.children[0], array.children[0], begin, end);
}

template <class Offset>
std::uint64_t bytes_cell(const Array& array, std::int64_t row) {
    const auto begin = static_cast<std::int64_t>(load<Offset>(array.buffers[1], row));
    const auto end = static_cast<std::int64_t>(load<Offset>(array.buffers[1], row + 1));
    return sum(array.buffers[2], begin, end - begin);
}

// The child's place in "+us:5,0" among the ids.
std::size_t child_of(std::string_view format, int id) {
    format.remove_prefix(4);
    for (std::size_t child = 0;; ++child) {
        if (std::atoi(std::string(format.substr(0, format.find(','))).c_str()) == id) {
            return child;
        }
        format.remove_prefix(format.find(',') + 1);
    }
}

std::uint64_t union_cell(const Field& field, const Array& array, std::int64_t row) {
    const std::size_t child = child_of(field.format, load<std::int8_t>(array.buffers[0], row));
    const std::int64_t at =
        field.format[2] == 'd' ? load<std::int32_t>(array.buffers[1], row) : row;
    return cell(field.children.at(child), array.children.at(child), at);
}

std::int64_t integer(const std::string& format, const Array& array, std::int64_t row) {
    switch (format[0]) {
        case 'c':
            return load<std::int8_t>(array.buffers[1], row);
        case 'C':
            return load<std::uint8_t>(array.buffers[1], row);
        case 's':
            return load<std::int16_t>(array.buffers[1], row);
        case 'S':
            return load<std::uint16_t>(array.buffers[1], row);
        case 'i':
            return load<std::int32_t>(array.buffers[1], row);
        case 'I':
            return load<std::uint32_t>(array.buffers[1], row);
        default:
            return load<std::int64_t>(array.buffers[1], row);
    }
}

std::uint64_t run_cell(const Field& field, const Array& array, std::int64_t row) {
    std::int64_t run = 0;
    while (integer(field.children[0].format, array.children[0], run) <= row) {
        ++run;
    }
    return cell(field.children[1], array.children[1], run);
}

std::int64_t fixed_width(const std::string& format) {
    static constexpr std::string_view kOne = "cC";
    static constexpr std::string_view kTwo = "sSe";
    static constexpr std::string_view kFour = "iIf";
    if (format.size() == 1) {
        return kOne.find(format[0]) != kOne.npos     ? 1
               : kTwo.find(format[0]) != kTwo.npos   ? 2
               : kFour.find(format[0]) != kFour.npos ? 4
                                                     : 8;
    }
    if (format.starts_with("w:")) {
        return std::atoll(format.c_str() + 2);
    }
    if (format.starts_with("d:")) {
        const auto last = format.rfind(',');
        return last == format.find(',') ? 16 : std::atoll(format.c_str() + last + 1) / 8;
    }
    return format == "tin"                                                            ? 16
           : format == "tdD" || format == "tts" || format == "ttm" || format == "tiM" ? 4
                                                                                      : 8;
}

std::uint64_t nested_cell(const Field& field, const Array& array, std::int64_t row) {
    const std::string& format = field.format;
    if (format == "+s") {
        std::uint64_t total = 1;
        for (std::size_t i = 0; i < field.children.size(); ++i) {
            total = total * 31 + cell(field.children[i], array.children[i], row);
        }
        return total;
    }
    if (format.starts_with("+w:")) {
        const std::int64_t width = std::atoll(format.c_str() + 3);
        return cells(field.children[0], array.children[0], row * width, (row + 1) * width);
    }
    const bool view = format[1] == 'v';
    return format.back() == 'L' ? list_cell<std::int64_t>(field, array, row, view)
                                : list_cell<std::int32_t>(field, array, row, view);
}

std::uint64_t cell(const Field& field, const Array& array, std::int64_t row) {
    const std::string& format = field.format;
    if (format == "n") {
        return 0;
    }
    if (format == "+r") {
        return run_cell(field, array, row);
    }
    if (format.starts_with("+u")) {
        return union_cell(field, array, row);
    }
    if (is_null(array, row)) {
        return 0;
    }
    if (!field.dictionary.empty()) {
        return cell(field.dictionary[0], array.dictionary[0], integer(format, array, row));
    }
    if (format[0] == '+') {
        return nested_cell(field, array, row);
    }
    if (format == "u" || format == "z") {
        return bytes_cell<std::int32_t>(array, row);
    }
    if (format == "U" || format == "Z") {
        return bytes_cell<std::int64_t>(array, row);
    }
    if (format[0] == 'v') {
        return view_cell(array, row);
    }
    if (format == "b") {
        return load<std::uint8_t>(array.buffers[1], row / 8) >> (row % 8) & 1;
    }
    const std::int64_t width = fixed_width(format);
    return sum(array.buffers[1], row * width, width);
}

}  // namespace

std::uint64_t walk(const Field& field, const Array& array) {
    return cells(field, array, 0, array.length);
}

}  // namespace shortq::test
