// primary/supervisor.cpp: starts shortq-worker with its arguments, and tidies up after it.
#include "primary/supervisor.h"

#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

namespace shortq::primary {
namespace {

// A full disk is worse than a failed query: each worker's share of what is free now. But a moment
// without room is not to last for a worker's life.
std::uint64_t spill_bytes_max(const std::filesystem::path& folder, std::uint32_t workers) {
    std::error_code error;
    const auto space = std::filesystem::space(folder, error);
    if (error) return 0;
    return std::max(space.available / 10 * 9, space.capacity / 10) / workers;
}

}  // namespace

Supervisor::Supervisor(const Options& options, SupervisorOptions own, Callbacks callbacks)
    : options_(options),
      own_(std::move(own)),
      callbacks_(std::move(callbacks)),
      fork_servers_(fork_callbacks()) {
    // What a fork server forks becomes this process's child when the process in the middle leaves.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    callbacks_.watch(told_.fd(), [this] { look_around(); });
}

Supervisor::~Supervisor() { callbacks_.unwatch(told_.fd()); }

ForkServers::Callbacks Supervisor::fork_callbacks() {
    return {
        .watch = callbacks_.watch,
        .unwatch = callbacks_.unwatch,
        .program = [this](std::uint32_t generation) { return server_program(generation); },
        .order = [this](ForkServer& server,
                        core::WorkerId worker) { return send_order(server, worker); },
        .forked = [this](core::WorkerId worker, pid_t pid) { on_forked(worker, pid); },
        .failed = [this](core::WorkerId worker,
                         const std::string& why) { never_born(worker, why); },
        .load_failed = callbacks_.load_failed,
        .alone =
            [this](core::WorkerId worker) {
                auto* child = find(worker);
                if (child == nullptr) return;
                const auto started = start_alone(*child);
                if (!started) never_born(worker, started.error().message);
            },
        .ended = [this] { told_.notify(); },
    };
}

// ---- Arguments

std::vector<std::string> Supervisor::common_arguments(std::uint32_t generation) const {
    const auto spill_max = spill_bytes_max(own_.spill_directory, options_.workers);
    std::vector<std::string> list{
        "--connect",    own_.endpoint,
        "--engine",     options_.engine,
        "--source",     options_.source.string(),
        "--generation", std::to_string(generation),
        "--log-level",  options_.log_level,
        "--log-format", options_.log_format,
        "--temp-limit", std::to_string(spill_max),
    };
    for (const auto& path : options_.allowed_paths)
        list.insert(list.end(), {"--allow-path", path.string()});
    if (options_.writable) list.emplace_back("--writable");
    return list;
}

WorkerProcessOptions Supervisor::worker_program(const WorkerFacts& facts,
                                                const std::filesystem::path& spill) const {
    auto list = common_arguments(facts.generation);
    // Each worker loads for itself, so an equal share is all that one may take.
    const auto memory = options_.memory_limit_bytes / options_.workers;
    list.insert(list.end(),
                {"--seat", std::to_string(facts.seat), "--threads",
                 std::to_string(options_.threads), "--memory-limit", std::to_string(memory),
                 "--loads", std::to_string(options_.workers), "--temp-directory", spill.string()});
    return {.program = own_.program, .arguments = std::move(list)};
}

// It loads alone, so it may use every core for that, and no spill folder: a server that had spilled
// would fork workers that read each other's files.
WorkerProcessOptions Supervisor::server_program(std::uint32_t generation) const {
    auto list = common_arguments(generation);
    const auto cores = std::max(1U, std::thread::hardware_concurrency());
    list.insert(list.end(),
                {"--threads", std::to_string(std::max(cores, options_.threads)), "--worker-threads",
                 std::to_string(options_.threads), "--workers", std::to_string(options_.workers),
                 "--memory-limit", std::to_string(options_.memory_limit_bytes), "--warm",
                 options_.warm, "--measure-directory",
                 (own_.spill_directory / fmt::format("measure-{}", generation)).string()});
    return {.program = own_.program, .arguments = std::move(list)};
}

// ---- Beginnings

Result<std::filesystem::path> Supervisor::make_spill_folder(core::WorkerId worker,
                                                            std::uint32_t seat) const {
    // Workers that shared a spill folder would overwrite each other: file names in it are fixed.
    auto folder = own_.spill_directory /
                  fmt::format("worker-{}-{}", seat, static_cast<std::uint64_t>(worker));
    std::error_code error;
    std::filesystem::create_directory(folder, error);
    if (error) return fail(ErrorCode::kInternal, error.message(), folder.string());
    return folder;
}

Result<void> Supervisor::spawn(const core::SpawnWorker& order) {
    auto spill = make_spill_folder(order.worker, order.seat);
    if (!spill) return tl::unexpected(spill.error());
    auto process = WorkerProcess::expected();
    if (!process) return tl::unexpected(process.error());
    WorkerFacts facts;
    facts.worker = order.worker;
    facts.seat = order.seat;
    facts.generation = order.generation;
    facts.started = std::chrono::system_clock::now();
    const auto slot = core::slot_of(order.worker);
    if (slot >= children_.size()) children_.resize(slot + 1);
    auto& child =
        children_[slot].emplace(Child{std::move(facts), std::move(*process), std::move(*spill)});
    const bool alone =
        options_.spawn == Spawn::kExec || fork_servers_.cannot_fork(order.generation);
    auto begun = alone ? start_alone(child) : fork_servers_.ask(order.generation, order.worker);
    if (!begun) children_[slot].reset();
    return begun;
}

Result<void> Supervisor::start_alone(Child& child) {
    auto process = WorkerProcess::spawn(worker_program(child.facts, child.spill));
    if (!process) return tl::unexpected(process.error());
    child.process = std::move(*process);
    child.facts.pid = child.process.pid();
    watch(child);
    return {};
}

Result<void> Supervisor::send_order(ForkServer& server, core::WorkerId worker) {
    auto* child = find(worker);
    if (child == nullptr) return fail(ErrorCode::kNotFound, "no such worker");
    // A fresh board each time: an order that is sent again may have led to a process before.
    auto process = WorkerProcess::expected();
    if (!process) return tl::unexpected(process.error());
    child->process = std::move(*process);
    return server.order({.worker = static_cast<std::uint64_t>(worker),
                         .seat = child->facts.seat,
                         .temp_directory = child->spill.string()},
                        child->process.board_fd());
}

void Supervisor::on_forked(core::WorkerId worker, pid_t pid) {
    auto* child = find(worker);
    if (child == nullptr) return;
    if (const auto adopted = child->process.adopt(pid); !adopted) {
        // It lives, and has nobody to work for. Nobody else reaps, so the number is still its own.
        if (pid > 1) ::kill(pid, SIGKILL);
        return never_born(worker, adopted.error().message);
    }
    child->facts.pid = pid;
    watch(*child);
    if (child->doomed) child->process.kill(SIGKILL);
}

void Supervisor::greeted(core::WorkerId worker, pid_t pid) {
    const auto* child = find(worker);
    if (child == nullptr || child->process.born()) return;
    fork_servers_.born(worker);
    on_forked(worker, pid);
}

void Supervisor::watch(const Child& child) {
    callbacks_.watch(child.process.pidfd(),
                     [this, worker = child.facts.worker] { callbacks_.ended(worker); });
}

// ---- Ends

void Supervisor::never_born(core::WorkerId worker, const std::string& why) {
    auto* child = find(worker);
    if (child == nullptr) return;
    child->never = why;
    never_born_.push_back(worker);
    told_.notify();
}

void Supervisor::kill(core::WorkerId worker) {
    auto* child = find(worker);
    if (child == nullptr) return;
    if (child->process.born()) return child->process.kill(SIGKILL);
    child->doomed = true;
    if (fork_servers_.withdraw(worker)) never_born(worker, "stopped before it was forked");
}

std::optional<Supervisor::Ended> Supervisor::reap(core::WorkerId worker) {
    auto* child = find(worker);
    if (child == nullptr) return std::nullopt;
    std::string how = child->never;
    if (how.empty()) {
        const auto status = child->process.reap();
        if (!status) return std::nullopt;
        how = describe(*status);
        callbacks_.unwatch(child->process.pidfd());
    }
    const auto running = child->process.board().running.load(std::memory_order_acquire);
    Ended ended{
        .event = {worker, std::nullopt}, .how = std::move(how), .facts = std::move(child->facts)};
    if (running != 0) ended.event.started = core::RequestId{running};
    std::error_code ignored;
    std::filesystem::remove_all(child->spill, ignored);
    children_[core::slot_of(worker)].reset();
    told_.notify();  // Strays may have ended behind it.
    return ended;
}

bool Supervisor::is_known(pid_t pid) const {
    const auto is_it = [pid](const std::optional<Child>& child) {
        return child && child->process.pid() == pid;
    };
    return fork_servers_.has(pid) || std::ranges::any_of(children_, is_it);
}

void Supervisor::look_around() {
    told_.clear();
    for (const auto worker : std::exchange(never_born_, {})) callbacks_.ended(worker);
    reap_strays();
}

void Supervisor::reap_strays() {
    // A process that was just forked is known once its server's report is read, which was sent
    // before it became a child of this one.
    fork_servers_.read_all();
    siginfo_t info{};
    while (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
        // One that is known is reaped by its owner, who has this look again.
        if (is_known(info.si_pid)) return;
        ::waitpid(info.si_pid, nullptr, 0);
        info = {};
    }
}

// ---- Questions

Supervisor::Child* Supervisor::find(core::WorkerId worker) {
    const auto slot = core::slot_of(worker);
    if (slot >= children_.size() || !children_[slot]) return nullptr;
    return children_[slot]->facts.worker == worker ? &*children_[slot] : nullptr;
}

WorkerFacts* Supervisor::facts(core::WorkerId worker) {
    auto* child = find(worker);
    return child == nullptr ? nullptr : &child->facts;
}

std::optional<core::WorkerId> Supervisor::by_token(std::string_view token) const {
    for (const auto& child : children_) {
        if (!child) continue;
        const auto own = child->process.token();
        if (token.size() == own.size() && std::memcmp(token.data(), own.data(), own.size()) == 0)
            return child->facts.worker;
    }
    return std::nullopt;
}

double Supervisor::progress_of(core::RequestId request) const {
    for (const auto& child : children_) {
        if (child && child->facts.running == static_cast<std::uint64_t>(request))
            return static_cast<double>(child->facts.progress_ppm) / 1e6;
    }
    return -1.0;
}

}  // namespace shortq::primary
