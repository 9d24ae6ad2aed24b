#include "tools/bench/echo_roles.h"

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <string>
#include <vector>
#include <zmq.hpp>
#include <zmq_addon.hpp>

namespace shortq::bench {
namespace {

int echo(zmq::socket_t& socket) {
    std::vector<zmq::message_t> frames;
    for (;;) {
        frames.clear();
        if (!zmq::recv_multipart(socket, std::back_inserter(frames))) continue;
        if (!zmq::send_multipart(socket, frames)) return 1;
    }
}

}  // namespace

int run_proxy(const std::string& clients_endpoint, const std::string& workers_endpoint) {
    zmq::context_t context(1);
    zmq::socket_t clients(context, zmq::socket_type::router);
    zmq::socket_t workers(context, zmq::socket_type::dealer);
    clients.bind(clients_endpoint);
    workers.bind(workers_endpoint);
    std::cout << clients.get(zmq::sockopt::last_endpoint) << std::endl;
    zmq::proxy(clients, workers);
    return 0;
}

int run_echo_worker(const std::string& endpoint) {
    zmq::context_t context(1);
    zmq::socket_t socket(context, zmq::socket_type::dealer);
    socket.connect(endpoint);
    std::cout << "connected" << std::endl;
    return echo(socket);
}

int run_byte_source(const std::string& endpoint) {
    constexpr std::size_t kPiece = std::size_t{1} << 20U;
    const std::vector<std::byte> piece(kPiece, std::byte{1});
    zmq::context_t context(1);
    zmq::socket_t socket(context, zmq::socket_type::dealer);
    socket.connect(endpoint);
    std::cout << "connected" << std::endl;
    for (;;) {
        std::vector<zmq::message_t> frames;
        if (!zmq::recv_multipart(socket, std::back_inserter(frames)) || frames.size() != 2)
            return 1;
        for (auto left = std::stoull(frames[1].to_string()); left > 0;) {
            const auto size = std::min<unsigned long long>(left, kPiece);
            zmq::message_t identity(frames[0].data(), frames[0].size());
            socket.send(identity, zmq::send_flags::sndmore);
            socket.send(zmq::buffer(piece.data(), size), zmq::send_flags::none);
            left -= size;
        }
    }
}

int run_echo_server(const std::string& endpoint) {
    zmq::context_t context(1);
    zmq::socket_t socket(context, zmq::socket_type::router);
    socket.bind(endpoint);
    std::cout << socket.get(zmq::sockopt::last_endpoint) << std::endl;
    return echo(socket);
}

}  // namespace shortq::bench
