// primary/wire.cpp: the only loop over the frames of a message.
#include "primary/wire.h"

#include <cerrno>

namespace shortq::primary {

Router::Router(zmq::context_t& context) : socket_(context, zmq::socket_type::router) {
    socket_.set(zmq::sockopt::router_mandatory, true);
    socket_.set(zmq::sockopt::router_handover, false);
    socket_.set(zmq::sockopt::sndhwm, 0);
    socket_.set(zmq::sockopt::backlog, 1024);
}

bool Router::receive(Incoming& in) {
    in.header.rebuild();
    in.bodies.clear();
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
    return true;
}

namespace {

Sent send_frames(zmq::socket_t& socket, std::string_view identity, zmq::message_t header,
                 std::span<zmq::message_t> bodies) {
    const auto flags = zmq::send_flags::dontwait;
    const auto more = flags | zmq::send_flags::sndmore;
    if (!socket.send(zmq::buffer(identity.data(), identity.size()), more)) return Sent::kFull;
    if (!socket.send(header, bodies.empty() ? flags : more)) return Sent::kFull;
    for (std::size_t i = 0; i < bodies.size(); ++i)
        if (!socket.send(bodies[i], i + 1 == bodies.size() ? flags : more)) return Sent::kFull;
    return Sent::kYes;
}

}  // namespace

Sent Router::send(std::string_view identity, const proto::Message& header,
                  std::span<zmq::message_t> bodies) {
    drained_ = false;
    proto::HeaderBuffer buffer;
    const auto bytes = proto::encode(header, buffer);
    try {
        return send_frames(socket_, identity, zmq::message_t(bytes.data(), bytes.size()), bodies);
    } catch (const zmq::error_t& error) {
        if (error.num() != EHOSTUNREACH) throw;
        return Sent::kNoPeer;
    }
}

zmq::message_t frame_of(std::string_view text) { return zmq::message_t(text.data(), text.size()); }

std::string text_of(const zmq::message_t& frame) {
    return std::string(static_cast<const char*>(frame.data()), frame.size());
}

}  // namespace shortq::primary
