// primary/wire.cpp: the only loop over the frames of a message.
#include "primary/wire.h"

#include <cerrno>

namespace shortq::primary {

Received receive(zmq::socket_t& socket, Incoming& in) {
    in.header.rebuild();
    in.bodies.clear();
    if (!socket.recv(in.identity, zmq::recv_flags::dontwait)) return Received::kNothing;
    bool more = in.identity.more();
    for (std::size_t i = 0; more; ++i) {
        zmq::message_t frame;
        // The rest of a message is there when its first frame is.
        if (!socket.recv(frame, zmq::recv_flags::none)) break;
        more = frame.more();
        if (i == 0) {
            in.header = std::move(frame);
        } else {
            in.bodies.push_back(std::move(frame));
        }
    }
    return Received::kMessage;
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

Sent send(zmq::socket_t& socket, std::string_view identity, const proto::Message& header,
          std::span<zmq::message_t> bodies) {
    proto::HeaderBuffer buffer;
    const auto bytes = proto::encode(header, buffer);
    try {
        return send_frames(socket, identity, zmq::message_t(bytes.data(), bytes.size()), bodies);
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
