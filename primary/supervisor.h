// primary/supervisor.h: the workers as processes: started, watched, ended, and why they ended.
// Which ones there should be is the dispatcher's business.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "primary/core/events.h"
#include "primary/options.h"
#include "primary/worker_process.h"

namespace shortq::primary {

struct WorkerFacts {
    core::WorkerId worker{};
    std::uint32_t seat = 0;
    std::uint32_t generation = 0;
    pid_t pid = 0;
    std::uint64_t rss_bytes = 0;
    std::uint64_t running = 0;  // From its last heartbeat, as is the progress.
    std::int32_t progress_ppm = -1;
    std::chrono::system_clock::time_point started;
    bool ready = false;
    bool told_to_end = false;  // Its end is no surprise.
};

struct SupervisorOptions {
    std::filesystem::path program;
    std::string endpoint;
    std::filesystem::path spill_directory;  // Each worker gets a folder of its own in here.
};

// Threads: the main thread, which must outlive the workers (WorkerProcess says why).
class Supervisor {
public:
    // `watch`: a descriptor to wait for; `unwatch` comes before it is closed.
    struct Watcher {
        std::function<void(int pidfd, core::WorkerId)> watch;
        std::function<void(int pidfd)> unwatch;
    };

    Supervisor(const Options& options, SupervisorOptions own, Watcher watcher);

    // Errors: the process could not be started; the caller reports its exit.
    [[nodiscard]] Result<void> spawn(const core::SpawnWorker& order);
    void kill(core::WorkerId worker);
    // Called when a pidfd became readable: the event for the core, if it has ended. The text says
    // how, for the log.
    struct Ended {
        core::WorkerExited event;
        std::string how;
        WorkerFacts facts;
    };
    [[nodiscard]] std::optional<Ended> reap(core::WorkerId worker);

    [[nodiscard]] std::optional<core::WorkerId> by_token(std::string_view token) const;
    // Fraction done of a request that is running, as its worker last told; negative: unknown.
    [[nodiscard]] double progress_of(core::RequestId request) const;
    // Null: no such process.
    [[nodiscard]] WorkerFacts* facts(core::WorkerId worker);

private:
    struct Child {
        WorkerFacts facts;
        WorkerProcess process;
        std::filesystem::path spill;
    };
    [[nodiscard]] std::vector<std::string> arguments(const core::SpawnWorker& order,
                                                     const std::filesystem::path& spill) const;
    [[nodiscard]] Child* find(core::WorkerId worker);

    const Options& options_;
    SupervisorOptions own_;
    Watcher watcher_;
    std::vector<std::optional<Child>> children_;  // By slot.
};

}  // namespace shortq::primary
