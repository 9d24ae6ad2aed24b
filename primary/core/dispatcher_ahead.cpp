// primary/core/dispatcher_ahead.cpp: windows of predicted time (kWindowAuto): how much a worker is
// given ahead, and when it is asked to give it back.
#include <algorithm>

#include "primary/core/dispatcher_impl.h"

namespace shortq::core {

namespace {
// So much longer than predicted a query may run before what waits behind it is recalled.
constexpr int kOverrunFactor = 2;
constexpr Duration kOverrunSlack = std::chrono::microseconds(500);
}  // namespace

// Nothing goes behind what could not be predicted, or is not as it was predicted.
bool Dispatcher::Impl::room_ahead(const Worker& worker) const {
    if (!by_time() || worker.pending.empty()) return true;
    return worker.unpredicted == 0 && !worker.overrun && worker.predicted < options_.ahead &&
           worker.pending.size < options_.ahead_max;
}

void Dispatcher::Impl::charge_ahead(std::uint32_t request_slot, std::uint32_t slot) {
    if (slot == kSyncSlot) return;
    auto& request = requests_[request_slot];
    auto& worker = workers_[slot];
    request.predicted = run_times_.predict(request.fingerprint);
    worker.predicted += request.predicted.value_or(Duration{0});
    worker.unpredicted += request.predicted ? 0U : 1U;
    list_if_eligible(slot);
    watch_overrun(slot);
}

void Dispatcher::Impl::credit_ahead(std::uint32_t request_slot, std::uint32_t slot, bool was_head) {
    if (slot == kSyncSlot) return;
    auto& request = requests_[request_slot];
    auto& worker = workers_[slot];
    worker.predicted -= request.predicted.value_or(Duration{0});
    worker.unpredicted -= request.predicted ? 0U : 1U;
    if (was_head) worker.overrun = false;
    list_if_eligible(slot);
    watch_overrun(slot);
}

// Pre: something is pending.
Time Dispatcher::Impl::overruns_at(const Worker& worker) const {
    const auto& head = requests_[worker.pending.head];
    const auto since = std::max(head.dispatched, worker.head_since);
    return since + kOverrunFactor * head.predicted.value_or(Duration{0}) + kOverrunSlack;
}

// One timer for many short queries: when it is due, it looks at whichever runs then. Also while
// nothing waits behind: nothing is to be sent behind what takes too long already.
void Dispatcher::Impl::watch_overrun(std::uint32_t slot) {
    const auto& worker = workers_[slot];
    if (worker.pending.empty() || worker.overrun) return;
    if (!requests_[worker.pending.head].predicted) return;  // Gets nothing in any case.
    const auto due = overruns_at(worker);
    const auto watched = timers_.when(TimerKind::kOverrun, slot);
    if (!watched || due < *watched) timers_.set(TimerKind::kOverrun, slot, due);
}

void Dispatcher::Impl::overrun_due(std::uint32_t slot) {
    timers_.clear(TimerKind::kOverrun, slot);
    auto& worker = workers_[slot];
    if (worker.pending.empty() || worker.overrun) return;
    if (overruns_at(worker) > now_) return watch_overrun(slot);
    worker.overrun = true;
    list_if_eligible(slot);
    if (!worker.killed) recall_unstarted(slot);
}

// `finished`: else it was stopped, and would have run for longer.
void Dispatcher::Impl::learn(const Request& request, Duration ran, bool finished) {
    if (request.fingerprint == 0 || request.mode == Mode::kSync) return;
    const auto predicted = run_times_.predict(request.fingerprint);
    if (finished || !predicted || *predicted < ran) run_times_.learn(request.fingerprint, ran);
}

}  // namespace shortq::core
