#include "proto/cells.h"

#include <charconv>

namespace shortq::detail {
namespace {

// A text format's offsets: how wide they are, and that the data follows them.
template <class Offset>
std::string_view between_offsets(const Array& array, std::int64_t row) {
    const auto begin = load<Offset>(array.buffers[1], row);
    const auto end = load<Offset>(array.buffers[1], row + 1);
    if (end == begin) return {};
    const auto* data = reinterpret_cast<const char*>(array.buffers[2].bytes.data());
    return {data + begin, static_cast<std::size_t>(end - begin)};
}

// A view is 16 bytes: length, then the bytes themselves if they fit in 12, else prefix, buffer
// number and offset.
std::string_view through_view(const Array& array, std::int64_t row) {
    const auto* slot = array.buffers[1].bytes.data() + static_cast<std::size_t>(row) * 16;
    std::int32_t length = 0;
    std::memcpy(&length, slot, sizeof length);
    const auto size = static_cast<std::size_t>(length);
    if (size <= 12) return {reinterpret_cast<const char*>(slot) + 4, size};
    std::int32_t where[2];
    std::memcpy(where, slot + 8, sizeof where);
    const auto& data = array.buffers[2 + static_cast<std::size_t>(where[0])].bytes;
    return {reinterpret_cast<const char*>(data.data()) + where[1], size};
}

// The number behind "w:" or "+w:".
std::int64_t width_of(std::string_view format) {
    const auto digits = format.substr(format.find(':') + 1);
    std::int64_t width = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), width);
    return width;
}

template <class Offset>
Range between_list_offsets(const Array& array, std::int64_t row) {
    return {load<Offset>(array.buffers[1], row), load<Offset>(array.buffers[1], row + 1)};
}

template <class Offset>
Range list_view(const Array& array, std::int64_t row) {
    const std::int64_t begin = load<Offset>(array.buffers[1], row);
    return {begin, begin + load<Offset>(array.buffers[2], row)};
}

// Which child carries type id `id`: "+us:0,5,7" lists the ids in the children's order.
std::size_t child_with_id(std::string_view format, int id) {
    auto ids = format.substr(format.find(':') + 1);
    for (std::size_t child = 0; !ids.empty(); ++child) {
        int listed = -1;
        std::from_chars(ids.data(), ids.data() + ids.size(), listed);
        if (listed == id) return child;
        const auto comma = ids.find(',');
        ids = comma == std::string_view::npos ? std::string_view{} : ids.substr(comma + 1);
    }
    return 0;
}

}  // namespace

bool bit_at(const Buffer& buffer, std::int64_t index) {
    const auto byte = std::to_integer<unsigned>(buffer.bytes[static_cast<std::size_t>(index / 8)]);
    return (byte >> (index % 8) & 1U) != 0;
}

bool null_at(const Field& field, const Array& array, std::int64_t row) {
    if (field.format == "n") return true;
    if (const auto cell = union_cell(field.format, array, row)) {
        return null_at(field.children[cell->child], array.children[cell->child], cell->row);
    }
    if (array.null_count != 0 && !array.buffers.empty() && !array.buffers[0].bytes.empty() &&
        !bit_at(array.buffers[0], row)) {
        return true;
    }
    if (field.dictionary.empty()) return false;
    const auto index = static_cast<std::int64_t>(integer_at(field.format, array, row));
    return null_at(field.dictionary[0], array.dictionary[0], index);
}

bool is_integer(std::string_view format) {
    return format.size() == 1 && std::string_view("cCsSiIlL").find(format[0]) != format.npos;
}

Int128 integer_at(std::string_view format, const Array& array, std::int64_t row) {
    const auto& values = array.buffers[1];
    switch (format[0]) {
        case 'c':
            return load<std::int8_t>(values, row);
        case 'C':
            return load<std::uint8_t>(values, row);
        case 's':
            return load<std::int16_t>(values, row);
        case 'S':
            return load<std::uint16_t>(values, row);
        case 'i':
            return load<std::int32_t>(values, row);
        case 'I':
            return load<std::uint32_t>(values, row);
        case 'l':
            return load<std::int64_t>(values, row);
        default:
            return load<std::uint64_t>(values, row);
    }
}

std::optional<DecimalFormat> decimal_format(std::string_view format) {
    if (!format.starts_with("d:")) return std::nullopt;
    DecimalFormat parsed;
    const char* at = format.data() + 2;
    const char* const end = format.data() + format.size();
    at = std::from_chars(at, end, parsed.precision).ptr;
    if (at != end) at = std::from_chars(at + 1, end, parsed.scale).ptr;
    if (at != end) std::from_chars(at + 1, end, parsed.bits);
    if (parsed.bits > 128) return std::nullopt;
    return parsed;
}

Int128 decimal_at(const DecimalFormat& format, const Array& array, std::int64_t row) {
    if (format.bits == 32) return load<std::int32_t>(array.buffers[1], row);
    if (format.bits == 64) return load<std::int64_t>(array.buffers[1], row);
    return load<Int128>(array.buffers[1], row);
}

std::optional<std::string_view> bytes_at(std::string_view format, const Array& array,
                                         std::int64_t row) {
    if (format == "u" || format == "z") return between_offsets<std::int32_t>(array, row);
    if (format == "U" || format == "Z") return between_offsets<std::int64_t>(array, row);
    if (format == "vu" || format == "vz") return through_view(array, row);
    if (!format.starts_with("w:")) return std::nullopt;
    const auto width = width_of(format);
    const auto* data = reinterpret_cast<const char*>(array.buffers[1].bytes.data());
    return std::string_view(data + row * width, static_cast<std::size_t>(width));
}

std::optional<Range> list_range(std::string_view format, const Array& array, std::int64_t row) {
    if (format == "+l" || format == "+m") return between_list_offsets<std::int32_t>(array, row);
    if (format == "+L") return between_list_offsets<std::int64_t>(array, row);
    if (format == "+vl") return list_view<std::int32_t>(array, row);
    if (format == "+vL") return list_view<std::int64_t>(array, row);
    if (!format.starts_with("+w:")) return std::nullopt;
    const auto width = width_of(format);
    return Range{row * width, (row + 1) * width};
}

std::optional<UnionCell> union_cell(std::string_view format, const Array& array, std::int64_t row) {
    const bool sparse = format.starts_with("+us:");
    if (!sparse && !format.starts_with("+ud:")) return std::nullopt;
    const auto child = child_with_id(format, load<std::int8_t>(array.buffers[0], row));
    return UnionCell{child, sparse ? row : load<std::int32_t>(array.buffers[1], row)};
}

}  // namespace shortq::detail
