// primary/wire.cpp: the only loops over the frames of a message.
#include "primary/wire.h"

#include <algorithm>
#include <cerrno>

namespace shortq::primary {
namespace {

std::span<const std::byte> bytes_of(const zmq::message_t& frame) {
    return {static_cast<const std::byte*>(frame.data()), frame.size()};
}

zmq::message_t copy_of(std::span<const std::byte> bytes) { return {bytes.data(), bytes.size()}; }

Sent send_frames(zmq::socket_t& socket, std::string_view identity, zmq::message_t header,
                 std::span<zmq::message_t> bodies) {
    const auto flags = zmq::send_flags::dontwait;
    const auto more = flags | zmq::send_flags::sndmore;
    try {
        if (!socket.send(zmq::buffer(identity.data(), identity.size()), more)) return Sent::kFull;
        if (!socket.send(header, bodies.empty() ? flags : more)) return Sent::kFull;
        for (std::size_t i = 0; i < bodies.size(); ++i)
            if (!socket.send(bodies[i], i + 1 == bodies.size() ? flags : more)) return Sent::kFull;
        return Sent::kYes;
    } catch (const zmq::error_t& error) {
        if (error.num() != EHOSTUNREACH) throw;
        return Sent::kNoPeer;
    }
}

}  // namespace

Router::Router(zmq::context_t& context) : socket_(context, zmq::socket_type::router) {
    socket_.set(zmq::sockopt::router_mandatory, true);
    socket_.set(zmq::sockopt::router_handover, false);
    socket_.set(zmq::sockopt::sndhwm, 0);
    socket_.set(zmq::sockopt::backlog, 1024);
}

// ---- What arrives

bool Router::receive(Incoming& in) {
    in.header.rebuild();
    in.bodies.clear();
    if (!unpacker_.done()) {
        next_of_bundle(in);
        return true;
    }
    in.bundled = false;
    drained_ = !socket_.recv(in.identity, zmq::recv_flags::dontwait);
    if (drained_) return false;
    bool more = in.identity.more();
    for (std::size_t i = 0; more; ++i) {
        zmq::message_t frame;
        // The rest of a message is there when its first frame is.
        if (!socket_.recv(frame, zmq::recv_flags::none)) break;
        more = frame.more();
        if (i == 0) {
            in.header = std::move(frame);
        } else {
            in.bodies.push_back(std::move(frame));
        }
    }
    if (in.bodies.size() != 1 || !proto::is_bundle(in.header_bytes())) return true;
    in.header.rebuild();
    unpacking_ = std::move(in.bodies.front());
    in.bodies.clear();
    in.bundled = true;
    if (unpacking_.size() > proto::kBundleBytesMax) return true;  // Malformed.
    unpacker_ = proto::BundleReader(bytes_of(unpacking_));
    if (!unpacker_.done()) next_of_bundle(in);
    return true;
}

void Router::next_of_bundle(Incoming& in) {
    if (!unpacker_.next(parts_)) return;
    in.header = copy_of(parts_.front());
    for (const auto part : std::span(parts_).subspan(1)) in.bodies.push_back(copy_of(part));
}

// ---- What leaves

Router::Bundle* Router::open_bundle(std::string_view identity) {
    const auto open = std::span(bundles_).first(bundles_open_);
    const auto found = std::ranges::find(open, identity, &Bundle::identity);
    return found == open.end() ? nullptr : &*found;
}

proto::BundleWriter& Router::bundle_for(std::string_view identity) {
    if (auto* open = open_bundle(identity)) return open->messages;
    if (bundles_open_ == bundles_.size()) bundles_.emplace_back();
    auto& bundle = bundles_[bundles_open_++];
    bundle.identity = identity;
    bundle.lost = false;
    return bundle.messages;
}

Sent Router::send(std::string_view identity, const proto::Message& header,
                  std::span<zmq::message_t> bodies, Bundling bundling) {
    drained_ = false;
    proto::HeaderBuffer buffer;
    const auto first = proto::encode(header, buffer);
    auto size = first.size();
    for (const auto& body : bodies) size += body.size();
    if (bundling == Bundling::kYes && proto::BundleWriter::is_small(size, bodies.size() + 1)) {
        auto& bundle = bundle_for(identity);
        if (!bundle.has_room(size, bodies.size() + 1)) {
            if (const auto sent = send_bundle(*open_bundle(identity)); sent != Sent::kYes)
                return sent;
        }
        bundle.begin(bodies.size() + 1);
        bundle.frame(first);
        for (const auto& body : bodies) bundle.frame(bytes_of(body));
        return Sent::kYes;
    }
    auto* open = open_bundle(identity);
    if (open != nullptr) {
        if (const auto sent = send_bundle(*open); sent != Sent::kYes) return sent;
    }
    const auto sent = send_frames(socket_, identity, copy_of(first), bodies);
    // Then it is somebody new, under the identity of who was lost.
    if (open != nullptr && sent == Sent::kYes) open->lost = false;
    return sent;
}

// It stays open, without messages.
Sent Router::send_bundle(Bundle& bundle) {
    auto& messages = bundle.messages;
    if (messages.empty()) return Sent::kYes;
    drained_ = false;
    messages.frames_to_send(parts_);
    frames_.clear();
    for (const auto part : parts_) frames_.push_back(copy_of(part));
    messages.clear();
    const auto sent = send_frames(socket_, bundle.identity, std::move(frames_.front()),
                                  std::span(frames_).subspan(1));
    bundle.lost = sent == Sent::kNoPeer;
    return sent;
}

zmq::message_t frame_of(std::string_view text) { return zmq::message_t(text.data(), text.size()); }

std::string text_of(const zmq::message_t& frame) {
    return std::string(static_cast<const char*>(frame.data()), frame.size());
}

}  // namespace shortq::primary
