// tests/client/frames.h: messages as a server would send them, as frames.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/columnar.h"
#include "proto/message.h"
#include "shortq/table.h"

namespace shortq::test {

using Frames = std::vector<Buffer>;

[[nodiscard]] Buffer own_text(std::string_view text);
[[nodiscard]] std::string text_of(const Buffer& buffer);

[[nodiscard]] Frames frames_of(const proto::Message& message, Frames bodies = {});

// A result of one BIGINT column "x".
[[nodiscard]] Schema number_schema();
[[nodiscard]] Frames number_batch(const std::vector<std::int64_t>& values);  // Layout, buffers.

// Piece `sequence` of a reply with one batch; the first piece carries the schema.
struct ReplyPiece {
    std::uint64_t id = 0;
    std::uint32_t attempt = 0;
    std::uint32_t sequence = 0;
    bool last = true;
};
[[nodiscard]] Frames number_reply(const ReplyPiece& piece, const std::vector<std::int64_t>& values);

[[nodiscard]] Frames error_reply(std::uint64_t id, ErrorCode code, std::string_view message,
                                 std::string_view where = {});

// Every value of the first column.
[[nodiscard]] std::vector<std::int64_t> numbers_in(const Table& table);

}  // namespace shortq::test
