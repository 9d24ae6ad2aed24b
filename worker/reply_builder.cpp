#include "worker/reply_builder.h"

#include <algorithm>
#include <utility>

namespace shortq::worker {
namespace {

// A message leaves once it has so much: early enough for the next process to work on it while the
// next one is made, and with as much again it is still near the target.
constexpr std::size_t kMessageBytes = proto::kChunkBytesTarget / 2;
constexpr std::size_t kFramesUsual = 8;  // Of a small result: header, schema, layout, columns.

}  // namespace

ReplyBuilder::ReplyBuilder(std::uint64_t request, std::uint64_t bytes_max, Emit emit)
    : request_(request), bytes_max_(bytes_max), emit_(std::move(emit)) {
    start_message();
}

void ReplyBuilder::start_message() {
    message_.clear();
    message_.reserve(kFramesUsual);
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
    facts_.rows += static_cast<std::uint64_t>(batch.rows);
    const auto frames = proto::split(batch);
    // The primary's socket would drop the connection over it, and with it this worker.
    const bool fits = std::ranges::all_of(frames.buffers, [](const Buffer& buffer) {
        return buffer.bytes.size() <= proto::kReplyFrameBytesMax;
    });
    if (!fits) {
        refusal_ = "a piece of the result is over the limit of " +
                   std::to_string(proto::kReplyFrameBytesMax) +
                   " bytes: its values are too large to be sent together";
        return false;
    }
    append(copy_frame(frames.layout));
    for (const auto& buffer : frames.buffers) append(buffer_frame(buffer));
    ++batches_;
    if (bytes_max_ != 0 && facts_.bytes > bytes_max_) {
        refusal_ = "the result is over the limit of " + std::to_string(bytes_max_) +
                   " bytes (--max-result-bytes)";
        return false;
    }
    // The last one may then be empty, which is less than waiting for what comes.
    const bool full = message_bytes_ >= kMessageBytes || batches_ == proto::kBatchesPerReplyMax;
    return !full || emit_(take(false));
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
