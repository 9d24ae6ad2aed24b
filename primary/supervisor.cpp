// primary/supervisor.cpp: starts shortq-worker with its arguments, and tidies up after it.
#include "primary/supervisor.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstring>

namespace shortq::primary {

Supervisor::Supervisor(const Options& options, SupervisorOptions own, Watcher watcher)
    : options_(options), own_(std::move(own)), watcher_(std::move(watcher)) {}

std::vector<std::string> Supervisor::arguments(const core::SpawnWorker& order,
                                               const std::filesystem::path& spill) const {
    std::vector<std::string> list{
        "--connect",    own_.endpoint,
        "--engine",     options_.engine,
        "--source",     options_.source.string(),
        "--seat",       std::to_string(order.seat),
        "--generation", std::to_string(order.generation),
        "--threads",    std::to_string(options_.threads),
        "--log-level",  options_.log_level,
        "--log-format", options_.log_format,
    };
    if (options_.memory_limit_bytes > 0) {
        // Each worker loads for itself, so an equal share is all that one may take.
        list.insert(list.end(), {"--memory-limit",
                                 std::to_string(options_.memory_limit_bytes / options_.workers)});
    }
    if (!spill.empty()) list.insert(list.end(), {"--temp-directory", spill.string()});
    for (const auto& path : options_.allowed_paths)
        list.insert(list.end(), {"--allow-path", path.string()});
    if (options_.writable) list.emplace_back("--writable");
    return list;
}

Result<void> Supervisor::spawn(const core::SpawnWorker& order) {
    // Workers that shared a spill folder would overwrite each other: file names in it are fixed.
    const auto spill = own_.spill_directory / fmt::format("worker-{}-{}", order.seat,
                                                          static_cast<std::uint64_t>(order.worker));
    std::error_code error;
    std::filesystem::create_directory(spill, error);
    if (error) return fail(ErrorCode::kInternal, error.message(), spill.string());
    auto process = WorkerProcess::spawn({own_.program, arguments(order, spill)});
    if (!process) return tl::unexpected(process.error());
    WorkerFacts facts;
    facts.worker = order.worker;
    facts.seat = order.seat;
    facts.generation = order.generation;
    facts.pid = process->pid();
    facts.started = std::chrono::system_clock::now();
    const auto slot = core::slot_of(order.worker);
    if (slot >= children_.size()) children_.resize(slot + 1);
    watcher_.watch(process->pidfd(), order.worker);
    children_[slot].emplace(Child{std::move(facts), std::move(*process), spill});
    return {};
}

Supervisor::Child* Supervisor::find(core::WorkerId worker) {
    const auto slot = core::slot_of(worker);
    if (slot >= children_.size() || !children_[slot]) return nullptr;
    return children_[slot]->facts.worker == worker ? &*children_[slot] : nullptr;
}

WorkerFacts* Supervisor::facts(core::WorkerId worker) {
    auto* child = find(worker);
    return child == nullptr ? nullptr : &child->facts;
}

void Supervisor::kill(core::WorkerId worker) {
    if (auto* child = find(worker)) child->process.kill(SIGKILL);
}

std::optional<Supervisor::Ended> Supervisor::reap(core::WorkerId worker) {
    auto* child = find(worker);
    if (child == nullptr) return std::nullopt;
    const auto status = child->process.reap();
    if (!status) return std::nullopt;
    const auto running = child->process.board().running.load(std::memory_order_acquire);
    Ended ended{.event = {worker, std::nullopt},
                .how = describe(*status),
                .facts = std::move(child->facts)};
    if (running != 0) ended.event.started = core::RequestId{running};
    watcher_.unwatch(child->process.pidfd());
    std::error_code ignored;
    std::filesystem::remove_all(child->spill, ignored);
    children_[core::slot_of(worker)].reset();
    return ended;
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
