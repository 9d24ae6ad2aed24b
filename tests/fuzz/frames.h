// tests/fuzz/frames.h: batches from frames of an input.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "proto/columnar.h"
#include "tests/fuzz/fuzz.h"

namespace shortq::fuzz {

// Buffers of exactly these bytes, on the heap.
[[nodiscard]] inline Buffer own_buffer(Input bytes) {
    auto copy = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
    return Buffer{std::span<const std::byte>(*copy), copy};
}
[[nodiscard]] inline std::vector<Buffer> own_buffers(const std::vector<Input>& frames) {
    std::vector<Buffer> buffers;
    for (const auto frame : frames) buffers.push_back(own_buffer(frame));
    return buffers;
}

// How many values reading all of an array may come to: list views and dictionaries may name one
// child's values again and again, and a column of nulls has any length without a byte.
[[nodiscard]] inline double values_in(const Array& array) {
    double inner = 1;
    for (const auto& child : array.children) inner += values_in(child);
    for (const auto& dictionary : array.dictionary) inner += values_in(dictionary);
    return static_cast<double>(array.length) * inner;
}
[[nodiscard]] inline bool is_small(const Batch& batch) {
    constexpr double kValuesMax = 10'000;
    double values = static_cast<double>(batch.rows);
    for (const auto& column : batch.columns) values += values_in(column);
    return values <= kValuesMax;
}

// Headers of every kind.
[[nodiscard]] std::vector<std::string> message_seeds();
// Frames of a reply for each Arrow layout: schema, layout, buffers.
[[nodiscard]] std::vector<std::string> batch_seeds();
[[nodiscard]] std::vector<std::string> fork_seeds();

}  // namespace shortq::fuzz
