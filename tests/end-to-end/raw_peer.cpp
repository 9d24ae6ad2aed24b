#include "tests/end-to-end/raw_peer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>

#include "tests/end-to-end/program.h"
#include "tests/patience.h"

namespace shortq::test {

std::string encoded(const proto::Message& message) {
    proto::HeaderBuffer buffer;
    const auto bytes = proto::encode(message, buffer);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string workers_endpoint(pid_t worker) {
    const auto line = read_file("/proc/" + std::to_string(worker) + "/cmdline");
    const auto at = line.find("ipc://");
    return at == std::string::npos ? "" : line.substr(at, line.find('\0', at) - at);
}

namespace {

void connect(zmq::socket_t& socket, const std::string& endpoint) {
    constexpr std::chrono::milliseconds kPatienceMs = kPatience;
    socket.set(zmq::sockopt::linger, 1000);
    socket.set(zmq::sockopt::sndhwm, 0);
    socket.set(zmq::sockopt::rcvhwm, 0);
    socket.set(zmq::sockopt::rcvtimeo, static_cast<int>(kPatienceMs.count()));
    socket.connect(endpoint);
}

}  // namespace

RawPeer::RawPeer(const std::string& endpoint)
    : own_context_(std::in_place), socket_(*own_context_, zmq::socket_type::dealer) {
    connect(socket_, endpoint);
}

RawPeer::RawPeer(zmq::context_t& context, const std::string& endpoint)
    : socket_(context, zmq::socket_type::dealer) {
    connect(socket_, endpoint);
}

void RawPeer::send(const std::vector<std::string>& frames) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const auto flags = i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
        EXPECT_TRUE(socket_.send(zmq::buffer(frames[i]), flags));
    }
}

std::optional<proto::Message> RawPeer::next(std::chrono::milliseconds patience) {
    zmq::pollitem_t item{socket_.handle(), 0, ZMQ_POLLIN, 0};
    if (zmq::poll(&item, 1, patience) != 1) return std::nullopt;
    return next();
}

std::optional<proto::Message> RawPeer::next() {
    if (!socket_.recv(header_)) return std::nullopt;
    bodies_.clear();
    for (bool more = header_.more(); more;) {
        zmq::message_t body;
        if (!socket_.recv(body)) return std::nullopt;
        bodies_.push_back(body.to_string());
        more = body.more();
    }
    const auto message =
        proto::decode({static_cast<const std::byte*>(header_.data()), header_.size()});
    if (!message) {
        ADD_FAILURE() << "the server sent what cannot be decoded: " << message.error().message;
        return std::nullopt;
    }
    return *message;
}

std::uint64_t RawPeer::hello() {
    send({encoded(proto::Hello{})});
    const auto welcome = next_of<proto::Welcome>();
    if (!welcome) throw std::runtime_error("no welcome");
    return welcome->session;
}

}  // namespace shortq::test
