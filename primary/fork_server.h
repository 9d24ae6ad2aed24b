// primary/fork_server.h: one fork server as the primary sees it: a process, its channel, and the
// workers that were asked of it.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>

#include "primary/worker_process.h"
#include "worker/engine/fork_channel.h"

namespace shortq::primary {

// Threads: the main thread (WorkerProcess says why).
class ForkServer {
public:
    // Starts the process, which begins to load. `arguments` are those of shortq-worker.
    // Errors: it could not be started.
    [[nodiscard]] static Result<ForkServer> start(std::uint32_t generation,
                                                  const WorkerProcessOptions& options);

    // ---- What it has come to
    [[nodiscard]] std::uint32_t generation() const noexcept { return generation_; }
    [[nodiscard]] bool loaded() const noexcept { return loaded_; }
    void set_loaded() noexcept { loaded_ = true; }
    [[nodiscard]] pid_t pid() const noexcept { return process_.pid(); }

    // ---- For the event loop
    [[nodiscard]] int pidfd() const noexcept { return process_.pidfd(); }
    [[nodiscard]] int channel_fd() const noexcept { return channel_.fd(); }
    [[nodiscard]] std::optional<ExitStatus> reap() noexcept { return process_.reap(); }
    void kill() noexcept { process_.kill(SIGKILL); }

    // ---- The channel
    // The next report; nullopt: none now, or the process is gone (its pidfd tells).
    [[nodiscard]] std::optional<ForkReport> next_report();
    [[nodiscard]] Result<void> order(const ForkOrder& order, int board_fd) {
        return channel_.send(order, board_fd);
    }

private:
    ForkServer(std::uint32_t generation, WorkerProcess process, ForkChannel channel)
        : generation_(generation), process_(std::move(process)), channel_(std::move(channel)) {}

    std::uint32_t generation_ = 0;
    WorkerProcess process_;
    ForkChannel channel_;
    bool loaded_ = false;
};

}  // namespace shortq::primary
