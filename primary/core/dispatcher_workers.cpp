// primary/core/dispatcher_workers.cpp: the lives of workers: spawned, ready, drained, sick, gone,
// replaced.
#include <algorithm>

#include "primary/core/dispatcher_impl.h"

namespace shortq::core {

void Dispatcher::Impl::spawn(Generation& generation, std::uint32_t seat) {
    const auto slot = workers_.take();
    auto& worker = workers_[slot];
    worker.seat = seat;
    worker.generation = generation.number;
    worker.started = now_;
    worker.last_heard = now_;
    generation.seats[seat - 1].worker_slot = slot;
    ++generation.workers;
    emit(SpawnWorker{.worker = worker.id, .seat = seat, .generation = generation.number});
    set_worker_timer(slot);
}

// The only place where a worker's state changes.
void Dispatcher::Impl::change_state(std::uint32_t slot, WorkerState to) {
    auto& worker = workers_[slot];
    auto& its_generation = *generation(worker.generation);
    if (worker.state == WorkerState::kReady) --its_generation.ready;
    worker.state = to;
    if (to == WorkerState::kReady) ++its_generation.ready;
    if (to != WorkerState::kReady) worker.held_until = Time{0};
    refresh(slot);
    set_worker_timer(slot);
}

void Dispatcher::Impl::refresh(std::uint32_t slot) {
    auto& worker = workers_[slot];
    const bool able =
        worker.state == WorkerState::kReady && serves_ && worker.generation == serving_.number;
    if (worker.able != able) {
        worker.able = able;
        able_workers_ += able ? 1U : -1U;
        if (worker.failing) failing_workers_ += able ? 1U : -1U;
        able_changed();
    }
    list_if_eligible(slot);
}

void Dispatcher::Impl::list_if_eligible(std::uint32_t slot) {
    const auto& worker = workers_[slot];
    const bool eligible = worker.able && worker.held_until == Time{0} && !worker.worn_out &&
                          !worker.stalled && room_ahead(worker);
    if (eligible && !least_busy_.has(slot)) least_busy_.add(slot, worker.pending.size);
    if (!eligible) least_busy_.remove(slot);
}

void Dispatcher::Impl::on(const WorkerReady& event) {
    const auto slot = workers_.find(event.worker);
    if (slot == kNone || workers_[slot].state != WorkerState::kLoading) return;
    workers_[slot].last_heard = now_;
    workers_[slot].ready_at = now_;
    workers_[slot].was_ready = true;
    change_state(slot, WorkerState::kReady);
    worker_became_ready(workers_[slot]);
}

void Dispatcher::Impl::on(const WorkerHeard& event) {
    const auto slot = workers_.find(event.worker);
    if (slot != kNone) workers_[slot].last_heard = now_;
}

void Dispatcher::Impl::on(const WorkerLoadFailed& event) {
    const auto slot = workers_.find(event.worker);
    if (slot == kNone || workers_[slot].state != WorkerState::kLoading) return;
    load_failed(slot);
}

void Dispatcher::Impl::on(const WorkerUnreachable& event) {
    const auto slot = workers_.find(event.worker);
    if (slot == kNone || slot == kSyncSlot || workers_[slot].killed) return;
    // Its exit, due any moment, tells exactly what it was evaluating; worker_due() does not wait
    // for it longer than the grace time.
    kill_process(slot);
    workers_[slot].stop_at = now_ + options_.grace;
    change_state(slot, WorkerState::kStopping);
}

void Dispatcher::Impl::on(const WorkerWornOut& event) {
    const auto slot = workers_.find(event.worker);
    if (slot == kNone || slot == kSyncSlot) return;
    workers_[slot].last_heard = now_;
    workers_[slot].worn_out = true;
    refresh(slot);
    stop_if_drained(slot);
}

void Dispatcher::Impl::on(const DrainWorker& event) {
    const auto slot = worker_on(event.seat);
    if (slot == kNone || workers_[slot].state != WorkerState::kReady) return;
    drain_worker(slot, true);
}

void Dispatcher::Impl::on(const KillSeat& event) {
    const auto slot = worker_on(event.seat);
    if (slot == kNone || workers_[slot].killed) return;
    workers_[slot].planned = true;
    kill_and_lose(slot, Charge::kNobody);
}

std::uint32_t Dispatcher::Impl::worker_on(std::uint32_t seat) const {
    if (seat == 0 || seat > serving_.seats.size()) return kNone;
    return serving_.seats[seat - 1].worker_slot;
}

// Nothing new for it; what it has not begun goes back to the queue; what runs may finish.
void Dispatcher::Impl::drain_worker(std::uint32_t slot, bool planned) {
    auto& worker = workers_[slot];
    worker.planned = worker.planned || planned;
    worker.drain_until = now_ + options_.drain;
    change_state(slot, WorkerState::kDraining);
    recall_unstarted(slot);
    stop_if_drained(slot);
}

void Dispatcher::Impl::recall_unstarted(std::uint32_t slot) {
    const auto& worker = workers_[slot];
    for (auto at = worker.pending.head; at != kNone; at = requests_[at].place.next) {
        if (at == worker.pending.head || requests_[at].interrupted) continue;
        emit(Recall{.worker = worker.id, .request = requests_[at].id});
    }
}

void Dispatcher::Impl::stop_if_drained(std::uint32_t slot) {
    auto& worker = workers_[slot];
    if (!worker.pending.empty()) return;
    // A worn-out worker finishes all it was given: to take it back would only run it elsewhere.
    const bool spent = worker.state == WorkerState::kReady && worker.worn_out;
    if (worker.state != WorkerState::kDraining && !spent) return;
    worker.planned = worker.planned || spent;
    emit(StopWorker{worker.id});
    worker.stop_at = now_ + options_.grace;
    change_state(slot, WorkerState::kStopping);
}

void Dispatcher::Impl::kill_process(std::uint32_t slot) {
    workers_[slot].killed = true;
    emit(KillWorker{workers_[slot].id});
}

void Dispatcher::Impl::kill_and_lose(std::uint32_t slot, Charge charge) {
    if (!workers_[slot].killed) kill_process(slot);
    change_state(slot, WorkerState::kStopping);
    lose_all(slot, charge == Charge::kHead ? workers_[slot].pending.head : kNone);
    set_worker_timer(slot);
}

// From the last to the first: so each finds its place in its client's queue at the front.
void Dispatcher::Impl::lose_all(std::uint32_t slot, std::uint32_t charged) {
    while (!workers_[slot].pending.empty()) {
        const auto request = workers_[slot].pending.tail;
        lose(request, request == charged);
    }
}

void Dispatcher::Impl::give_back(std::uint32_t slot) {
    auto& worker = workers_[slot];
    worker.giving_back = true;
    for (auto at = worker.pending.head; at != kNone; at = requests_[at].place.next) interrupt(at);
}

void Dispatcher::Impl::set_worker_timer(std::uint32_t slot) {
    const auto& worker = workers_[slot];
    auto due = Time::max();
    const auto at_latest = [&](Time when) { due = std::min(due, when); };
    const bool answers =
        worker.state == WorkerState::kReady || worker.state == WorkerState::kDraining;
    if (answers && options_.worker_silence_max != Duration{0}) {
        at_latest(worker.last_heard + options_.worker_silence_max);
    }
    if (worker.state == WorkerState::kLoading && options_.load_timeout != Duration{0}) {
        at_latest(worker.started + options_.load_timeout);
    }
    if (worker.state == WorkerState::kDraining && !worker.giving_back) {
        at_latest(worker.drain_until);
    }
    if (worker.held_until != Time{0}) at_latest(worker.held_until);
    const bool waits = !worker.killed || !worker.pending.empty();
    if (worker.state == WorkerState::kStopping && waits) at_latest(worker.stop_at);
    if (due == Time::max()) {
        timers_.clear(TimerKind::kWorker, slot);
    } else {
        timers_.set(TimerKind::kWorker, slot, due);
    }
}

void Dispatcher::Impl::worker_due(std::uint32_t slot) {
    auto& worker = workers_[slot];
    if (worker.held_until != Time{0} && worker.held_until <= now_) {
        worker.held_until = Time{0};
        refresh(slot);
    }
    switch (worker.state) {
        case WorkerState::kLoading:
            if (options_.load_timeout != Duration{0} &&
                worker.started + options_.load_timeout <= now_) {
                kill_process(slot);
                load_failed(slot);
                return;
            }
            break;
        case WorkerState::kReady:
        case WorkerState::kDraining:
            if (options_.worker_silence_max != Duration{0} &&
                worker.last_heard + options_.worker_silence_max <= now_) {
                kill_and_lose(slot, Charge::kHead);
                return;
            }
            if (worker.state == WorkerState::kDraining && !worker.giving_back &&
                worker.drain_until <= now_) {
                give_back(slot);
            }
            break;
        case WorkerState::kStopping:
            if (worker.stop_at <= now_) kill_and_lose(slot, Charge::kHead);
            break;
        case WorkerState::kEmpty:
            break;
    }
    set_worker_timer(slot);
}

void Dispatcher::Impl::on(const WorkerExited& event) {
    const auto slot = workers_.find(event.worker);
    if (slot == kNone || slot == kSyncSlot) return;
    workers_[slot].killed = true;  // Nothing can be sent to it any more.
    if (workers_[slot].state == WorkerState::kLoading && !workers_[slot].planned) load_failed(slot);
    change_state(slot, WorkerState::kStopping);
    lose_all(slot, event.started ? requests_.find(*event.started) : kNone);
    const Worker dead = workers_[slot];
    timers_.clear(TimerKind::kWorker, slot);
    timers_.clear(TimerKind::kOverrun, slot);
    workers_.give(slot);
    auto& its_generation = *generation(dead.generation);
    --its_generation.workers;
    its_generation.seats[dead.seat - 1].worker_slot = kNone;
    if (stopping_) return;
    if (dead.generation == serving_.number) {
        refill_seat(dead.seat, dead);
    } else if (next_ && dead.generation == next_->number) {
        fail_reload();
    }
    if (old_ && old_->workers == 0) {
        old_.reset();
        begin_reload();
    }
}

void Dispatcher::Impl::refill_seat(std::uint32_t number, const Worker& dead) {
    auto& seat = serving_.seats[number - 1];
    ++seats_[number - 1].restarts;
    if (dead.was_ready && now_ - dead.ready_at >= options_.stable_after) seat.quick_deaths = 0;
    if (dead.planned) {
        spawn(serving_, number);
        return;
    }
    const auto deaths = seat.quick_deaths++;
    if (deaths == 0) {
        spawn(serving_, number);
        return;
    }
    auto delay = options_.backoff_first;
    for (std::uint32_t i = 1; i < deaths && delay < options_.backoff_max; ++i) delay *= 2;
    timers_.set(TimerKind::kSeat, number, now_ + std::min(delay, options_.backoff_max));
}

void Dispatcher::Impl::seat_due(std::uint32_t seat) {
    timers_.clear(TimerKind::kSeat, seat);
    spawn(serving_, seat);
}

}  // namespace shortq::core
