#include "worker/reply_builder.h"

#include <utility>

namespace shortq::worker {

ReplyBuilder::ReplyBuilder(std::uint64_t request, std::uint64_t bytes_max, Emit emit)
    : request_(request), bytes_max_(bytes_max), emit_(std::move(emit)) {
    start_message();
}

void ReplyBuilder::start_message() {
    message_.clear();
    message_.emplace_back();
    message_bytes_ = 0;
    batches_ = 0;
}

void ReplyBuilder::append(zmq::message_t frame) {
    message_bytes_ += frame.size();
    facts_.bytes += frame.size();
    message_.push_back(std::move(frame));
}

bool ReplyBuilder::begin(const Schema& schema) {
    begun_ = true;
    append(copy_frame(proto::encode_schema(schema)));
    return true;
}

bool ReplyBuilder::batch(Batch batch) {
    // Full messages leave when the next batch shows that they are not the last.
    if (message_bytes_ >= proto::kChunkBytesTarget || batches_ == proto::kBatchesPerReplyMax) {
        if (!emit_(take(false))) return false;
    }
    facts_.rows += static_cast<std::uint64_t>(batch.rows);
    const auto frames = proto::split(batch);
    append(copy_frame(frames.layout));
    for (const auto& buffer : frames.buffers) append(buffer_frame(buffer));
    ++batches_;
    too_large_ = bytes_max_ != 0 && facts_.bytes > bytes_max_;
    return !too_large_;
}

Frames ReplyBuilder::take(bool last) {
    message_.front() = header_frame(proto::Reply{.id = request_,
                                                 .sequence = sequence_++,
                                                 .batches = batches_,
                                                 .last = last,
                                                 .facts = facts_});
    Frames full = std::exchange(message_, {});
    start_message();
    return full;
}

Frames ReplyBuilder::finish(std::chrono::microseconds ran) {
    facts_.run_us = static_cast<std::uint64_t>(ran.count());
    if (!begun_) append(copy_frame(proto::encode_schema({})));  // Readers rely on a schema.
    return take(true);
}

Frames ReplyBuilder::fail(std::chrono::microseconds ran, const Error& error, bool sick) {
    facts_.run_us = static_cast<std::uint64_t>(ran.count());
    return error_frames(proto::ErrorReply{.id = request_, .sick = sick, .facts = facts_}, error);
}

}  // namespace shortq::worker
