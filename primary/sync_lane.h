// primary/sync_lane.h: one engine on one thread, which evaluates sync requests first come, first
// served.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>
#include <zmq.hpp>

#include "primary/core/types.h"
#include "primary/host_link.h"
#include "proto/message.h"
#include "worker/engine/engine.h"

namespace shortq::primary {

struct SyncJob {
    core::RequestId request{};
    zmq::message_t text;
    zmq::message_t parameters;  // Empty: none.
};

// A reply as a worker would send it: ids are core ids, the bodies are ready to go.
struct SyncReply {
    std::variant<proto::Reply, proto::ErrorReply> header;
    std::vector<zmq::message_t> bodies;
    bool probed = false;  // The workers have been asked for the table that this error misses.
};

// Threads: the dispatch thread; `post` and `make` are called on the lane's own.
class SyncLane {
public:
    using Make = std::function<Result<std::unique_ptr<engine::Engine>>(HostLink&)>;
    using PostReply = std::function<void(SyncReply)>;
    // Asked when a job has failed, on the lane's thread: true if it took the job over.
    using TakeOver = std::function<bool(SyncJob&, const Error&)>;

    // The engine is made on the first job's demand, or by warm_up().
    SyncLane(Make make, PostReply post_reply, std::function<void(Question)> post_question,
             TakeOver take_over);
    ~SyncLane();  // stop() without an end to the patience.
    SyncLane(const SyncLane&) = delete;
    SyncLane& operator=(const SyncLane&) = delete;

    // Makes the engine now. Pre: nothing was submitted yet. Errors: it cannot be made.
    [[nodiscard]] Result<void> warm_up();
    void submit(SyncJob job);
    // Drops what waits and interrupts what runs, until `until`. False: it still runs.
    [[nodiscard]] bool stop(std::chrono::steady_clock::time_point until);

    // PROTOCOL.md#flow-control: as a worker's.
    void grant(core::RequestId request, std::uint64_t bytes);

    enum class Found : std::uint8_t { kNo, kWithdrawn, kRunning };
    // Takes a job back that has not started, or orders the running one to end.
    [[nodiscard]] Found interrupt(core::RequestId request);
    // Takes a job back that has not started.
    [[nodiscard]] bool withdraw(core::RequestId request);
    // Interrupts once more, if that is ordered: an interrupt may be lost. True: ordered.
    bool repeat_interrupt();
    [[nodiscard]] bool is_running(core::RequestId request);
    [[nodiscard]] double progress_of(core::RequestId request);  // Negative: not running, unknown.

private:
    void run();
    void run_job(SyncJob& job);
    [[nodiscard]] Result<void> evaluate(const SyncJob& job, engine::ResultSink& sink);
    [[nodiscard]] Result<void> ensure_engine();
    [[nodiscard]] bool post_piece(SyncReply reply);
    void report_error(const SyncJob& job, Error error, std::chrono::nanoseconds ran);
    bool interrupt_locked();

    Make make_;
    PostReply post_reply_;
    TakeOver take_over_;
    HostLink link_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<SyncJob> jobs_;
    std::unique_ptr<engine::Engine> engine_;
    core::RequestId running_{};
    bool interrupt_ordered_ = false;
    std::uint64_t sent_bytes_ = 0;     // Of the running request's reply.
    std::uint64_t granted_bytes_ = 0;  // A piece may go while what was sent is below.
    bool stopping_ = false;
    bool stopped_ = false;
    std::thread thread_;  // Last: it uses all the others.
};

}  // namespace shortq::primary
