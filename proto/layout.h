// proto/layout.h: the layout frame in front of a batch's buffers. Private to proto/.
// PROTOCOL.md#results.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "proto/columnar.h"

namespace shortq::proto {

struct Layout {
    struct Node {
        std::int64_t length = 0;
        std::int64_t null_count = 0;
        std::uint64_t buffers = 0;
        bool operator==(const Node&) const = default;
    };
    std::int64_t rows = 0;
    std::vector<Node> nodes{};           // Depth first; a dictionary after the children.
    std::vector<std::uint64_t> bytes{};  // Of each buffer, in the nodes' order; 0: no frame.
    bool operator==(const Layout&) const = default;
};

[[nodiscard]] std::vector<std::byte> encode_layout(const Layout& layout);

// Post:    counts are in their ranges, and the nodes' buffers add up to bytes.size().
// Errors:  kBadRequest, kTooLarge.
[[nodiscard]] Result<Layout> decode_layout(std::span<const std::byte> frame);

}  // namespace shortq::proto
