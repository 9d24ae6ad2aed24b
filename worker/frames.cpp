#include "worker/frames.h"

#include <memory>
#include <string>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace shortq::worker {
namespace {

constexpr std::size_t kCopyBelowBytes = 512;

// ZeroMQ hands a frame from the thread that made it to its IO thread, which frees it. It is not
// instrumented, so ThreadSanitizer has to be told of that edge; elsewhere these do nothing.
#if defined(__SANITIZE_THREAD__)
void handed_over(void* owner) noexcept { __tsan_release(owner); }
void taken_over(void* owner) noexcept { __tsan_acquire(owner); }
#else
void handed_over(void* /*owner*/) noexcept {}
void taken_over(void* /*owner*/) noexcept {}
#endif

void release_owner(void* /*data*/, void* hint) noexcept {
    taken_over(hint);
    const std::unique_ptr<std::shared_ptr<const void>> owner(
        static_cast<std::shared_ptr<const void>*>(hint));
}

zmq::message_t text_frame(std::string_view text) {
    constexpr std::string_view kCut = " ... (cut)";
    if (text.size() <= proto::kErrorTextBytesMax) return {text.data(), text.size()};
    std::string shortened(text.substr(0, proto::kErrorTextBytesMax - kCut.size()));
    shortened += kCut;
    return zmq::message_t(shortened);
}

}  // namespace

zmq::message_t copy_frame(std::span<const std::byte> bytes) { return {bytes.data(), bytes.size()}; }

zmq::message_t header_frame(const proto::Message& message) {
    proto::HeaderBuffer buffer;
    return copy_frame(proto::encode(message, buffer));
}

zmq::message_t buffer_frame(const Buffer& buffer) {
    if (buffer.bytes.size() < kCopyBelowBytes || !buffer.owner) return copy_frame(buffer.bytes);
    auto owner = std::make_unique<std::shared_ptr<const void>>(buffer.owner);
    // ZeroMQ's signature takes a pointer to mutable bytes, but it does not write to them.
    auto* bytes = const_cast<std::byte*>(buffer.bytes.data());
    zmq::message_t frame(bytes, buffer.bytes.size(), &release_owner, owner.get());
    handed_over(owner.release());  // The frame frees it.
    return frame;
}

std::span<const std::byte> bytes_of(const zmq::message_t& frame) noexcept {
    return {static_cast<const std::byte*>(frame.data()), frame.size()};
}

Frames error_frames(proto::ErrorReply header, const Error& error) {
    header.code = error.code;
    header.retryable = error.retryable;
    Frames frames;
    frames.reserve(3);
    frames.push_back(header_frame(header));
    frames.push_back(text_frame(error.message));
    frames.push_back(text_frame(error.where));
    return frames;
}

}  // namespace shortq::worker
