// tools/sim/checker_workers.cpp: workers and generations: nobody is killed, stopped or disturbed
// without a cause, and whoever is gone is replaced.
#include <algorithm>

#include "tools/sim/checker.h"

namespace shortq::sim {

void Checker::see(const core::Interrupt& action) {
    const auto at = requests_.find(action.request);
    if (at == requests_.end() || at->second.worker != action.worker) {
        return fail("a worker was told to interrupt what it does not have");
    }
    auto& request = at->second;
    interrupted_.push_back(action.request);
    if (request.told) fail("a worker was told twice to interrupt a query");
    request.told = now_;
}

void Checker::see(const core::Recall& action) {
    const auto at = requests_.find(action.request);
    if (at == requests_.end() || at->second.worker != action.worker) {
        return fail("a worker was told to give back what it does not have");
    }
    const auto* worker = find(action.worker);
    if (worker == nullptr) return;  // The sync executor.
    const auto& client = clients_.find(at->second.asked.client);
    const bool blocked = client != clients_.end() && behind(client->second);
    const bool overrun = by_time() && now_ > worker->first_since;
    if (!worker->leaving && !waits_for_reader(*worker) && !blocked && !overrun) {
        fail("a request was recalled without a cause");
    }
    at->second.recalled = true;
}

void Checker::see(const core::SpawnWorker& action) {
    const auto* exited = event_as<core::WorkerExited>();
    std::set<std::uint32_t> generations{action.generation};
    for (const auto& [id, worker] : workers_) {
        if (exited != nullptr && exited->worker == id) continue;
        generations.insert(worker.generation);
        if (worker.generation == action.generation && worker.seat == action.seat) {
            fail("two workers have one seat");
        }
    }
    if (generations.size() > 2) fail("more than two generations");
    if (action.generation > newest_) reload_asked_ = false;
    newest_ = std::max(newest_, action.generation);
    const auto [at, fresh] = workers_.try_emplace(action.worker);
    if (!fresh) return fail("a worker id was used twice");
    at->second.generation = action.generation;
    at->second.seat = action.seat;
    at->second.spawned = now_;
    at->second.heard = now_;
    if (action.generation == serving_) empty_seats_.erase(action.seat);
}

void Checker::see(const core::StopWorker& action) {
    auto* const worker = find(action.worker);
    if (worker == nullptr) return fail("an unknown worker was stopped");
    for (const auto id : worker->pending) {
        if (!requests_.at(id).answered) fail("a worker was stopped with requests at it");
    }
    if (!worker->leaving && !worker->worn_out && !draining_) {
        fail("a worker was stopped without a cause");
    }
    leaves(*worker);
}

// Something it was told to end is there still, after the grace time.
bool Checker::overdue(const Worker& worker) const {
    return std::ranges::any_of(worker.pending, [this](const auto id) {
        const auto& told = requests_.at(id).told;
        return told && now_ - *told >= options_.grace;
    });
}

bool Checker::may_kill(core::WorkerId id, const Worker& worker) const {
    if (draining_) return true;
    if (const auto* kill = event_as<core::KillSeat>()) return kill->seat == worker.seat;
    if (const auto* reply = event_as<core::ReplyArrived>())
        return reply->sick && reply->worker == id;
    if (const auto* lost = event_as<core::WorkerUnreachable>()) return lost->worker == id;
    if (worker.generation == failed_reload_) return true;
    if (serving_ > 0 && worker.generation < serving_ && !worker.ready) return true;
    if (event_as<core::TimeReached>() == nullptr) return false;
    const bool loads = !worker.ready && now_ - worker.spawned >= options_.load_timeout;
    const bool lingers = worker.leaving && now_ - worker.leaving_since >= options_.grace;
    return loads || lingers || silent(worker) || overdue(worker);
}

void Checker::see(const core::KillWorker& action) {
    auto* const worker = find(action.worker);
    if (worker == nullptr) return fail("an unknown worker was killed");
    if (worker->killed) fail("a worker was killed twice");
    if (!may_kill(action.worker, *worker)) fail("a worker was killed without a cause");
    leaves(*worker);
    worker->killed = true;
    if (event_as<core::WorkerUnreachable>() != nullptr) return;  // Its exit decides.
    const bool suspected = event_as<core::TimeReached>() != nullptr && !worker->pending.empty();
    if (suspected) ++requests_.at(worker->pending.front()).suspicions;
    come_back_all(action.worker);
}

void Checker::see(const core::GenerationServing& action) {
    if (action.generation <= serving_) fail("generations go back");
    const auto ready = std::ranges::count_if(workers_, [&](const auto& entry) {
        return entry.second.generation == action.generation && entry.second.ready;
    });
    if (serving_ > 0 && ready != std::int64_t{options_.workers}) {
        fail("a generation took over before it was ready");
    }
    serving_ = action.generation;
    empty_seats_.clear();
    for (auto& [id, worker] : workers_) {
        if (worker.generation != serving_) leaves(worker);
    }
    for (auto& [id, request] : requests_) {  // What waited for this generation.
        if (request.place == Place::kQueued && !request.answered) queue(id, request);
    }
}

void Checker::see(const core::ReloadFailed& action) {
    if (action.generation <= serving_) fail("a reload failed that had succeeded");
    failed_reload_ = action.generation;
}

// The core stops by itself, and refuses from now on.
void Checker::see(const core::StartFailed&) {
    if (serving_ != 0) fail("a start failed that had succeeded");
    draining_ = true;
}

void Checker::see(const core::Stopped&) {
    if (!workers_.empty() && !(workers_.size() == 1 && event_as<core::WorkerExited>())) {
        fail("stopped with workers alive");
    }
    if (stopped_) fail("stopped twice");
    stopped_ = true;
}

}  // namespace shortq::sim
