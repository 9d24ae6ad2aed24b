// worker/io_loop.h: the worker's main thread: everything between the primary's socket and the query
// thread. Never blocks on the engine, so that heartbeats, recalls and interrupts work at any time.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "proto/bundle.h"
#include "proto/message.h"
#include "worker/board_mapping.h"
#include "worker/engine/wakeup.h"
#include "worker/frames.h"
#include "worker/options.h"
#include "worker/query_thread.h"
#include "worker/wear.h"

namespace shortq::worker {

//  hello --Welcome--> loading --loaded--> serving --Drain, idle--> leave with 0
//    | refused: leave with 1    | load failed --Drain, 5 s--> leave with 1
// Threads: one, and the query thread while the socket is lent to it (query_thread.h).
class IoLoop : private Socket {
public:
    // Connects. Throws zmq::error_t for an endpoint that cannot be.
    // `forked`: the engine that a fork server has loaded; null: this process loads. The memory
    // beyond `base_bytes` that the options allow is its own; with more it asks to be replaced.
    IoLoop(const Options& options, BoardMapping& board, zmq::context_t& context,
           std::unique_ptr<engine::Engine> forked = nullptr, std::uint64_t base_bytes = 0);

    // Serves until it is time to leave; returns the exit status. What was sent last is with ZeroMQ
    // then, which delivers it while the context closes.
    [[nodiscard]] int run();

private:
    using Clock = std::chrono::steady_clock;
    using Bodies = std::span<zmq::message_t>;

    [[nodiscard]] bool wait_and_serve() noexcept override;
    [[nodiscard]] bool deliver() noexcept override;
    void round();
    [[nodiscard]] bool may_lend() const;
    void wait();
    [[nodiscard]] bool may_go_on();
    [[nodiscard]] std::chrono::milliseconds time_to_wait() const;
    void receive();
    [[nodiscard]] bool receive_one();
    [[nodiscard]] bool next_of_bundle();
    void handle();

    void on(const proto::Welcome& welcome, Bodies bodies);
    void on(const proto::ErrorReply& error, Bodies bodies);
    void on(const proto::Request& request, Bodies bodies);
    void on(const proto::Recall& recall, Bodies bodies);
    void on(const proto::Interrupt& interrupt, Bodies bodies);
    void on(const proto::Credit& credit, Bodies bodies);
    void on(const proto::Drain& drain, Bodies bodies);
    void on(const proto::Heartbeat& heartbeat, Bodies bodies);
    template <class Other>
    void on(const Other& other, Bodies bodies);

    void repeat_interrupts();
    void heartbeat();
    void check_wear(Clock::time_point now);
    void collect();
    void check_leaving();
    void send(Frames frames);
    void send_bundled(Frames frames);
    void flush_bundle();
    void flush();
    [[nodiscard]] bool try_send(Frames& frames);

    const Options& options_;
    std::unique_ptr<engine::Engine> forked_;
    std::optional<Wear> wear_;  // Of a forked worker.
    Wakeup wakeup_;
    QueryThread query_thread_;
    zmq::socket_t socket_;
    int descriptor_;            // Of the socket (ZMQ_FD).
    bool drained_ = false;      // The last thing done with it was to find nothing.
    Frames incoming_;           // Reused for every message.
    zmq::message_t unpacking_;  // A bundle that is taken apart.
    proto::BundleReader unpacker_;
    std::vector<std::span<const std::byte>> parts_;  // Reused.
    proto::BundleWriter bundle_;                     // Of replies that are collected together.
    std::vector<Outgoing> outgoing_;                 // Reused for every collect().
    std::deque<Frames> backlog_;                     // The socket had no room for these; in order.
    std::uint64_t interrupting_ = 0;                 // Repeated until its run has ended.
    Clock::time_point begun_ = Clock::now();
    Clock::time_point last_look_;  // Into the socket.
    Clock::time_point next_heartbeat_;
    Clock::time_point next_interrupt_;
    Clock::time_point next_wear_;  // Once a query has ended since the last look.
    bool wear_due_ = false;
    bool answers_due_ = false;  // The query thread has something for collect().
    bool welcomed_ = false;
    bool bundles_ = false;  // The primary understands them.
    bool draining_ = false;
    std::optional<Clock::time_point> load_failed_;  // When; not for one stopped by Drain.
    std::optional<int> exit_status_;
    std::exception_ptr failure_;  // While the socket was lent.
};

}  // namespace shortq::worker
