// proto/format.cpp: the parser of Arrow format strings.
#include "proto/format.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace shortq::proto {
namespace {

struct Fixed {
    std::string_view text;
    std::uint64_t width;
};
constexpr std::array kFixedFormats = {
    Fixed{"c", 1},   Fixed{"C", 1},   Fixed{"s", 2},   Fixed{"S", 2},   Fixed{"i", 4},
    Fixed{"I", 4},   Fixed{"l", 8},   Fixed{"L", 8},   Fixed{"e", 2},   Fixed{"f", 4},
    Fixed{"g", 8},   Fixed{"tdD", 4}, Fixed{"tdm", 8}, Fixed{"tts", 4}, Fixed{"ttm", 4},
    Fixed{"ttu", 8}, Fixed{"ttn", 8}, Fixed{"tDs", 8}, Fixed{"tDm", 8}, Fixed{"tDu", 8},
    Fixed{"tDn", 8}, Fixed{"tiM", 4}, Fixed{"tiD", 8}, Fixed{"tin", 16}};
constexpr std::size_t kIntegerFormats = 8;  // The first ones.

struct Plain {
    std::string_view text;
    Shape shape;
};
constexpr std::array kPlainFormats = {
    Plain{"n", Shape::kNull},    Plain{"b", Shape::kBits},         Plain{"u", Shape::kBytes32},
    Plain{"z", Shape::kBytes32}, Plain{"U", Shape::kBytes64},      Plain{"Z", Shape::kBytes64},
    Plain{"vu", Shape::kViews},  Plain{"vz", Shape::kViews},       Plain{"+l", Shape::kList32},
    Plain{"+L", Shape::kList64}, Plain{"+vl", Shape::kListView32}, Plain{"+vL", Shape::kListView64},
    Plain{"+s", Shape::kStruct}, Plain{"+m", Shape::kMap},         Plain{"+r", Shape::kRunEnds}};

// Takes an integer in [low, high] from the front of `text`.
bool take_number(std::string_view& text, std::int64_t low, std::int64_t high,
                 std::int64_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number < low || number > high) {
        return false;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

bool take_comma(std::string_view& text) {
    if (!text.starts_with(',')) {
        return false;
    }
    text.remove_prefix(1);
    return true;
}

Format fixed(std::uint64_t width) { return Format{.shape = Shape::kFixed, .width = width}; }

// What follows "w:" and "+w:".
std::optional<Format> parse_sized(Shape shape, std::string_view text) {
    std::int64_t width = 0;
    if (!take_number(text, 0, std::numeric_limits<std::int32_t>::max(), width) || !text.empty()) {
        return std::nullopt;
    }
    return Format{.shape = shape, .width = static_cast<std::uint64_t>(width)};
}

// What follows "d:": precision, scale and perhaps the bits.
std::optional<Format> parse_decimal(std::string_view text) {
    std::int64_t precision = 0;
    std::int64_t scale = 0;
    std::int64_t bits = 128;
    if (!take_number(text, 1, 76, precision) || !take_comma(text) ||
        !take_number(text, -76, 76, scale)) {
        return std::nullopt;
    }
    if (!text.empty() && !(take_comma(text) && take_number(text, 32, 256, bits) && text.empty())) {
        return std::nullopt;
    }
    if (bits != 32 && bits != 64 && bits != 128 && bits != 256) {
        return std::nullopt;
    }
    return fixed(static_cast<std::uint64_t>(bits / 8));
}

// What follows "+us:" and "+ud:": the children's type ids.
std::optional<Format> parse_union(Shape shape, std::string_view text) {
    Format format{.shape = shape};
    format.child_of_id.fill(kNoChild);
    while (!text.empty()) {
        std::int64_t id = 0;
        if (format.type_ids != 0 && !take_comma(text)) {
            return std::nullopt;
        }
        if (!take_number(text, 0, kTypeIdsMax - 1, id)) {
            return std::nullopt;
        }
        std::int8_t& child = format.child_of_id.at(static_cast<std::size_t>(id));
        if (child != kNoChild) {
            return std::nullopt;
        }
        child = static_cast<std::int8_t>(format.type_ids++);
    }
    return format;
}

bool is_timestamp(std::string_view text) {
    return text.size() >= 4 && text.starts_with("ts") && text[3] == ':' &&
           std::string_view("smun").find(text[2]) != std::string_view::npos;
}

}  // namespace

std::optional<Format> parse_format(std::string_view text) {
    const auto* number = std::ranges::find(kFixedFormats, text, &Fixed::text);
    if (number != kFixedFormats.end()) {
        Format format = fixed(number->width);
        format.dictionary_index = number < kFixedFormats.begin() + kIntegerFormats;
        return format;
    }
    const auto* plain = std::ranges::find(kPlainFormats, text, &Plain::text);
    if (plain != kPlainFormats.end()) {
        return Format{.shape = plain->shape};
    }
    if (is_timestamp(text)) {
        return fixed(8);
    }
    if (text.starts_with("d:")) {
        return parse_decimal(text.substr(2));
    }
    if (text.starts_with("w:")) {
        return parse_sized(Shape::kFixed, text.substr(2));
    }
    if (text.starts_with("+w:")) {
        return parse_sized(Shape::kFixedList, text.substr(3));
    }
    if (text.starts_with("+us:")) {
        return parse_union(Shape::kSparse, text.substr(4));
    }
    if (text.starts_with("+ud:")) {
        return parse_union(Shape::kDense, text.substr(4));
    }
    return std::nullopt;
}

std::size_t buffer_count(Shape shape) {
    switch (shape) {
        case Shape::kNull:
        case Shape::kRunEnds:
            return 0;
        case Shape::kFixedList:
        case Shape::kStruct:
        case Shape::kSparse:
            return 1;
        case Shape::kBits:
        case Shape::kFixed:
        case Shape::kViews:
        case Shape::kList32:
        case Shape::kList64:
        case Shape::kMap:
        case Shape::kDense:
            return 2;
        case Shape::kBytes32:
        case Shape::kBytes64:
        case Shape::kListView32:
        case Shape::kListView64:
            return 3;
    }
    return 0;
}

}  // namespace shortq::proto
