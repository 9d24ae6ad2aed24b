// primary/core/dispatcher_views.cpp: the snapshot.
#include <algorithm>

#include "primary/core/dispatcher_impl.h"

namespace shortq::core {

namespace {
RequestState state_of(const Request& request, const Worker* worker) {
    if (request.phase == Phase::kAbandoned) return RequestState::kAbandoned;
    if (worker == nullptr) return RequestState::kQueued;
    const bool head = worker->pending.head == slot_of(request.id);
    return head ? RequestState::kRunning : RequestState::kPending;
}

GenerationSnapshot view(const Generation& generation, bool serving) {
    return {.generation = generation.number,
            .workers_ready = generation.ready,
            .serving = serving,
            .started = generation.started};
}
}  // namespace

Snapshot Dispatcher::Impl::snapshot(Time now) const {
    Snapshot out;
    out.now = now;
    out.draining = draining_;
    out.serving_generation = serving_number();
    out.totals = requests_.totals();
    view_generations(out);
    view_requests(out, now);
    const auto& clients = queues_.clients();
    for (std::uint32_t slot = 0; slot < clients.size(); ++slot) {
        if (!clients.live(slot)) continue;
        const auto& client = clients[slot];
        out.clients.push_back({.client = client.id,
                               .pending = client.unanswered.size,
                               .served = client.served,
                               .bytes = client.bytes,
                               .since = client.since});
    }
    return out;
}

void Dispatcher::Impl::view_generations(Snapshot& out) const {
    const auto add = [&](const Generation& generation, bool serving) {
        if (generation.number == 0) return;
        out.generations.push_back(view(generation, serving));
        for (std::uint32_t seat = 1; seat <= generation.seats.size(); ++seat) {
            const auto slot = generation.seats[seat - 1].worker_slot;
            if (slot == kNone && !(serving || &generation == &serving_)) continue;
            out.workers.push_back(view_seat(generation, seat));
            if (out.workers.back().state == WorkerState::kLoading) {
                ++out.generations.back().workers_loading;
            }
        }
    };
    if (old_) add(*old_, false);
    add(serving_, serves_);
    if (next_) add(*next_, false);
}

WorkerSnapshot Dispatcher::Impl::view_seat(const Generation& generation, std::uint32_t seat) const {
    const auto& counters = seats_[seat - 1];
    WorkerSnapshot out{.seat = seat,
                       .generation = generation.number,
                       .served = counters.served,
                       .failed = counters.failed,
                       .restarts = counters.restarts};
    const auto slot = generation.seats[seat - 1].worker_slot;
    if (slot == kNone) return out;
    const auto& worker = workers_[slot];
    out.worker = worker.id;
    out.state = worker.state;
    out.pending = worker.pending.size;
    if (!worker.pending.empty()) out.running = requests_[worker.pending.head].id;
    out.started = worker.started;
    return out;
}

void Dispatcher::Impl::view_requests(Snapshot& out, Time now) const {
    const auto& slab = requests_.slab();
    for (std::uint32_t slot = 0; slot < slab.size(); ++slot) {
        if (!slab.live(slot)) continue;
        const auto& request = slab[slot];
        const auto* worker =
            request.worker_slot == kNone ? nullptr : &workers_[request.worker_slot];
        RequestSnapshot one{.request = request.id,
                            .serial = request.serial,
                            .client = request.client,
                            .client_request = request.client_request,
                            .mode = request.mode,
                            .priority = request.priority,
                            .state = state_of(request, worker),
                            .seat = worker == nullptr ? 0 : worker->seat,
                            .age = now - request.arrived};
        if (worker != nullptr && worker->pending.head == slot) {
            one.ran = now - std::max(request.dispatched, worker->head_since);
        }
        out.requests.push_back(one);
    }
}

}  // namespace shortq::core
