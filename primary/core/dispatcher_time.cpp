// primary/core/dispatcher_time.cpp: timers, and telling a pause of the primary from silence of the
// others.
#include <algorithm>

#include "primary/core/dispatcher_impl.h"

namespace shortq::core {

// While somebody's silence is watched, a step comes at least this often per `pause_min_`: so a
// longer gap between two steps can only mean that the primary itself did not run.
constexpr int kWakesPerPause = 2;

std::optional<Time> Dispatcher::Impl::next_wake() const {
    std::optional<Time> wake;
    if (!timers_.empty()) wake = timers_.top().when;
    const bool watching = queues_.clients().used() > 0 || workers_.used() > 1;
    if (wake && watching && pause_min_ != Duration{0}) {
        wake = std::min(*wake, now_ + pause_min_ / kWakesPerPause);
    }
    return wake;
}

// Nobody could be heard during a pause: it does not count as silence.
void Dispatcher::Impl::notice_pause(Time now) {
    const auto gap = now - now_;
    const bool paused = stepped_ && pause_min_ != Duration{0} && gap > pause_min_;
    stepped_ = true;
    if (!paused) return;
    auto& clients = queues_.clients();
    for (std::uint32_t slot = 0; slot < clients.size(); ++slot) {
        if (clients.live(slot)) clients[slot].last_heard += gap;
    }
    for_workers([&](std::uint32_t slot) { workers_[slot].last_heard += gap; });
}

// Silence and deadlines are judged only here: the shell has read all its sockets before.
void Dispatcher::Impl::on(const TimeReached&) {
    while (!timers_.empty() && timers_.top().when <= now_) fire(timers_.top());
}

// Each handler moves its timer into the future or clears it.
void Dispatcher::Impl::fire(const TimerHeap::Timer& due) {
    const auto timer = due;  // The heap changes.
    switch (timer.kind) {
        case TimerKind::kRequest:
            return request_due(timer.slot);
        case TimerKind::kClient:
            return client_due(timer.slot);
        case TimerKind::kWorker:
            return worker_due(timer.slot);
        case TimerKind::kSeat:
            return seat_due(timer.slot);
        case TimerKind::kOverrun:
            return overrun_due(timer.slot);
        case TimerKind::kGlobal:
            return timer.slot == kDrainOver ? begin_stop(false) : unavailable_due();
    }
}

}  // namespace shortq::core
