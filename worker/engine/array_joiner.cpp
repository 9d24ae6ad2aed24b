#include "worker/engine/array_joiner.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace shortq::engine {
namespace {

using proto::Shape;

std::size_t size(std::int64_t length) { return static_cast<std::size_t>(length); }

bool same(const Buffer& a, const Buffer& b) {
    return a.bytes.size() == b.bytes.size() &&
           (a.bytes.data() == b.bytes.data() || std::ranges::equal(a.bytes, b.bytes));
}

bool same(const Array& a, const Array& b) {
    constexpr auto kSame = [](const auto& x, const auto& y) { return same(x, y); };
    return a.length == b.length && a.null_count == b.null_count &&
           std::ranges::equal(a.buffers, b.buffers, kSame) &&
           std::ranges::equal(a.children, b.children, kSame) &&
           std::ranges::equal(a.dictionary, b.dictionary, kSame);
}

// Without dictionaries.
std::size_t bytes_of(const Array& array) {
    std::size_t bytes = 0;
    for (const Buffer& buffer : array.buffers) bytes += buffer.bytes.size();
    for (const Array& child : array.children) bytes += bytes_of(child);
    return bytes;
}

template <class Offset>
Offset load(const Buffer& offsets, std::size_t index) {
    Offset value = 0;
    std::memcpy(&value, offsets.bytes.data() + index * sizeof(Offset), sizeof(Offset));
    return value;
}

}  // namespace

ArrayBuilder::ArrayBuilder(const Field& field, const std::shared_ptr<BlockPool>& pool)
    : validity_(pool), bits_(pool), values_(pool), data_(pool) {
    if (const auto format = proto::parse_format(field.format)) {
        format_ = *format;
        known_ = true;
    }
    for (const Field& child : field.children) children_.emplace_back(child, pool);
}

template <class Offset>
bool ArrayBuilder::reaches(std::size_t more) const {
    const auto there = children_.empty() ? data_.size() : children_.front().length_;
    constexpr auto kLast = static_cast<std::size_t>(std::numeric_limits<Offset>::max());
    return there <= kLast && more <= kLast - there;
}

bool ArrayBuilder::children_fit(const Array& array) const {
    for (std::size_t i = 0; i < children_.size(); ++i) {
        if (!children_[i].can_append(array.children[i])) return false;
    }
    return true;
}

bool ArrayBuilder::can_append(const Array& array) const {
    if (!known_ || array.children.size() != children_.size()) return false;
    if (!array.dictionary.empty() && dictionary_ && !same(*dictionary_, array.dictionary.front())) {
        return false;
    }
    const auto all_as_long = [&](std::size_t length) {
        return std::ranges::all_of(
            array.children, [=](const Array& child) { return size(child.length) == length; });
    };
    switch (format_.shape) {
        case Shape::kNull:
        case Shape::kBits:
        case Shape::kFixed:
            return true;
        case Shape::kBytes32:
            return reaches<std::int32_t>(array.buffers.at(2).bytes.size());
        case Shape::kBytes64:
            return true;
        case Shape::kList32:
        case Shape::kMap:
            return reaches<std::int32_t>(size(array.children[0].length)) && children_fit(array);
        case Shape::kList64:
            return children_fit(array);
        case Shape::kFixedList:
            return all_as_long(size(array.length) * format_.width) && children_fit(array);
        case Shape::kStruct:
        case Shape::kSparse:
            return all_as_long(size(array.length)) && children_fit(array);
        default:
            return false;
    }
}

template <class Offset>
void ArrayBuilder::append_offsets(const Array& array) {
    const auto& from = array.buffers[1];
    const auto count = size(array.length);
    const auto base = static_cast<Offset>(children_.empty() ? data_.size() : children_[0].length_);
    if (values_.size() == 0) {
        constexpr Offset kZero = 0;
        values_.append(&kZero, sizeof kZero);
    }
    auto* to = values_.extend(count * sizeof(Offset));
    for (std::size_t row = 0; row < count; ++row) {
        const auto end = static_cast<Offset>(base + load<Offset>(from, row + 1));
        std::memcpy(to + row * sizeof(Offset), &end, sizeof end);
    }
}

void ArrayBuilder::append(const Array& array) {
    if (!array.dictionary.empty()) dictionary_ = array.dictionary.front();
    if (array.length > 0) append_own(array);
    for (std::size_t i = 0; i < children_.size(); ++i) children_[i].append(array.children[i]);
}

// Without children and dictionary. An empty array may lack its buffers.
void ArrayBuilder::append_own(const Array& array) {
    const auto count = size(array.length);
    if (proto::has_validity(format_.shape)) {
        const auto& bitmap = array.buffers[0].bytes;
        validity_.append(bitmap.empty() ? nullptr : bitmap.data(), count);
    }
    const auto append_whole = [](ByteBuilder& to, const Buffer& from) {
        to.append(from.bytes.data(), from.bytes.size());
    };
    switch (format_.shape) {
        case Shape::kBits:
            bits_.append(array.buffers[1].bytes.data(), count);
            break;
        case Shape::kFixed:
            append_whole(values_, array.buffers[1]);
            break;
        case Shape::kBytes32:
            append_offsets<std::int32_t>(array);
            append_whole(data_, array.buffers[2]);
            break;
        case Shape::kBytes64:
            append_offsets<std::int64_t>(array);
            append_whole(data_, array.buffers[2]);
            break;
        case Shape::kList32:
        case Shape::kMap:
            append_offsets<std::int32_t>(array);
            break;
        case Shape::kList64:
            append_offsets<std::int64_t>(array);
            break;
        case Shape::kSparse:
            append_whole(values_, array.buffers[0]);
            break;
        default:
            break;
    }
    length_ += count;
}

std::size_t ArrayBuilder::bytes() const {
    std::size_t bytes = validity_.bytes() + bits_.bytes() + values_.size() + data_.size();
    for (const ArrayBuilder& child : children_) bytes += child.bytes();
    return bytes;
}

Array ArrayBuilder::take() {
    Array array;
    if (proto::has_validity(format_.shape)) validity_.take_into(array);
    array.length = static_cast<std::int64_t>(std::exchange(length_, 0));
    switch (format_.shape) {
        case Shape::kNull:
            array.null_count = array.length;
            break;
        case Shape::kBits:
            array.buffers.push_back(bits_.take());
            break;
        case Shape::kStruct:
        case Shape::kFixedList:
            break;
        case Shape::kBytes32:
        case Shape::kBytes64:
            array.buffers.push_back(values_.take());
            array.buffers.push_back(data_.take());
            break;
        default:
            array.buffers.push_back(values_.take());
            break;
    }
    for (ArrayBuilder& child : children_) array.children.push_back(child.take());
    if (dictionary_) array.dictionary.push_back(*std::exchange(dictionary_, std::nullopt));
    return array;
}

// ---- ArrayJoiner

bool ArrayJoiner::can_append(const Array& array) {
    if (!first_ && !joined_) return true;
    if (first_) {
        if (!builder_.can_append(*first_)) return false;
        builder_.append(*std::exchange(first_, std::nullopt));
        joined_ = true;
    }
    return builder_.can_append(array);
}

void ArrayJoiner::append(Array array) {
    if (joined_) {
        builder_.append(array);
    } else {
        first_ = std::move(array);
    }
}

std::size_t ArrayJoiner::bytes() const { return first_ ? bytes_of(*first_) : builder_.bytes(); }

Array ArrayJoiner::take() {
    joined_ = false;
    return first_ ? *std::exchange(first_, std::nullopt) : builder_.take();
}

}  // namespace shortq::engine
