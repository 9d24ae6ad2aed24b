#include "tests/client/frames.h"

#include "tests/client/arrays.h"

namespace shortq::test {

Buffer own_text(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return own_bytes({bytes.begin(), bytes.end()});
}

std::string text_of(const Buffer& buffer) {
    return {reinterpret_cast<const char*>(buffer.bytes.data()), buffer.bytes.size()};
}

Frames frames_of(const proto::Message& message, Frames bodies) {
    proto::HeaderBuffer buffer;
    const auto header = proto::encode(message, buffer);
    bodies.insert(bodies.begin(), own_bytes({header.begin(), header.end()}));
    return bodies;
}

Schema number_schema() { return {{field("x", "l", {}, "BIGINT")}}; }

Frames number_batch(const std::vector<std::int64_t>& values) {
    auto split = proto::split({static_cast<std::int64_t>(values.size()), {fixed(values)}});
    Frames frames{own_bytes(std::move(split.layout))};
    frames.insert(frames.end(), split.buffers.begin(), split.buffers.end());
    return frames;
}

Frames number_reply(const ReplyPiece& piece, const std::vector<std::int64_t>& values) {
    proto::Reply reply;
    reply.id = piece.id;
    reply.attempt = piece.attempt;
    reply.sequence = piece.sequence;
    reply.batches = 1;
    reply.last = piece.last;
    reply.facts = {.worker = 2,
                   .generation = 3,
                   .queued_us = 1500,
                   .run_us = 250,
                   .rows = values.size(),
                   .bytes = 99};
    Frames bodies;
    if (piece.sequence == 0) bodies.push_back(own_bytes(proto::encode_schema(number_schema())));
    for (auto& frame : number_batch(values)) bodies.push_back(std::move(frame));
    return frames_of(reply, std::move(bodies));
}

Frames error_reply(std::uint64_t id, ErrorCode code, std::string_view message,
                   std::string_view where) {
    proto::ErrorReply error;
    error.id = id;
    error.code = code;
    error.retryable = retryable_by_default(code);
    return frames_of(error, {own_text(message), own_text(where)});
}

std::vector<std::int64_t> numbers_in(const Table& table) {
    std::vector<std::int64_t> numbers;
    for (std::uint64_t row = 0; row < table.rows(); ++row) {
        numbers.push_back(table.integer(row, 0).value());
    }
    return numbers;
}

}  // namespace shortq::test
