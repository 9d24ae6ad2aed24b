// worker/fork_server.h: loads the source once and forks workers that share what it loaded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "worker/engine/engine.h"
#include "worker/engine/fork_channel.h"
#include "worker/options.h"

namespace shortq::worker {

// What makes a process just forked a worker.
struct Birth {
    ForkOrder order;
    UniqueFd board;
    std::unique_ptr<engine::Engine> engine;  // Loaded; start_forked() comes next.
    std::uint64_t base_bytes = 0;            // Of the engine's memory: what it was born with.
};

// A fork server has one thread, no ZeroMQ context and no temporary folder, and runs no query:
//
//  load --BaseLoaded--> wait for an order <-> fork, fork again, middle process leaves
//    | BaseFailed or CannotFork: leave with 1      | the primary closed the channel: leave with 0
//
// The second fork is what makes the worker a child of the primary (a subreaper, prctl(2)): so it
// outlives its fork server, and only the primary reaps it.
class ForkServer {
public:
    ForkServer(const Options& options, ForkChannel channel, std::int64_t primary_pid);

    // Serves until the primary closes the channel. Returns an exit status in the server, and a
    // birth in each worker that it forked.
    [[nodiscard]] std::variant<int, Birth> run();

private:
    // Errors: reported to the primary already.
    [[nodiscard]] bool load();
    [[nodiscard]] Result<void> check_room() const;
    [[nodiscard]] std::optional<Birth> fork_worker(ForkChannel::Order order);
    void report(const ForkReport& report);

    const Options& options_;
    ForkChannel channel_;
    std::int64_t primary_pid_;
    std::unique_ptr<engine::Engine> engine_;
    std::uint64_t base_bytes_ = 0;
};

// The memory of one worker of `workers` that share `base` bytes within `budget`: the base, and an
// equal part of the rest. 0 (no limit of ours) for a budget of 0.
[[nodiscard]] std::uint64_t memory_share(std::uint64_t budget, std::uint64_t base,
                                         std::uint32_t workers);

// Waits until this process, just forked, has become a child of the primary. `middle` is the process
// that forked it. Errors: kUnavailable if it became somebody else's: the primary is gone.
[[nodiscard]] Result<void> wait_for_adoption(std::int64_t middle, std::int64_t primary);

}  // namespace shortq::worker
