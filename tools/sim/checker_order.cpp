// tools/sim/checker_order.cpp: who is next, and who gets it.
#include <fmt/format.h>

#include <algorithm>

#include "tools/sim/checker.h"

namespace shortq::sim {

namespace {
constexpr int kStreakThatMayBeHeldOff = 8;
// How often a waiting high, normal or low may be passed by other priorities (core's README).
constexpr std::array<int, 3> kPassedByMax{2, 5, 21};
}  // namespace

void Checker::see(const core::SendToWorker& action) {
    const auto at = requests_.find(action.request);
    if (at == requests_.end()) return fail("an unknown request was sent to a worker");
    auto& request = at->second;
    if (request.answered) fail("an ended request was sent to a worker");
    if (request.cancelled) fail("a cancelled request was sent to a worker");
    if (request.place == Place::kAtWorker) fail("a request was sent to two workers at once");
    if (request.deaths >= options_.lives) fail("a poisonous request was tried again");
    if (options_.writable && request.lost) fail("retried although queries may write");
    const bool timed = request.deadline > core::Time{0};
    if (timed && now_ >= request.deadline) fail("sent past its deadline");
    if (action.budget != (timed ? request.deadline - now_ : core::Duration{0})) {
        fail("a worker was told a wrong budget");
    }
    if (behind(clients_.at(request.asked.client))) fail("begun for a client that does not read");
    const bool sync = request.asked.mode == core::Mode::kSync;
    if (sync != (action.worker == core::kSyncWorker)) fail("sync and deferred were mixed up");
    if (!sync) {
        check_worker(request, action);
        check_place(request, clients_.at(request.asked.client));
        check_turns(request);
    }
    unqueue(request);
    request.place = Place::kAtWorker;
    request.worker = action.worker;
}

void Checker::check_worker(const Request& request, const core::SendToWorker& action) {
    auto* const worker = find(action.worker);
    if (worker == nullptr) return fail("sent to a worker that does not exist");
    if (!worker->ready) fail("sent to a worker that is not ready");
    if (worker->leaving || worker->worn_out) fail("sent to a worker that is to leave");
    if (waits_for_reader(*worker)) fail("sent to a worker that waits for a reader");
    if (worker->generation != serving_) fail("sent to a generation that does not serve");
    if (parked(request)) fail("sent to an older generation than it asked for");
    if (!has_room(*worker)) fail("a window was exceeded");
    for (const auto id : worker->pending) {
        const auto fingerprint = requests_.at(id).asked.fingerprint;
        if (by_time() && (fingerprint == 0 || !known_.contains(fingerprint))) {
            fail("sent behind a query of which nothing is known");
        }
    }
    if (options_.policy == core::Policy::kShortestQueue) {
        for (const auto& [id, other] : workers_) {
            const bool listed = able(other) && !other.worn_out && !waits_for_reader(other) &&
                                other.failures < kStreakThatMayBeHeldOff &&
                                (!by_time() || other.pending.empty());
            if (listed && other.pending.size() < worker->pending.size()) {
                fail("a worker with a shorter pending queue was passed over");
            }
        }
    }
    if (worker->pending.empty()) worker->first_since = now_;
    worker->pending.push_back(action.request);
}

// By predicted time a worker may have less room than this.
bool Checker::has_room(const Worker& worker) const {
    const auto window = by_time() ? options_.ahead_max : options_.window;
    return window == 0 || worker.pending.size() < window;
}

// First come, first served within a client and priority; newest first while the oldest is late.
void Checker::check_place(const Request& request, const Client& client) {
    const auto& queue = client.queues[static_cast<std::size_t>(request.asked.priority)];
    if (queue.empty()) return fail("sent, and it was not queued");
    const auto& oldest = requests_.at(queue.begin()->second);
    const bool late = oldest.deadline > core::Time{0} &&
                      now_ - oldest.arrived > (oldest.deadline - oldest.arrived) / 2;
    if (!late && request.serial != queue.begin()->first) {
        fail("a later request overtook an earlier one of its client");
    }
    if (late && request.serial != queue.rbegin()->first) {
        fail("newest first did not take the newest");
    }
}

// While two clients wait in one priority, neither has a second turn before the other's.
void Checker::check_turns(const Request& request) {
    const auto priority = static_cast<std::size_t>(request.asked.priority);
    for (auto& [id, other] : clients_) {
        if (id == request.asked.client || !waits(other, priority)) continue;
        if (++other.passed_by[priority][request.asked.client] > 1) {
            fail("a client had two turns while another waited for one");
        }
    }
    clients_.at(request.asked.client).passed_by[priority].clear();
    check_priorities(priority);
}

void Checker::check_priorities(std::size_t priority) {
    for (std::size_t other = 0; other < passed_by_.size(); ++other) {
        const bool waiting = std::ranges::any_of(
            clients_, [&](const auto& entry) { return waits(entry.second, other); });
        if (other == priority || !waiting) {
            passed_by_[other] = 0;
        } else if (++passed_by_[other] > kPassedByMax[other]) {
            fail(fmt::format("priority {} starves", other));
        }
    }
}

void Checker::waits_no_more(Client& client, std::size_t priority) {
    client.passed_by[priority].clear();
    const bool waiting = std::ranges::any_of(
        clients_, [&](const auto& entry) { return waits(entry.second, priority); });
    if (!waiting) passed_by_[priority] = 0;
}

// Nothing is queued while a worker that could take it has room.
void Checker::check_idle() {
    const bool room = std::ranges::any_of(workers_, [this](const auto& entry) {
        const auto& worker = entry.second;
        return able(worker) && !worker.worn_out && worker.failures < kStreakThatMayBeHeldOff &&
               !waits_for_reader(worker) && (by_time() ? worker.pending.empty() : has_room(worker));
    });
    if (!room) return;
    for (const auto& [id, client] : clients_) {
        for (std::size_t priority = 0; priority < client.queues.size(); ++priority) {
            if (waits(client, priority)) return fail("a request waits beside a worker with room");
        }
    }
}

}  // namespace shortq::sim
