#include "primary/worker_process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/io.hpp>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

namespace shortq {
namespace {

namespace bp = boost::process;

constexpr std::size_t kBoardBytes = 4096;

// By number: the C library's <sys/pidfd.h> of this version cannot be used from C++.
int open_pidfd(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

Error system_error_of(const char* what) {
    return Error{ErrorCode::kInternal, std::string(what) + ": " + std::strerror(errno),
                 "starting a worker", false};
}

// Runs in the child between fork and exec, so it does system calls only. Libraries may have opened
// descriptors without CLOEXEC; a worker that inherited a socket would keep its port or peer alive.
struct InheritOnly : bp::extend::handler {
    explicit InheritOnly(const std::vector<int>& fds) : kept(fds) {}
    template <class Executor>
    void on_exec_setup(Executor& /*executor*/) const {
        ::close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC);
        for (const int fd : kept) ::fcntl(fd, F_SETFD, 0);
    }
    const std::vector<int>& kept;
};

// An anonymous file of one page that nobody can grow or shrink, so that neither side's mapping can
// fault.
Result<UniqueFd> make_board_file() {
    UniqueFd fd(::memfd_create("shortq-board", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd) return tl::unexpected(system_error_of("memfd_create"));
    if (::ftruncate(fd.get(), kBoardBytes) != 0) {
        return tl::unexpected(system_error_of("ftruncate"));
    }
    if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        return tl::unexpected(system_error_of("F_ADD_SEALS"));
    }
    return fd;
}

// Maps the file and puts a new board into it.
Result<proto::Board*> map_new_board(int fd) {
    void* page = ::mmap(nullptr, kBoardBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) return tl::unexpected(system_error_of("mmap"));
    auto* board = ::new (page) proto::Board;
    board->primary_pid = static_cast<std::uint32_t>(::getpid());
    const auto size = static_cast<ssize_t>(board->token.size());
    if (::getrandom(board->token.data(), board->token.size(), 0) != size) {
        auto error = system_error_of("getrandom");
        ::munmap(page, kBoardBytes);
        return tl::unexpected(std::move(error));
    }
    return board;
}

// Starts the program; the caller owns the child.
Result<pid_t> launch(const WorkerProcessOptions& options, int board_fd) {
    auto arguments = options.arguments;
    arguments.insert(arguments.end(), {"--board-fd", std::to_string(board_fd)});
    auto kept = options.inherited;
    kept.push_back(board_fd);
    std::error_code error;
    bp::child child(bp::exe = options.program.string(), bp::args = arguments,
                    bp::std_in<bp::null, bp::std_out> stderr, InheritOnly(kept), error);
    // Without a pipe to hear of failures through, it says nothing and gives a child with the number
    // -1. A signal to that one goes to every process there is.
    if (!error && !child.valid()) error = std::make_error_code(std::errc::too_many_files_open);
    if (error) {
        return fail(ErrorCode::kInternal,
                    "cannot start " + options.program.string() + ": " + error.message(),
                    "starting a worker");
    }
    const pid_t pid = child.id();
    child.detach();  // Its destructor would terminate the worker; WorkerProcess owns that.
    return pid;
}

ExitStatus status_from(const siginfo_t& info) {
    return ExitStatus{.signalled = info.si_code != CLD_EXITED, .value = info.si_status};
}

}  // namespace

std::string describe(const ExitStatus& status) {
    if (!status.signalled) return "exit status " + std::to_string(status.value);
    const char* name = ::sigabbrev_np(status.value);
    std::string text = "signal " + std::to_string(status.value);
    if (name != nullptr) text += std::string(" (") + name + ")";
    return text;
}

void WorkerProcess::Unmap::operator()(proto::Board* board) const noexcept {
    ::munmap(board, kBoardBytes);
}

Result<WorkerProcess> WorkerProcess::spawn(const WorkerProcessOptions& options) {
    auto worker = expected();
    if (!worker) return worker;
    const auto pid = launch(options, worker->board_fd());
    if (!pid) return tl::unexpected(pid.error());
    if (auto adopted = worker->adopt(*pid); !adopted) {
        ::kill(*pid, SIGKILL);
        ::waitpid(*pid, nullptr, 0);
        return tl::unexpected(adopted.error());
    }
    return worker;
}

Result<WorkerProcess> WorkerProcess::expected() {
    auto file = make_board_file();
    if (!file) return tl::unexpected(std::move(file.error()));
    auto board = map_new_board(file->get());
    if (!board) return tl::unexpected(std::move(board.error()));
    WorkerProcess worker;
    worker.board_.reset(*board);
    worker.board_file_ = std::move(*file);
    return worker;
}

Result<void> WorkerProcess::adopt(pid_t pid) {
    // Nobody else reaps, so the number still means this child, even if it has ended by now.
    pidfd_ = UniqueFd(open_pidfd(pid));
    if (!pidfd_) return tl::unexpected(system_error_of("pidfd_open"));
    pid_ = pid;
    board_file_.close();
    return {};
}

WorkerProcess::WorkerProcess(WorkerProcess&&) noexcept = default;

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
    if (this != &other) {
        end();
        board_ = std::move(other.board_);
        board_file_ = std::move(other.board_file_);
        pidfd_ = std::move(other.pidfd_);
        pid_ = std::exchange(other.pid_, -1);
        status_ = std::exchange(other.status_, std::nullopt);
    }
    return *this;
}

WorkerProcess::~WorkerProcess() { end(); }

void WorkerProcess::end() noexcept {
    if (!pidfd_ || status_) return;
    kill(SIGKILL);
    siginfo_t info{};
    // A forked child that is not ours yet becomes so as soon as the process in the middle has left.
    while (::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED) != 0 &&
           (errno == EINTR || (errno == ECHILD && ::kill(pid_, 0) == 0))) {
    }
}

void WorkerProcess::kill(int signal) noexcept {
    if (!pidfd_ || status_) return;
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0);
}

std::optional<ExitStatus> WorkerProcess::reap() noexcept {
    if (status_ || !pidfd_) return status_;
    siginfo_t info{};
    if (::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED | WNOHANG) == 0 &&
        info.si_pid != 0) {
        status_ = status_from(info);
    }
    return status_;
}

Result<std::filesystem::path> find_worker_program() {
    std::error_code error;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) return fail(ErrorCode::kNotFound, "cannot read /proc/self/exe: " + error.message());
    const auto folder = self.parent_path();
    for (const auto& place :
         {folder / "shortq-worker", folder.parent_path() / "libexec" / "shortq-worker"}) {
        if (::access(place.c_str(), X_OK) == 0) return place;
    }
    return fail(ErrorCode::kNotFound, "the program shortq-worker is neither in " + folder.string() +
                                          " nor in " + (folder.parent_path() / "libexec").string());
}

}  // namespace shortq
