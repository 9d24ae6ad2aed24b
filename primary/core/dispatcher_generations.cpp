// primary/core/dispatcher_generations.cpp: the first load, reloads, and the end.
#include <algorithm>

#include "primary/core/dispatcher_impl.h"

namespace shortq::core {

Generation Dispatcher::Impl::make_generation(std::uint32_t number) const {
    return {.number = number, .started = now_, .seats = std::vector<Seat>(options_.workers)};
}

// Null: it is gone, with all its workers.
Generation* Dispatcher::Impl::generation(std::uint32_t number) {
    if (serving_.number == number) return &serving_;
    if (next_ && next_->number == number) return &*next_;
    if (old_ && old_->number == number) return &*old_;
    return nullptr;
}

void Dispatcher::Impl::on(const Started&) {
    if (last_generation_ != 0) return;
    serving_ = make_generation(++last_generation_);
    for (std::uint32_t seat = 1; seat <= options_.workers; ++seat) spawn(serving_, seat);
}

void Dispatcher::Impl::on(const ReloadRequested&) {
    if (draining_) return;
    reload_wanted_ = true;  // Also while one loads: it may have read what is old by now.
    begin_reload();
}

// Waits while generation 1 does not serve yet, another one loads, or an older one is still leaving.
void Dispatcher::Impl::begin_reload() {
    if (!reload_wanted_ || !serves_ || next_ || old_ || draining_) return;
    reload_wanted_ = false;
    next_ = make_generation(++last_generation_);
    for (std::uint32_t seat = 1; seat <= options_.workers; ++seat) spawn(*next_, seat);
}

void Dispatcher::Impl::worker_became_ready(const Worker& worker) {
    if (next_ && worker.generation == next_->number) {
        if (next_->ready == options_.workers) take_over();
    } else if (!serves_ && worker.generation == serving_.number) {
        serves_ = true;
        generation_serves();
    }
}

// The new generation's workers are all ready: from now on they get everything.
void Dispatcher::Impl::take_over() {
    old_ = std::move(serving_);
    serving_ = std::move(*next_);
    next_.reset();
    for (std::uint32_t seat = 1; seat <= options_.workers; ++seat) {
        timers_.clear(TimerKind::kSeat, seat);  // Nobody replaces the old ones any more.
    }
    generation_serves();
    for_workers([this](std::uint32_t slot) {
        auto& worker = workers_[slot];
        if (worker.generation == serving_.number) return;
        if (worker.state == WorkerState::kReady) drain_worker(slot, true);
        if (worker.state == WorkerState::kLoading) kill_and_lose(slot, Charge::kNobody);
    });
    if (old_->workers == 0) old_.reset();
    begin_reload();
}

void Dispatcher::Impl::generation_serves() {
    emit(GenerationServing{serving_.number});
    for_workers([this](std::uint32_t slot) {  // The new ones first: somebody is always able.
        if (workers_[slot].generation == serving_.number) refresh(slot);
    });
    for_workers([this](std::uint32_t slot) {
        if (workers_[slot].generation != serving_.number) refresh(slot);
    });
    queues_.unpark(serving_.number);
    begin_reload();
}

// It told so, took too long, or died. A killed or exited worker's process is handled elsewhere.
void Dispatcher::Impl::load_failed(std::uint32_t slot) {
    auto& worker = workers_[slot];
    const auto id = worker.id;
    worker.load_failed = true;
    worker.stop_at = now_ + options_.grace;
    change_state(slot, WorkerState::kStopping);
    if (!stopping_ && next_ && worker.generation == next_->number) {
        fail_reload();
    } else if (!stopping_ && !serves_) {
        fail_start(id);
    }
    // It waits for this, so that its message cannot come after its exit.
    if (!worker.killed) emit(StopWorker{id});
}

void Dispatcher::Impl::fail_start(WorkerId worker) {
    emit(StartFailed{worker});
    begin_stop(true);
}

void Dispatcher::Impl::fail_reload() {
    emit(ReloadFailed{next_->number});
    old_ = std::move(*next_);
    next_.reset();
    for_workers([this](std::uint32_t slot) {
        if (workers_[slot].generation != old_->number || workers_[slot].killed) return;
        kill_and_lose(slot, Charge::kNobody);
    });
}

// ---- Nobody able to answer.

void Dispatcher::Impl::able_changed() {
    if (!serves_ || stopping_ || options_.unavailable_after == Duration{0}) return;
    if (able_workers_ > 0) {
        unavailable_ = false;
        timers_.clear(TimerKind::kGlobal, kUnavailable);
    } else {
        timers_.set(TimerKind::kGlobal, kUnavailable, now_ + options_.unavailable_after);
    }
}

void Dispatcher::Impl::unavailable_due() {
    timers_.clear(TimerKind::kGlobal, kUnavailable);
    unavailable_ = true;
    for (std::uint32_t slot = 0; slot < requests_.slab().size(); ++slot) {
        const auto& request = requests_[slot];
        const bool waits = request.phase == Phase::kQueued || request.phase == Phase::kParked;
        if (waits && request.mode == Mode::kDeferred) fail(slot, Reason::kNoWorker);
    }
}

// ---- The end.

void Dispatcher::Impl::on(const DrainRequested&) {
    if (draining_) return;
    draining_ = true;
    reload_wanted_ = false;
    timers_.set(TimerKind::kGlobal, kDrainOver, now_ + options_.drain);
}

void Dispatcher::Impl::on(const StopRequested&) { begin_stop(true); }

void Dispatcher::Impl::finish_drain_if_done() {
    if (draining_ && !stopping_ && requests_.unanswered() == 0) begin_stop(false);
}

// `at_once`: nobody is asked, all are killed. May come a second time.
void Dispatcher::Impl::begin_stop(bool at_once) {
    draining_ = true;
    stopping_ = true;
    timers_.clear(TimerKind::kGlobal, kDrainOver);
    timers_.clear(TimerKind::kGlobal, kUnavailable);
    for (std::uint32_t seat = 1; seat <= options_.workers; ++seat) {
        timers_.clear(TimerKind::kSeat, seat);
    }
    for (std::uint32_t slot = 0; slot < requests_.slab().size(); ++slot) {
        const auto phase = requests_[slot].phase;
        if (phase != Phase::kFree && phase != Phase::kAbandoned) fail(slot, Reason::kDraining);
    }
    for_workers([&](std::uint32_t slot) {
        auto& worker = workers_[slot];
        if (worker.killed) return;
        worker.planned = true;
        const bool idle = worker.state == WorkerState::kReady && worker.pending.empty();
        if (idle && !at_once) {
            drain_worker(slot, true);
        } else if (at_once || worker.state != WorkerState::kStopping) {
            kill_and_lose(slot, Charge::kNobody);
        }
    });
}

void Dispatcher::Impl::finish_stop_if_done() {
    if (!stopping_ || stopped_ || workers_.used() > 1) return;  // One is the sync executor.
    stopped_ = true;
    emit(Stopped{});
}

}  // namespace shortq::core
