// worker/frames.h: messages as ZeroMQ frames: headers copied in, result buffers moved without a
// copy.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>
#include <zmq.hpp>

#include "proto/columnar.h"
#include "proto/error.h"
#include "proto/message.h"

namespace shortq::worker {

using Frames = std::vector<zmq::message_t>;

[[nodiscard]] zmq::message_t header_frame(const proto::Message& message);
[[nodiscard]] zmq::message_t copy_frame(std::span<const std::byte> bytes);

// The frame keeps the buffer's owner alive until ZeroMQ has sent it, on whatever thread. Small
// buffers are copied: that is cheaper than keeping a whole result alive for them.
[[nodiscard]] zmq::message_t buffer_frame(const Buffer& buffer);

[[nodiscard]] std::span<const std::byte> bytes_of(const zmq::message_t& frame) noexcept;

// `header` with the error's code, and the two bodies: message and where. Texts over the limit are
// cut visibly.
[[nodiscard]] Frames error_frames(proto::ErrorReply header, const Error& error);

}  // namespace shortq::worker
