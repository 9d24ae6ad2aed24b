// primary/reply_encoder.cpp: PROTOCOL.md#results, the sending side of the primary's own engine.
#include "primary/reply_encoder.h"

#include "proto/columnar.h"
#include "proto/limits.h"

namespace shortq::primary {
namespace {

// Copies: this runs on the engine's thread, and sync results are small.
zmq::message_t copy_of(std::span<const std::byte> bytes) {
    return zmq::message_t(bytes.data(), bytes.size());
}

}  // namespace

ReplyEncoder::ReplyEncoder(core::RequestId request, Emit emit) : emit_(std::move(emit)) {
    header_.id = static_cast<std::uint64_t>(request);
}

bool ReplyEncoder::begin(const Schema& schema) {
    append(copy_of(proto::encode_schema(schema)));
    begun_ = true;
    return true;
}

bool ReplyEncoder::batch(Batch batch) {
    // Full pieces leave when the next batch shows that they are not the last.
    const bool full =
        chunk_bytes_ >= proto::kChunkBytesTarget || header_.batches == proto::kBatchesPerReplyMax;
    if (full && !emit_(take(false))) return false;
    header_.facts.rows += static_cast<std::uint64_t>(batch.rows);
    const auto frames = proto::split(batch);
    append(copy_of(frames.layout));
    for (const auto& buffer : frames.buffers) append(copy_of(buffer.bytes));
    ++header_.batches;
    return true;
}

SyncReply ReplyEncoder::finish(std::chrono::nanoseconds ran) {
    if (!begun_) static_cast<void>(begin(Schema{}));
    header_.facts.run_us = static_cast<std::uint64_t>(ran.count() / 1000);
    return take(true);
}

void ReplyEncoder::append(zmq::message_t frame) {
    chunk_bytes_ += frame.size();
    header_.facts.bytes += frame.size();
    bodies_.push_back(std::move(frame));
}

SyncReply ReplyEncoder::take(bool last) {
    header_.last = last;
    SyncReply piece{header_, std::exchange(bodies_, {}), false};
    ++header_.sequence;
    header_.batches = 0;
    chunk_bytes_ = 0;
    return piece;
}

}  // namespace shortq::primary
