// proto/layout.cpp: [rows, [length, null_count, buffers, ...], [bytes, ...]].
#include "proto/layout.h"

#include <string>

#include "proto/limits.h"
#include "proto/reader.h"
#include "proto/writer.h"

namespace shortq::proto {
namespace {

constexpr std::uint64_t kNodeItems = 3;

tl::unexpected<Error> malformed(const char* problem) {
    return fail(ErrorCode::kBadRequest, std::string("malformed batch: ") + problem);
}

tl::unexpected<Error> too_large(const char* what, std::uint64_t max) {
    return fail(ErrorCode::kTooLarge,
                std::string("the batch has more than ") + std::to_string(max) + ' ' + what);
}

bool read_length(Reader& reader, std::int64_t& length) {
    std::uint64_t raw = 0;
    if (!reader.unsigned_int(raw) || raw > kNodeLengthMax) {
        return false;
    }
    length = static_cast<std::int64_t>(raw);
    return true;
}

Result<void> read_rows(Reader& reader, Layout& layout) {
    if (!read_length(reader, layout.rows)) {
        return malformed("rows is not a count");
    }
    if (layout.rows > static_cast<std::int64_t>(kRowsPerBatchMax)) {
        return too_large("rows", kRowsPerBatchMax);
    }
    return {};
}

// Adds up the nodes' buffers in `buffers`.
Result<void> read_nodes(Reader& reader, Layout& layout, std::uint64_t& buffers) {
    std::uint64_t items = 0;
    if (!reader.array(items) || items % kNodeItems != 0) {
        return malformed("the nodes are not an array of length, null count and buffers");
    }
    if (items / kNodeItems > kColumnsMax) {
        return too_large("columns", kColumnsMax);
    }
    for (; items > 0; items -= kNodeItems) {
        Layout::Node& node = layout.nodes.emplace_back();
        if (!read_length(reader, node.length) || !read_length(reader, node.null_count) ||
            !reader.unsigned_int(node.buffers)) {
            return malformed("a node is not a length, a null count and a number of buffers");
        }
        if (node.null_count > node.length) {
            return malformed("a node has more nulls than values");
        }
        if (node.buffers > kBuffersPerBatchMax || (buffers += node.buffers) > kBuffersPerBatchMax) {
            return too_large("buffers", kBuffersPerBatchMax);
        }
    }
    return {};
}

Result<void> read_bytes(Reader& reader, Layout& layout, std::uint64_t buffers) {
    std::uint64_t items = 0;
    if (!reader.array(items) || items != buffers) {
        return malformed("the number of buffer sizes is not the nodes' number of buffers");
    }
    for (; items > 0; --items) {
        if (!reader.unsigned_int(layout.bytes.emplace_back())) {
            return malformed("a buffer's size is not a count");
        }
    }
    return reader.done() ? Result<void>{} : malformed("spare bytes after the layout");
}

}  // namespace

std::vector<std::byte> encode_layout(const Layout& layout) {
    ByteStream stream;
    Packer packer(stream);
    packer.pack_array(3);
    packer.pack(layout.rows);
    packer.pack_array(packed_size(kNodeItems * layout.nodes.size()));
    for (const Layout::Node& node : layout.nodes) {
        packer.pack(node.length);
        packer.pack(node.null_count);
        packer.pack(node.buffers);
    }
    packer.pack_array(packed_size(layout.bytes.size()));
    for (const std::uint64_t bytes : layout.bytes) {
        packer.pack(bytes);
    }
    return stream.take();
}

Result<Layout> decode_layout(std::span<const std::byte> frame) {
    if (frame.size() > kLayoutBytesMax) {
        return fail(ErrorCode::kTooLarge,
                    "the batch's layout is over " + std::to_string(kLayoutBytesMax) + " bytes");
    }
    Reader reader(frame);
    Layout layout;
    std::uint64_t items = 0;
    std::uint64_t buffers = 0;
    if (!reader.array(items) || items != 3) {
        return malformed("its layout is not an array of rows, nodes and buffer sizes");
    }
    return read_rows(reader, layout)
        .and_then([&] { return read_nodes(reader, layout, buffers); })
        .and_then([&] { return read_bytes(reader, layout, buffers); })
        .map([&] { return std::move(layout); });
}

}  // namespace shortq::proto
