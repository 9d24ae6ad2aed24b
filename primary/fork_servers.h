// primary/fork_servers.h: the fork servers, one per generation: started when a worker is first
// asked of them, replaced when they die, ended when their generation is over.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "primary/core/types.h"
#include "primary/fork_server.h"
#include "primary/worker_process.h"
#include "proto/error.h"
#include "worker/engine/fork_channel.h"
#include "worker/engine/unique_fd.h"

namespace shortq::primary {

// What becomes of an order:
//
//  ask --loaded--> sent --Forked--> forked()
//   | withdraw      | ForkFailed: failed()    | the server died: asked of its successor
//   | the data does not load: load_failed(), then failed() | it cannot be forked: alone()
//
// A server forks in milliseconds. One that does not answer is stopped or stuck: it is killed, which
// leads to a successor. A successor that cannot load has none: each worker that is asked for from
// then on has the load tried again, and who asks (the dispatcher) waits longer each time.
//
// Threads: the main thread. The callbacks come from the event loop only, never from within a call.
class ForkServers {
public:
    struct Callbacks {
        std::function<void(int fd, std::function<void()> ready)> watch;
        std::function<void(int fd)> unwatch;  // Before the descriptor is closed.
        std::function<WorkerProcessOptions(std::uint32_t generation)> program;
        // Sends the order for a worker. Called each time that it is asked of a server. Errors:
        // kUnavailable if the server is gone; any other, and the order has failed.
        std::function<Result<void>(ForkServer& server, core::WorkerId worker)> order;
        std::function<void(core::WorkerId worker, pid_t pid)> forked;
        std::function<void(core::WorkerId worker, const std::string& reason)> failed;
        std::function<void(std::uint32_t generation, core::WorkerId worker, const Error& error)>
            load_failed;
        std::function<void(core::WorkerId worker)> alone;  // It is to load for itself.
        std::function<void()> ended;  // A server has: what it was about to fork may be left over.
    };
    explicit ForkServers(Callbacks callbacks);  // Throws std::system_error.
    ~ForkServers();
    ForkServers(const ForkServers&) = delete;
    ForkServers& operator=(const ForkServers&) = delete;

    // Whether this generation's data was found to be such that it cannot be forked.
    [[nodiscard]] bool cannot_fork(std::uint32_t generation) const;

    // Errors: the server could not be started; nothing more comes of it.
    [[nodiscard]] Result<void> ask(std::uint32_t generation, core::WorkerId worker);
    // True if the order was not sent yet: nothing more comes of it. A server that loads for nobody
    // is stopped. False: the answer comes, and soon.
    [[nodiscard]] bool withdraw(core::WorkerId worker);
    // The worker was heard of: whatever becomes of its server, it is not asked for again.
    void born(core::WorkerId worker);
    // Takes every report that is there now.
    void read_all();
    // Whether one of them is this process.
    [[nodiscard]] bool has(pid_t pid) const;
    // No worker of this generation is asked for any more.
    void retire(std::uint32_t generation);
    // Nor of any generation but this one and later ones.
    void retire_before(std::uint32_t generation);

private:
    using Clock = std::chrono::steady_clock;
    struct Server {
        ForkServer process;
        std::vector<core::WorkerId> waiting{};    // Not sent yet, in the order of asking.
        std::vector<core::WorkerId> sent{};       // Not answered yet: a few at a time.
        std::vector<core::WorkerId> withdrawn{};  // Of those sent: nobody needs them any more.
        Clock::time_point due{};                  // Something was sent: until then it answers.
        std::optional<Error> failure{};           // Why its load failed.
        bool unneeded = false;                    // It was stopped when nobody waited for it.
    };

    [[nodiscard]] Server* find(std::uint32_t generation);
    [[nodiscard]] Result<Server*> start(std::uint32_t generation);
    void send_waiting(Server& server);
    [[nodiscard]] bool answered(Server& server, core::WorkerId worker);
    void tick(bool on);
    void judge();
    void read(std::uint32_t generation);
    void on(Server& server, const BaseLoaded& loaded);
    void on(Server& server, const BaseFailed& failed);
    void on(Server& server, const CannotFork& cannot);
    void on(Server& server, const Forked& forked);
    void on(Server& server, const ForkFailed& failed);
    void give_up(Server& server, const Error& error);
    void ended(std::uint32_t generation);
    void bury(Server dead, const ExitStatus& status);
    void note_failed_load(const Server& dead, const ExitStatus& status);
    void replace(Server dead);
    [[nodiscard]] Server take(std::uint32_t generation);

    Callbacks callbacks_;
    UniqueFd timer_;  // Ticks while something is sent, for answers that do not come.
    bool ticking_ = false;
    std::vector<Server> servers_;
    std::uint32_t first_ = 0;  // Earlier generations are over.
    std::vector<std::uint32_t> over_;
    std::vector<std::uint32_t> cannot_fork_;
};

}  // namespace shortq::primary
