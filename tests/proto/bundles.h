// tests/proto/bundles.h: bundles made by hand, and taken apart, as texts.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/bundle.h"
#include "proto/message.h"

namespace shortq::test {

using Texts = std::vector<std::string>;  // The frames of a message.

[[nodiscard]] inline std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[nodiscard]] inline std::string header_text(const proto::Message& message) {
    proto::HeaderBuffer buffer;
    return text_of(proto::encode(message, buffer));
}

// Frame 0 of each bundle.
[[nodiscard]] inline std::string bundle_header() { return text_of(proto::kBundleHeader); }

// Its other frame. Pre: the messages are small.
[[nodiscard]] inline std::string bundle_body(const std::vector<Texts>& messages) {
    proto::BundleWriter writer;
    for (const auto& message : messages) {
        writer.begin(message.size());
        for (const auto& frame : message) writer.frame(std::as_bytes(std::span(frame)));
    }
    return text_of(writer.body());
}

// The messages of what came from a socket: those of a bundle, or itself.
[[nodiscard]] inline std::vector<Texts> unbundled(const Texts& frames) {
    if (frames.size() != 2 || frames[0] != bundle_header()) return {frames};
    std::vector<Texts> messages;
    std::vector<std::span<const std::byte>> parts;
    for (proto::BundleReader reader(std::as_bytes(std::span(frames[1]))); !reader.done();) {
        if (!reader.next(parts)) break;
        auto& message = messages.emplace_back();
        for (const auto part : parts) message.push_back(text_of(part));
    }
    return messages;
}

}  // namespace shortq::test
