#include "tests/soak/noise.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string_view>
#include <zmq.hpp>

#include "proto/message.h"
#include "worker/engine/unique_fd.h"

namespace shortq::soak {
namespace {

constexpr std::uint64_t kNoiseStream = 2;

// ZMTP 3.0: signature, version, mechanism NULL, not a server.
std::string greeting() {
    std::string bytes = "\xff";
    bytes.append(8, '\0');
    bytes += "\x7f\x03";
    bytes += '\0';
    bytes += "NULL";
    bytes.resize(64, '\0');
    return bytes;
}

UniqueFd connected(std::uint16_t port) {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* where = reinterpret_cast<const sockaddr*>(&address);
    if (fd && ::connect(fd.get(), where, sizeof(address)) != 0) fd = {};
    return fd;
}

template <class Message>
std::string encoded(const Message& message) {
    proto::HeaderBuffer buffer;
    const auto bytes = proto::encode(message, buffer);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Noise::Noise(std::uint64_t seed, std::uint16_t port, Gate& gate)
    : random_(seed, kNoiseStream), port_(port), gate_(gate) {}

void Noise::run() {
    while (true) {
        const Gate::Turn turn(gate_);
        if (!turn) return;
        if (random_.one_in(2)) {
            bytes();
        } else {
            frames();
        }
        gate_.pause(random_.milliseconds(50, 1500));
    }
}

std::string Noise::random_bytes(std::int64_t most) {
    std::string bytes(static_cast<std::size_t>(random_.between(0, most)), '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random_.between(0, 255));
    return bytes;
}

void Noise::bytes() {
    const auto fd = connected(port_);
    if (!fd) return;  // Its backlog is full while it is stopped.
    auto all = random_bytes(2000);
    if (random_.one_in(2)) all = greeting() + all;
    static_cast<void>(::send(fd.get(), all.data(), all.size(), MSG_NOSIGNAL));
    gate_.pause(random_.milliseconds(0, 100));
}

std::string Noise::altered_header() {
    proto::Request request;
    request.id = static_cast<std::uint64_t>(random_.between(0, 100));
    request.session = static_cast<std::uint64_t>(random_.between(0, 100));
    auto header = random_.one_in(4) ? encoded(proto::Hello{}) : encoded(request);
    if (random_.one_in(3)) return header;
    for (auto left = random_.between(1, 3); left > 0; --left) {
        const auto last = static_cast<std::int64_t>(header.size()) - 1;
        header[static_cast<std::size_t>(random_.between(0, last))] =
            static_cast<char>(random_.between(0, 255));
    }
    return header;
}

void Noise::frames() {
    zmq::context_t context;
    zmq::socket_t socket(context, zmq::socket_type::dealer);
    socket.set(zmq::sockopt::linger, 200);
    socket.connect(fmt::format("tcp://127.0.0.1:{}", port_));
    for (auto messages = random_.between(1, 20); messages > 0; --messages) {
        const auto header = random_.one_in(3) ? random_bytes(1200) : altered_header();
        const auto bodies = random_.between(0, 3);
        const auto more = [](bool yes) {
            return yes ? zmq::send_flags::sndmore : zmq::send_flags::none;
        };
        static_cast<void>(socket.send(zmq::buffer(header), more(bodies > 0)));
        for (auto left = bodies; left > 0; --left)
            static_cast<void>(socket.send(zmq::buffer(random_bytes(3000)), more(left > 1)));
    }
}

}  // namespace shortq::soak
