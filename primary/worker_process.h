// primary/worker_process.h: one worker process as an object: started, watched, signalled, reaped.
// The only place that knows Boost.Process.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "proto/board.h"
#include "proto/error.h"
#include "worker/engine/unique_fd.h"

namespace shortq {

// How a process ended.
struct ExitStatus {
    bool signalled = false;
    int value = 0;  // The exit status, or the number of the signal that killed it.
    [[nodiscard]] bool success() const noexcept { return !signalled && value == 0; }
    bool operator==(const ExitStatus&) const = default;
};
[[nodiscard]] std::string describe(
    const ExitStatus& status);  // "exit status 1", "signal 9 (KILL)".

struct WorkerProcessOptions {
    std::filesystem::path program;       // find_worker_program().
    std::vector<std::string> arguments;  // Without the program's name and without --board-fd.
    std::vector<int> inherited{};        // Descriptors that the child gets besides the board.
};

// The child gets /dev/null as stdin, this process's stderr as stdout and stderr, the board, what is
// inherited, and no other descriptor. It inherits the signal mask and is expected to set its own.
// A child may also be expected, and then adopted: a fork server makes it.
// Threads: one at a time, except board(). Spawn on the main thread only: the child asks to be
// killed when its parent dies, and the kernel takes the end of the spawning *thread* for that.
class WorkerProcess {
public:
    // Makes the board with a fresh random token, and starts the child with `--board-fd N` added.
    // Errors: kInternal naming what failed (no such program, out of processes or descriptors).
    [[nodiscard]] static Result<WorkerProcess> spawn(const WorkerProcessOptions& options);

    // Makes the board for a child that another process is to fork: hand it board_fd().
    // Errors: kInternal, out of descriptors.
    [[nodiscard]] static Result<WorkerProcess> expected();
    [[nodiscard]] bool born() const noexcept { return static_cast<bool>(pidfd_); }
    [[nodiscard]] int board_fd() const noexcept { return board_file_.get(); }
    // The child has been forked, and is or soon becomes a child of this process.
    // Errors: kInternal: no such process.
    [[nodiscard]] Result<void> adopt(pid_t pid);

    WorkerProcess(WorkerProcess&&) noexcept;
    WorkerProcess& operator=(WorkerProcess&&) noexcept;
    ~WorkerProcess();  // Kills and reaps a child that was not reaped yet.

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    // Becomes readable when the child has ended: for the event loop's poll. Owned by this object.
    [[nodiscard]] int pidfd() const noexcept { return pidfd_.get(); }

    // Sends a signal; one to a child that has ended does nothing.
    void kill(int signal) noexcept;

    // How the child ended, once it has; the first such call reaps it. Never blocks.
    [[nodiscard]] std::optional<ExitStatus> reap() noexcept;

    // Stays valid after the child's end, as long as this object (also when it is moved).
    [[nodiscard]] const proto::Board& board() const noexcept { return *board_; }
    [[nodiscard]] std::span<const std::byte> token() const noexcept { return board_->token; }

private:
    WorkerProcess() = default;
    void end() noexcept;

    struct Unmap {
        void operator()(proto::Board* board) const noexcept;
    };
    std::unique_ptr<proto::Board, Unmap> board_;
    UniqueFd board_file_;  // Of one that is expected.
    UniqueFd pidfd_;
    pid_t pid_ = -1;
    std::optional<ExitStatus> status_;
};

// shortq-worker beside this program, or in ../libexec as an install puts it. Errors: kNotFound,
// naming the places that were looked at.
[[nodiscard]] Result<std::filesystem::path> find_worker_program();

}  // namespace shortq
