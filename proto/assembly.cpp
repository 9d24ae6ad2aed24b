#include "proto/assembly.h"

#include <string>

namespace shortq::proto {
namespace {

tl::unexpected<Error> malformed(std::string what) {
    return fail(ErrorCode::kInternal, "malformed reply: " + std::move(what));
}

}  // namespace

Result<ReplyAssembly::Added> ReplyAssembly::add(const Reply& reply,
                                                std::span<const Buffer> bodies) {
    if (reply.attempt < attempt_) return Added::kIgnored;
    if (reply.attempt > attempt_) {
        *this = {};
        attempt_ = reply.attempt;
    }
    if (reply.sequence != next_sequence_) {
        return malformed("piece " + std::to_string(reply.sequence) + " came where piece " +
                         std::to_string(next_sequence_) + " was due");
    }
    if (next_sequence_++ == 0) {
        if (bodies.empty()) return malformed("its first piece has no schema");
        auto schema = decode_schema(bodies.front().bytes);
        if (!schema) return malformed(schema.error().message);
        schema_ = *std::move(schema);
        bodies = bodies.subspan(1);
    }
    if (auto added = add_batches(reply.batches, bodies); !added) {
        return tl::unexpected(std::move(added.error()));
    }
    return reply.last ? Added::kLast : Added::kPiece;
}

Result<void> ReplyAssembly::add_batches(std::uint32_t count, std::span<const Buffer> bodies) {
    for (; count > 0; --count) {
        if (bodies.empty()) return malformed("a batch is missing");
        const auto& layout = bodies.front().bytes;
        const auto buffers = buffer_frames_of(layout);
        if (!buffers) return malformed(buffers.error().message);
        if (*buffers > bodies.size() - 1) return malformed("a buffer is missing");
        auto batch = assemble(schema_, layout, bodies.subspan(1, *buffers));
        if (!batch) return malformed(batch.error().message);
        batches_.push_back(*std::move(batch));
        bodies = bodies.subspan(1 + *buffers);
    }
    if (!bodies.empty()) return malformed("it has spare frames");
    return {};
}

}  // namespace shortq::proto
