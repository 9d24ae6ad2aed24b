// proto/batch.cpp: record batches to frames and back. PROTOCOL.md#results.
#include <cstring>
#include <utility>

#include "proto/columnar.h"
#include "proto/layout.h"
#include "proto/limits.h"
#include "proto/validate.h"

namespace shortq::proto {
namespace {

constexpr std::uintptr_t kAlignment = 8;

// Reading misaligned numbers is slow on some machines and undefined when done through a pointer.
Buffer aligned(const Buffer& buffer) {
    if (reinterpret_cast<std::uintptr_t>(buffer.bytes.data()) % kAlignment == 0) {
        return buffer;
    }
    auto copy = std::make_shared<std::vector<std::byte>>(buffer.bytes.begin(), buffer.bytes.end());
    return Buffer{std::span<const std::byte>(*copy), copy};
}

void collect(const Array& array, Layout& layout, std::vector<Buffer>& frames) {
    layout.nodes.push_back({array.length, array.null_count, array.buffers.size()});
    for (const Buffer& buffer : array.buffers) {
        layout.bytes.push_back(buffer.bytes.size());
        if (!buffer.bytes.empty()) {
            frames.push_back(buffer);
        }
    }
    for (const Array& child : array.children) {
        collect(child, layout, frames);
    }
    for (const Array& dictionary : array.dictionary) {
        collect(dictionary, layout, frames);
    }
}

tl::unexpected<Error> malformed(std::string problem) {
    return fail(ErrorCode::kBadRequest, "malformed batch: " + std::move(problem));
}

// Hands out the layout's nodes and the frames in order, shaped like the schema.
class Assembler {
public:
    Assembler(const Layout& layout, std::span<const Buffer> frames)
        : layout_(layout), frames_(frames) {}

    Result<void> build(const Field& field, Array& array, std::size_t depth) {
        if (depth > kSchemaDepthMax) {
            return fail(ErrorCode::kTooLarge, "the schema is nested more than " +
                                                  std::to_string(kSchemaDepthMax) + " deep");
        }
        if (next_node_ == layout_.nodes.size()) {
            return malformed("fewer columns than the schema has");
        }
        const Layout::Node& node = layout_.nodes[next_node_++];
        array.length = node.length;
        array.null_count = node.null_count;
        if (auto ok = take_buffers(node.buffers, array); !ok) {
            return ok;
        }
        if (auto ok = build_all(field.children, array.children, depth + 1); !ok) {
            return ok;
        }
        return build_all(field.dictionary, array.dictionary, depth + 1);
    }

    Result<void> build_all(const std::vector<Field>& fields, std::vector<Array>& arrays,
                           std::size_t depth) {
        for (const Field& field : fields) {
            if (auto ok = build(field, arrays.emplace_back(), depth); !ok) {
                return ok;
            }
        }
        return {};
    }

    // Call after the last build.
    [[nodiscard]] Result<void> finish() const {
        if (next_node_ != layout_.nodes.size()) {
            return malformed("more columns than the schema has");
        }
        return next_frame_ == frames_.size() ? Result<void>{} : malformed("spare buffers");
    }

private:
    Result<void> take_buffers(std::uint64_t count, Array& array) {
        for (; count > 0; --count) {
            const std::uint64_t bytes = layout_.bytes[next_size_++];
            if (bytes == 0) {
                array.buffers.emplace_back();
                continue;
            }
            if (next_frame_ == frames_.size()) {
                return malformed("a buffer is missing");
            }
            const Buffer& frame = frames_[next_frame_++];
            if (frame.bytes.size() != bytes) {
                return malformed("a buffer has " + std::to_string(frame.bytes.size()) +
                                 " bytes instead of " + std::to_string(bytes));
            }
            array.buffers.push_back(aligned(frame));
        }
        return {};
    }

    const Layout& layout_;
    std::span<const Buffer> frames_;
    std::size_t next_node_ = 0;
    std::size_t next_size_ = 0;
    std::size_t next_frame_ = 0;
};

Result<void> validate_batch(const Schema& schema, const Batch& batch) {
    for (std::size_t i = 0; i < schema.fields.size(); ++i) {
        const Field& field = schema.fields[i];
        if (batch.columns[i].length != batch.rows) {
            return malformed("column '" + field.name.substr(0, 64) +
                             "': " + std::to_string(batch.columns[i].length) + " rows instead of " +
                             std::to_string(batch.rows));
        }
        if (const auto problem = validate(field, batch.columns[i])) {
            return malformed("column '" + problem->path + "': " + problem->what);
        }
    }
    return {};
}

}  // namespace

BatchFrames split(const Batch& batch) {
    BatchFrames frames;
    Layout layout;
    layout.rows = batch.rows;
    for (const Array& column : batch.columns) {
        collect(column, layout, frames.buffers);
    }
    frames.layout = encode_layout(layout);
    return frames;
}

Result<std::size_t> buffer_frames_of(std::span<const std::byte> layout) {
    return decode_layout(layout).map([](const Layout& decoded) {
        std::size_t frames = 0;
        for (const std::uint64_t bytes : decoded.bytes) {
            frames += bytes != 0 ? 1U : 0U;
        }
        return frames;
    });
}

Result<Batch> assemble(const Schema& schema, std::span<const std::byte> layout,
                       std::span<const Buffer> buffers) {
    const Result<Layout> decoded = decode_layout(layout);
    if (!decoded) {
        return tl::unexpected(decoded.error());
    }
    Batch batch;
    batch.rows = decoded->rows;
    Assembler assembler(*decoded, buffers);
    return assembler.build_all(schema.fields, batch.columns, 1)
        .and_then([&] { return assembler.finish(); })
        .and_then([&] { return validate_batch(schema, batch); })
        .map([&] { return std::move(batch); });
}

}  // namespace shortq::proto
