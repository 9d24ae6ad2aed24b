// proto/columnar.h: results as Arrow-layout buffers: schema, record batches, and their frames.
// Layout: PROTOCOL.md#results. Source: Apache Arrow columnar format 1.x ("Buffer listing for each
// layout") and the Arrow C data interface ("Format strings").
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "proto/error.h"

namespace shortq {

// A type as an Arrow format string with its children, and the engine's own name for it.
struct Field {
    std::string name{};
    std::string format{};  // Arrow C data interface: "l", "u", "tsu:", "d:18,3", "+l", ...
    std::string
        engine_type{};  // "BIGINT", "DECIMAL(18,3)", "ENUM('a','b')": for people. Top level.
    bool nullable = true;
    std::vector<std::pair<std::string, std::string>> metadata{};  // Arrow extension keys, if any.
    std::vector<Field> children{};
    std::vector<Field> dictionary{};  // Empty or one: the values' type of a dictionary column.
    bool operator==(const Field&) const = default;
};

struct Schema {
    std::vector<Field> fields{};  // None: the statement gives no result.
    bool operator==(const Schema&) const = default;
};

// Bytes and whatever keeps them alive. Copies share; the bytes never change.
struct Buffer {
    std::span<const std::byte> bytes{};
    std::shared_ptr<const void> owner{};
};

// One column of one batch, laid out as Arrow says; offset is always 0. An absent validity bitmap
// (null_count 0) is an empty buffer.
struct Array {
    std::int64_t length = 0;
    std::int64_t null_count = 0;
    // In Arrow's order for the format; validity first where it has one. String views have their
    // data buffers after the views, without the C interface's buffer of lengths.
    std::vector<Buffer> buffers{};
    std::vector<Array> children{};
    std::vector<Array> dictionary{};  // Empty or one.
};

struct Batch {
    std::int64_t rows = 0;
    std::vector<Array> columns{};  // One per field of the schema.
};

namespace proto {

// An engine_type over kEngineTypeBytesMax is cut and ends in "...".
[[nodiscard]] std::vector<std::byte> encode_schema(const Schema& schema);
// Errors: kBadRequest, kTooLarge. `frame` is untrusted; depth, node count and texts are bounded.
[[nodiscard]] Result<Schema> decode_schema(std::span<const std::byte> frame);

// A batch as frames: the layout (msgpack: rows, then per node length, null count and number of
// buffers, then every buffer's length, all depth first, a node's dictionary after its children),
// then each buffer that is not empty, in the same order. `buffers` shares ownership with `batch`:
// no byte is copied.
struct BatchFrames {
    std::vector<std::byte> layout;
    std::vector<Buffer> buffers;
};
[[nodiscard]] BatchFrames split(const Batch& batch);

// How many buffer frames follow this layout frame. Errors: kBadRequest, kTooLarge.
[[nodiscard]] Result<std::size_t> buffer_frames_of(std::span<const std::byte> layout);

// Puts a batch together again and proves it safe to read: counts and sizes fit the schema, offsets
// rise and stay inside their data, list sizes, union type ids and dictionary indices point into
// their children, UTF-8 is not checked. After success no accessor can read out of bounds.
// Errors: kBadRequest naming the column. `buffers` are untrusted; 8-byte alignment is restored by
// copying a misaligned buffer.
[[nodiscard]] Result<Batch> assemble(const Schema& schema, std::span<const std::byte> layout,
                                     std::span<const Buffer> buffers);

}  // namespace proto
}  // namespace shortq
