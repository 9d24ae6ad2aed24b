// tools/sim/workers.cpp: the lives of worker processes, and their connections.
#include "tools/sim/workers.h"

#include <utility>

#include "tools/sim/primary.h"

namespace shortq::sim {

using namespace std::chrono_literals;

Workers::Workers(Ground& ground, Primary& primary) : ground_(ground), primary_(primary) {
    workers_[core::kSyncWorker].id = core::kSyncWorker;
}

Workers::Worker* Workers::find(core::WorkerId id) {
    const auto at = workers_.find(id);
    return at == workers_.end() || !at->second.alive ? nullptr : &at->second;
}

void Workers::tell(core::WorkerId id, std::function<void(Worker&)> what) {
    auto* const worker = find(id);
    if (worker == nullptr) return;  // Its exit is on the way.
    ground_.time.at(worker->down.arrival(ground_), [this, id, what = std::move(what)] {
        auto* const at = find(id);
        if (at == nullptr) return;
        if (at->silent_until > ground_.now()) {
            at->unread.push_back(what);
        } else {
            what(*at);
        }
    });
}

// What was sent arrives, whatever becomes of the sender: perhaps after its exit was noticed.
void Workers::say(Worker& worker, const core::Event& event, std::uint64_t words) {
    ground_.time.at(
        worker.up.arrival(ground_),
        [this, message = FromWorker{.event = event, .words = words}] { primary_.arrive(message); });
}

void Workers::take(const core::SpawnWorker& order) {
    auto& worker = workers_[order.worker];
    worker.id = order.worker;
    worker.seat = order.seat;
    const bool starts = primary_.serving() == 0;
    const auto& scenario = ground_.scenario;
    if (!starts && ground_.fault(scenario.load_hang)) return;
    const bool fails = starts ? scenario.start_fails : ground_.fault(scenario.load_failure);
    const auto time = ground_.fault(scenario.slow_load) ? ground_.dice.milliseconds(2000, 2600)
                                                        : ground_.dice.milliseconds(10, 2000);
    ground_.time.after(time, [this, id = order.worker, fails] { load(id, fails); });
}

void Workers::load(core::WorkerId id, bool fails) {
    auto* const worker = find(id);
    if (worker == nullptr) return;
    if (!fails) {
        say(*worker, core::WorkerReady{id});
        beat(id);
        return;
    }
    say(*worker, core::WorkerLoadFailed{id});
    ground_.time.after(5s, [this, id] {  // Nobody told it to leave.
        if (auto* const still = find(id)) die(*still, 5ms);
    });
}

void Workers::beat(core::WorkerId id) {
    ground_.time.after(1s, [this, id] {
        auto* const worker = find(id);
        if (worker == nullptr) return;
        if (worker->silent_until <= ground_.now()) say(*worker, core::WorkerHeard{id});
        beat(id);
    });
}

// Stopped, swapped out, or stuck: it neither reads, runs nor writes.
void Workers::fall_silent(Worker& worker) {
    worker.silent_until = ground_.now() + ground_.dice.milliseconds(100, 9000);
    ground_.time.at(worker.silent_until, [this, id = worker.id] {
        auto* const at = find(id);
        if (at == nullptr || at->silent_until > ground_.now()) return;
        for (const auto& message : std::exchange(at->unread, {})) {
            if (at->alive) message(*at);
        }
    });
}

void Workers::deliver(const core::SendToWorker& order, const Payload& payload) {
    latest_ = order.request;
    const bool can_fail = order.worker != core::kSyncWorker;
    if (can_fail && ground_.fault(ground_.scenario.unreachable)) {
        if (auto* const worker = find(order.worker)) die(*worker, ground_.dice.milliseconds(1, 50));
        ground_.time.after(
            0s, [this, id = order.worker] { primary_.arrive(core::WorkerUnreachable{id}); });
        return;
    }
    const Job job{.request = order.request, .payload = payload};
    tell(order.worker, [this, job](Worker& worker) { begin(worker, job); });
}

void Workers::take(const core::Interrupt& order) {
    tell(order.worker, [this, id = order.request](Worker& worker) { give_back(worker, id, true); });
}

void Workers::take(const core::Recall& order) {
    tell(order.worker,
         [this, id = order.request](Worker& worker) { give_back(worker, id, false); });
}

void Workers::take(const core::GrantCredit& order) {
    tell(order.worker, [this, order](Worker& worker) { grant(worker, order); });
}

void Workers::take(const core::StopWorker& order) {
    if (ground_.fault(ground_.scenario.stop_hang)) return;
    tell(order.worker, [this](Worker& worker) { die(worker, 2ms); });
}

void Workers::take(const core::KillWorker& order) {
    if (auto* const worker = find(order.worker)) die(*worker, ground_.dice.milliseconds(1, 20));
}

void Workers::die(Worker& worker, core::Duration notice) {
    if (!worker.alive) return;
    worker.alive = false;
    core::WorkerExited event{.worker = worker.id, .started = std::nullopt};
    if (worker.runs) event.started = worker.jobs.front().request;
    ground_.time.after(notice, [this, event] {
        primary_.arrive(event);
        const auto at = workers_.find(event.worker);
        haunt(at->second);
        workers_.erase(at);
    });
}

// Messages that a process of the past should not be able to send: about itself, and about a request
// that somebody else has by now.
void Workers::haunt(const Worker& gone) {
    if (!ground_.fault(ground_.scenario.ghosts)) return;
    core::ReplyArrived reply{};
    reply.worker = gone.id;
    reply.request =
        ground_.dice.chance(0.5) || gone.jobs.empty() ? latest_ : gone.jobs.front().request;
    reply.last = ground_.dice.chance(0.7);
    const std::vector<core::Event> messages{
        reply,
        core::Recalled{gone.id, reply.request},
        core::WorkerReady{gone.id},
        core::WorkerHeard{gone.id},
        core::WorkerWornOut{gone.id},
        core::WorkerLoadFailed{gone.id},
        core::WorkerUnreachable{gone.id},
        core::WorkerExited{gone.id, reply.request},
    };
    for (std::uint64_t i = ground_.dice.between(1, 6); i > 0; --i) {
        ground_.time.after(ground_.dice.milliseconds(0, 3000),
                           [this, event = messages[ground_.dice.below(messages.size())]] {
                               primary_.arrive(event);
                           });
    }
}

}  // namespace shortq::sim
