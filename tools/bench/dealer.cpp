#include "tools/bench/dealer.h"

#include <iterator>
#include <zmq_addon.hpp>

namespace shortq::bench {

Dealer::Dealer(const std::vector<std::string>& endpoints) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::sndhwm, 0);
    socket_.set(zmq::sockopt::rcvhwm, 0);
    for (const auto& endpoint : endpoints) socket_.connect(endpoint);
}

bool Dealer::send(std::initializer_list<zmq::const_buffer> frames) {
    std::size_t left = frames.size();
    for (const auto& frame : frames) {
        --left;
        const auto flags = zmq::send_flags::dontwait |
                           (left > 0 ? zmq::send_flags::sndmore : zmq::send_flags::none);
        if (!socket_.send(frame, flags)) return false;
    }
    return true;
}

Result<const std::vector<zmq::message_t>*> Dealer::receive(std::chrono::milliseconds limit) {
    frames_.clear();
    // Polling only when nothing is there yet keeps a system call out of the busy case.
    if (!zmq::recv_multipart(socket_, std::back_inserter(frames_), zmq::recv_flags::dontwait)) {
        zmq::pollitem_t item{socket_.handle(), 0, ZMQ_POLLIN, 0};
        if (zmq::poll(&item, 1, limit) == 0) return fail(ErrorCode::kTimeout, "no reply");
        if (!zmq::recv_multipart(socket_, std::back_inserter(frames_))) {
            return fail(ErrorCode::kInternal, "the socket was ready and gave nothing");
        }
    }
    return &frames_;
}

}  // namespace shortq::bench
