#include "worker/fork_server.h"

#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>

#include "worker/engine/memory_room.h"

namespace shortq::worker {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr std::ptrdiff_t kThreadsMax = 2;  // ThreadSanitizer may have one of its own.
#else
constexpr std::ptrdiff_t kThreadsMax = 1;
#endif

// Only the forking thread lives on in a child; a lock that another one held would stay locked.
std::ptrdiff_t threads() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

}  // namespace

ForkServer::ForkServer(const Options& options, ForkChannel channel, std::int64_t primary_pid)
    : options_(options), channel_(std::move(channel)), primary_pid_(primary_pid) {}

std::variant<int, Birth> ForkServer::run() {
    ::prctl(PR_SET_NAME, "shortq-fork");  // For ps and top; workers keep the program's name.
    if (!load()) return 1;
    for (;;) {
        auto order = channel_.receive_order();
        if (!order) return 0;
        if (auto birth = fork_worker(std::move(*order))) return std::move(*birth);
    }
}

void ForkServer::report(const ForkReport& report) {
    // A primary that is gone takes this process with it.
    static_cast<void>(channel_.send(report));
}

bool ForkServer::load() {
    const auto start = std::chrono::steady_clock::now();
    auto made = engine::make_engine(options_.engine, options_.engine_options);
    if (!made) {
        report(BaseFailed{made.error()});
        return false;
    }
    engine_ = std::move(*made);
    if (!engine_->can_fork()) {
        report(CannotFork{"the engine " + options_.engine + " cannot be forked"});
        return false;
    }
    if (auto loaded = engine_->load_base(options_.source); !loaded) {
        report(BaseFailed{loaded.error()});
        return false;
    }
    const auto base = engine_->prepare_fork(options_.warm);
    for (const auto& note : engine_->notes()) spdlog::warn("{}", note);
    if (!base && base.error().code == ErrorCode::kQueryError) {
        auto error = base.error();
        error.where = options_.source.string();
        report(BaseFailed{std::move(error)});
        return false;
    }
    if (!base) {
        report(CannotFork{base.error().message});
        return false;
    }
    if (const auto count = threads(); count > kThreadsMax) {
        report(CannotFork{"something that was loaded keeps " + std::to_string(count - 1) +
                          " threads of its own"});
        return false;
    }
    base_bytes_ = base->memory_bytes;
    if (const auto room = check_room(); !room) {
        report(BaseFailed{room.error()});
        return false;
    }
    const auto took = std::chrono::steady_clock::now() - start;
    report(BaseLoaded{.load_us = static_cast<std::uint64_t>(
                          std::chrono::duration_cast<std::chrono::microseconds>(took).count()),
                      .base_bytes = base_bytes_});
    return true;
}

Result<void> ForkServer::check_room() const {
    if (base_bytes_ == 0)
        return {};  // No data in memory; or an engine that keeps no account of it.
    auto room = engine::check_shared_room(options_.engine_options.memory_limit_bytes, base_bytes_,
                                          options_.workers, options_.worker_threads);
    if (room) return room;
    room.error().where = options_.source.string();
    if (options_.warm == engine::Warm::kAll)
        room.error().message += "; or read in advance only what has room, --warm auto";
    return room;
}

std::optional<Birth> ForkServer::fork_worker(ForkChannel::Order order) {
    const auto worker = order.order.worker;
    const pid_t middle = ::fork();
    if (middle < 0) {
        report(ForkFailed{worker, std::string("fork: ") + std::strerror(errno)});
        return std::nullopt;
    }
    if (middle > 0) {
        order.board.close();
        int status = 0;
        while (::waitpid(middle, &status, 0) < 0 && errno == EINTR) {
        }
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            report(ForkFailed{worker, "the process in the middle died"});
        }
        return std::nullopt;
    }
    const pid_t own = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) {
        channel_.close();
        ::prctl(PR_SET_NAME, "shortq-worker");
        if (!wait_for_adoption(own, primary_pid_)) ::_exit(1);
        return Birth{std::move(order.order), std::move(order.board), std::move(engine_),
                     base_bytes_};
    }
    if (child > 0) {
        report(Forked{.worker = worker, .pid = child});
    } else {
        report(ForkFailed{worker, std::string("fork: ") + std::strerror(errno)});
    }
    // At once: this process shares everything with the server and owns nothing of it.
    ::_exit(0);
}

std::uint64_t memory_share(std::uint64_t budget, std::uint64_t base, std::uint32_t workers) {
    if (budget == 0) return 0;
    const auto rest = budget > base ? budget - base : 0;
    return base + rest / std::max(workers, 1U);
}

Result<void> wait_for_adoption(std::int64_t middle, std::int64_t primary) {
    // Nothing tells a process that it got a new parent, and the middle one leaves at once.
    while (::getppid() == middle) ::usleep(50);
    if (::getppid() != primary) {
        return fail(ErrorCode::kUnavailable, "the primary is gone", "start");
    }
    return {};
}

}  // namespace shortq::worker
