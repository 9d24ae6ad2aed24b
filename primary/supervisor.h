// primary/supervisor.h: the workers as processes: started, watched, ended, and why they ended.
// Which ones there should be is the dispatcher's business; how a forked one comes to be,
// fork_servers.h's.
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
#include "primary/fork_servers.h"
#include "primary/options.h"
#include "primary/worker_process.h"
#include "worker/engine/wakeup.h"

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
    // All but `watch` and `unwatch` come from the event loop only, never from within a call.
    struct Callbacks {
        std::function<void(int fd, std::function<void()> ready)> watch;
        std::function<void(int fd)> unwatch;  // Before the descriptor is closed.
        // The worker has ended, or will never be: call reap().
        std::function<void(core::WorkerId worker)> ended;
        // The data does not load. ended() follows for each worker that waited for it.
        std::function<void(std::uint32_t generation, core::WorkerId worker, const Error& error)>
            load_failed;
    };

    Supervisor(const Options& options, SupervisorOptions own, Callbacks callbacks);
    ~Supervisor();
    Supervisor(const Supervisor&) = delete;
    Supervisor& operator=(const Supervisor&) = delete;

    // Errors: the process could not be started; the caller reports its exit.
    [[nodiscard]] Result<void> spawn(const core::SpawnWorker& order);
    void kill(core::WorkerId worker);
    // No worker of this generation will be spawned any more; nor of any before that one.
    void retire(std::uint32_t generation) { fork_servers_.retire(generation); }
    void retire_before(std::uint32_t generation) { fork_servers_.retire_before(generation); }

    // The event for the core, if it has ended. The text says how, for the log.
    struct Ended {
        core::WorkerExited event;
        std::string how;
        WorkerFacts facts;
    };
    [[nodiscard]] std::optional<Ended> reap(core::WorkerId worker);

    // A child has ended that may be nobody's: one in the middle of a fork whose fork server died,
    // or a worker that nobody has heard of. Called from the event loop only.
    void reap_strays();

    // The worker lives and says which process it is: perhaps before its fork server can tell, or
    // when that one is dead.
    void greeted(core::WorkerId worker, pid_t pid);
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
        bool doomed = false;  // To be killed as soon as it is born.
        std::string never{};  // Not empty: it will never be born, and why.
    };
    // ---- Arguments of shortq-worker
    [[nodiscard]] std::vector<std::string> common_arguments(std::uint32_t generation) const;
    [[nodiscard]] WorkerProcessOptions worker_program(const WorkerFacts& facts,
                                                      const std::filesystem::path& spill) const;
    [[nodiscard]] WorkerProcessOptions server_program(std::uint32_t generation) const;

    [[nodiscard]] ForkServers::Callbacks fork_callbacks();
    [[nodiscard]] Result<std::filesystem::path> make_spill_folder(core::WorkerId worker,
                                                                  std::uint32_t seat) const;
    [[nodiscard]] Result<void> start_alone(Child& child);
    [[nodiscard]] Result<void> send_order(ForkServer& server, core::WorkerId worker);
    void on_forked(core::WorkerId worker, pid_t pid);
    void never_born(core::WorkerId worker, const std::string& why);
    void watch(const Child& child);
    void look_around();
    [[nodiscard]] Child* find(core::WorkerId worker);
    [[nodiscard]] bool is_known(pid_t pid) const;

    const Options& options_;
    SupervisorOptions own_;
    Callbacks callbacks_;
    std::vector<std::optional<Child>> children_;  // By slot.
    std::vector<core::WorkerId> never_born_;      // To be told to the owner.
    Wakeup told_;                                 // That there are some, or strays.
    ForkServers fork_servers_;
};

}  // namespace shortq::primary
