// proto/validate.cpp: one rule per physical layout of the Arrow columnar format.
#include "proto/validate.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "proto/format.h"

namespace shortq::proto {
namespace {

using Verdict = std::optional<std::string>;  // What is wrong, if anything.

constexpr std::size_t kViewBytes = 16;
constexpr std::int32_t kInlineBytes = 12;  // A shorter text sits in its view itself.

template <class T>
T load(const Buffer& buffer, std::int64_t index) {
    T value;
    std::memcpy(&value, buffer.bytes.data() + static_cast<std::size_t>(index) * sizeof(T),
                sizeof(T));
    return value;
}

// Whether `buffer` holds `count` items of `width` bytes. Divides, so that nothing can overflow.
bool holds(const Buffer& buffer, std::uint64_t count, std::uint64_t width) {
    return width == 0 || buffer.bytes.size() / width >= count;
}

std::uint64_t size(std::int64_t length) { return static_cast<std::uint64_t>(length); }

bool valid_at(const Array& array, std::int64_t row) {
    const auto& bitmap = array.buffers[0].bytes;
    if (bitmap.empty()) {
        return true;
    }
    const auto byte = std::to_integer<unsigned>(bitmap[static_cast<std::size_t>(row / 8)]);
    return (byte >> static_cast<unsigned>(row % 8) & 1U) != 0;
}

// Zeros among the first `length` bits.
std::int64_t count_nulls(const Buffer& bitmap, std::int64_t length) {
    std::int64_t valid = 0;
    for (std::int64_t i = 0; i < length / 8; ++i) {
        valid += std::popcount(load<std::uint8_t>(bitmap, i));
    }
    if (const auto rest = static_cast<unsigned>(length % 8); rest != 0) {
        const unsigned mask = (1U << rest) - 1;
        valid += std::popcount(load<std::uint8_t>(bitmap, length / 8) & mask);
    }
    return length - valid;
}

Verdict check_validity(const Array& array) {
    const Buffer& bitmap = array.buffers[0];
    if (bitmap.bytes.empty()) {
        if (array.null_count != 0) {
            return std::to_string(array.null_count) + " nulls but no validity bitmap";
        }
        return {};
    }
    if (!holds(bitmap, (size(array.length) + 7) / 8, 1)) {
        return "the validity bitmap is too short";
    }
    const std::int64_t nulls = count_nulls(bitmap, array.length);
    if (nulls != array.null_count) {
        return "the validity bitmap has " + std::to_string(nulls) + " nulls, not " +
               std::to_string(array.null_count);
    }
    return {};
}

Verdict check_values(const Format& format, const Array& array) {
    const bool enough = format.shape == Shape::kBits
                            ? holds(array.buffers[1], (size(array.length) + 7) / 8, 1)
                            : holds(array.buffers[1], size(array.length), format.width);
    return enough ? Verdict{} : "the values are too short";
}

// Offsets of texts and lists: never negative, never falling, the last within `limit`.
template <class Offset>
Verdict check_offsets(const Array& array, std::uint64_t limit) {
    if (array.length == 0) {
        return {};  // Arrow lets an empty array go without offsets.
    }
    const Buffer& offsets = array.buffers[1];
    if (!holds(offsets, size(array.length) + 1, sizeof(Offset))) {
        return "the offsets are too short";
    }
    auto previous = load<Offset>(offsets, 0);
    if (previous < 0) {
        return "an offset is negative";
    }
    for (std::int64_t row = 1; row <= array.length; ++row) {
        const auto next = load<Offset>(offsets, row);
        if (next < previous) {
            return "the offsets fall at row " + std::to_string(row - 1);
        }
        previous = next;
    }
    return static_cast<std::uint64_t>(previous) <= limit ? Verdict{} : "an offset is out of bounds";
}

Verdict check_view(const Array& array, std::int64_t row) {
    const auto length = load<std::int32_t>(array.buffers[1], 4 * row);
    if (length < 0) {
        return "a view's length is negative";
    }
    if (length <= kInlineBytes) {
        return {};
    }
    const auto number = load<std::int32_t>(array.buffers[1], 4 * row + 2);
    const auto offset = load<std::int32_t>(array.buffers[1], 4 * row + 3);
    if (number < 0 || size(number) >= array.buffers.size() - 2) {
        return "a view points to a buffer that is not there";
    }
    const std::uint64_t room = array.buffers[2 + size(number)].bytes.size();
    if (offset < 0 || size(offset) + size(length) > room) {
        return "a view is out of bounds";
    }
    return {};
}

Verdict check_views(const Array& array) {
    if (!holds(array.buffers[1], size(array.length), kViewBytes)) {
        return "the views are too short";
    }
    for (std::int64_t row = 0; row < array.length; ++row) {
        if (!valid_at(array, row)) {
            continue;
        }
        if (Verdict wrong = check_view(array, row)) {
            return wrong;
        }
    }
    return {};
}

template <class Offset>
Verdict check_list_views(const Array& array, std::uint64_t limit) {
    if (!holds(array.buffers[1], size(array.length), sizeof(Offset)) ||
        !holds(array.buffers[2], size(array.length), sizeof(Offset))) {
        return "the list views are too short";
    }
    for (std::int64_t row = 0; row < array.length; ++row) {
        const auto offset = load<Offset>(array.buffers[1], row);
        const auto count = load<Offset>(array.buffers[2], row);
        if (offset < 0 || count < 0 ||
            static_cast<std::uint64_t>(offset) + static_cast<std::uint64_t>(count) > limit) {
            return "a list view is out of bounds";
        }
    }
    return {};
}

Verdict check_fixed_list(const Format& format, const Array& array) {
    const std::uint64_t items = size(array.children[0].length);
    return format.width == 0 || items / format.width >= size(array.length)
               ? Verdict{}
               : "the child is too short";
}

Verdict check_children_length(const Array& array) {
    const bool enough = std::ranges::all_of(
        array.children, [&](const Array& child) { return child.length >= array.length; });
    return enough ? Verdict{} : "a child is too short";
}

Verdict check_map(const Field& field, const Array& array) {
    if (field.children[0].format != "+s" || field.children[0].children.size() != 2) {
        return "the child is not a struct of key and value";
    }
    return check_offsets<std::int32_t>(array, size(array.children[0].length));
}

Verdict check_union(const Format& format, const Array& array) {
    if (!holds(array.buffers[0], size(array.length), 1)) {
        return "the type ids are too short";
    }
    const bool dense = format.shape == Shape::kDense;
    if (dense && !holds(array.buffers[1], size(array.length), sizeof(std::int32_t))) {
        return "the offsets are too short";
    }
    for (std::int64_t row = 0; row < array.length; ++row) {
        const auto id = load<std::int8_t>(array.buffers[0], row);
        if (id < 0 || format.child_of_id.at(size(id)) == kNoChild) {
            return "a type id has no child";
        }
        if (dense) {
            const auto offset = load<std::int32_t>(array.buffers[1], row);
            const auto child = size(format.child_of_id.at(size(id)));
            if (offset < 0 || offset >= array.children[child].length) {
                return "an offset is out of bounds";
            }
        }
    }
    return dense ? Verdict{} : check_children_length(array);
}

template <class Index>
Verdict check_run_ends(const Array& array) {
    const Array& ends = array.children[0];
    if (ends.null_count != 0) {
        return "a run end is null";
    }
    std::int64_t previous = 0;
    if (!holds(ends.buffers[1], size(ends.length), sizeof(Index))) {
        return "the run ends are too short";
    }
    for (std::int64_t run = 0; run < ends.length; ++run) {
        const std::int64_t end = load<Index>(ends.buffers[1], run);
        if (end <= previous) {
            return "the run ends do not rise";
        }
        previous = end;
    }
    if (previous < array.length) {
        return "the runs end before the last row";
    }
    return array.children[1].length >= ends.length ? Verdict{} : "a run has no value";
}

Verdict check_runs(const Field& field, const Array& array) {
    const std::string& format = field.children[0].format;
    if (array.children[0].buffers.size() != 2) {
        return "the run ends are not integers";
    }
    if (format == "s") {
        return check_run_ends<std::int16_t>(array);
    }
    if (format == "i") {
        return check_run_ends<std::int32_t>(array);
    }
    return format == "l" ? check_run_ends<std::int64_t>(array) : "the run ends are not integers";
}

template <class Index>
Verdict check_indices(const Array& array) {
    const auto values = static_cast<std::uint64_t>(array.dictionary[0].length);
    for (std::int64_t row = 0; row < array.length; ++row) {
        // A negative index becomes a huge one.
        const auto index = size(static_cast<std::int64_t>(load<Index>(array.buffers[1], row)));
        if (index >= values && valid_at(array, row)) {
            return "a dictionary index is out of bounds";
        }
    }
    return {};
}

Verdict check_dictionary(const Field& field, const Array& array) {
    switch (field.format[0]) {
        case 'c':
            return check_indices<std::int8_t>(array);
        case 'C':
            return check_indices<std::uint8_t>(array);
        case 's':
            return check_indices<std::int16_t>(array);
        case 'S':
            return check_indices<std::uint16_t>(array);
        case 'i':
            return check_indices<std::int32_t>(array);
        case 'I':
            return check_indices<std::uint32_t>(array);
        case 'l':
            return check_indices<std::int64_t>(array);
        default:
            return check_indices<std::uint64_t>(array);
    }
}

// Whether a node has the buffers and children that its format asks for.
Verdict check_counts(const Format& format, const Field& field, const Array& array) {
    const std::size_t expected = buffer_count(format.shape);
    if (array.buffers.size() < expected ||
        (array.buffers.size() > expected && format.shape != Shape::kViews)) {
        return std::to_string(array.buffers.size()) + " buffers instead of " +
               std::to_string(expected);
    }
    const std::size_t children = array.children.size();
    std::size_t wanted = 0;
    switch (format.shape) {
        case Shape::kStruct:
            wanted = children;
            break;
        case Shape::kSparse:
        case Shape::kDense:
            wanted = format.type_ids;
            break;
        case Shape::kRunEnds:
            wanted = 2;
            break;
        case Shape::kList32:
        case Shape::kList64:
        case Shape::kListView32:
        case Shape::kListView64:
        case Shape::kFixedList:
        case Shape::kMap:
            wanted = 1;
            break;
        default:
            break;
    }
    if (children != wanted) {
        return std::to_string(children) + " children instead of " + std::to_string(wanted);
    }
    if (!field.dictionary.empty() && !format.dictionary_index) {
        return "a dictionary's indices are not integers";
    }
    return {};
}

// The rule of the node's own layout. Its counts and its validity bitmap are right.
Verdict check_layout(const Format& format, const Field& field, const Array& array) {
    switch (format.shape) {
        case Shape::kNull:
            return {};
        case Shape::kBits:
        case Shape::kFixed:
            return check_values(format, array);
        case Shape::kBytes32:
            return check_offsets<std::int32_t>(array, array.buffers[2].bytes.size());
        case Shape::kBytes64:
            return check_offsets<std::int64_t>(array, array.buffers[2].bytes.size());
        case Shape::kViews:
            return check_views(array);
        case Shape::kList32:
            return check_offsets<std::int32_t>(array, size(array.children[0].length));
        case Shape::kList64:
            return check_offsets<std::int64_t>(array, size(array.children[0].length));
        case Shape::kListView32:
            return check_list_views<std::int32_t>(array, size(array.children[0].length));
        case Shape::kListView64:
            return check_list_views<std::int64_t>(array, size(array.children[0].length));
        case Shape::kFixedList:
            return check_fixed_list(format, array);
        case Shape::kStruct:
            return check_children_length(array);
        case Shape::kMap:
            return check_map(field, array);
        case Shape::kSparse:
        case Shape::kDense:
            return check_union(format, array);
        case Shape::kRunEnds:
            return check_runs(field, array);
    }
    return "unknown layout";
}

Verdict check_node(const Field& field, const Array& array) {
    const std::optional<Format> format = parse_format(field.format);
    if (!format) {
        return "unknown format '" + field.format.substr(0, 32) + "'";
    }
    if (Verdict wrong = check_counts(*format, field, array)) {
        return wrong;
    }
    if (has_validity(format->shape)) {
        if (Verdict wrong = check_validity(array)) {
            return wrong;
        }
    }
    if (Verdict wrong = check_layout(*format, field, array)) {
        return wrong;
    }
    return field.dictionary.empty() ? Verdict{} : check_dictionary(field, array);
}

}  // namespace

std::optional<Problem> validate(const Field& field, const Array& array) {
    const std::string name = field.name.substr(0, 64);  // Enough for people to find it.
    if (Verdict wrong = check_node(field, array)) {
        return Problem{name, *std::move(wrong)};
    }
    const auto nested = [&](const std::vector<Field>& fields, const std::vector<Array>& arrays) {
        std::optional<Problem> problem;
        for (std::size_t i = 0; i < fields.size() && !problem; ++i) {
            problem = validate(fields[i], arrays[i]);
        }
        return problem;
    };
    std::optional<Problem> problem = nested(field.children, array.children);
    if (!problem) {
        problem = nested(field.dictionary, array.dictionary);
    }
    if (problem) {
        problem->path = name + '.' + problem->path;
    }
    return problem;
}

}  // namespace shortq::proto
