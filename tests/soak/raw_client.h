// tests/soak/raw_client.h: a client without the library: it sees every message that comes, also
// those that a library would drop.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "client/assembly.h"
#include "proto/message.h"
#include "tests/soak/judge.h"
#include "tests/soak/load.h"

namespace shortq::soak {

// Speaks PROTOCOL.md. The ids of its requests are their numbers, so that no two connections share
// one. Threads: run() on one of its own.
class RawClient {
public:
    using Clock = std::chrono::steady_clock;

    RawClient(const Scene& scene, std::string name, std::string endpoint, std::uint64_t stream);
    void run();

private:
    struct Waiting {
        Plan plan;
        bool streaming = false;
        detail::ReplyAssembly assembly;
        std::uint64_t taken = 0;
    };

    void connect();
    void greet();
    void ask();
    void send_request(std::uint64_t id, const Waiting& waiting);
    void send(const proto::Message& message, const std::vector<std::string>& bodies = {});
    void receive_all();
    [[nodiscard]] bool receive(std::vector<zmq::message_t>& frames);
    void take(const std::vector<zmq::message_t>& frames);
    void on(const proto::Reply& reply, const std::vector<zmq::message_t>& frames);
    void on(const proto::ErrorReply& error, const std::vector<zmq::message_t>& frames);
    void start_anew();
    void give_credit(const proto::Reply& reply, Waiting& waiting, std::uint64_t bytes);
    void beat();
    void leave_without_a_word();

    Scene scene_;
    std::string name_;
    std::string endpoint_;
    Random random_;
    Judge judge_;
    zmq::context_t context_;
    std::optional<zmq::socket_t> socket_;
    std::uint64_t session_ = 0;
    std::uint64_t taken_ = 0;
    std::map<std::uint64_t, Waiting> waiting_;
    Clock::time_point next_beat_{};
    Clock::time_point next_request_{};
    Clock::time_point hello_again_{};
};

}  // namespace shortq::soak
