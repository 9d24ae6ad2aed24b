// primary/core/dispatcher_assign.cpp: who gets what. assign() is the only place that hands out
// deferred work; a worker's pending list changes only in give() and take_back().
#include <algorithm>

#include "primary/core/dispatcher_impl.h"

namespace shortq::core {

namespace {
constexpr std::uint32_t kFailureStreak = 8;  // From here on a worker is held off between requests.
constexpr Duration kHoldMax = std::chrono::seconds(1);
constexpr Duration kHoldUnknown = std::chrono::milliseconds(100);  // Before the first result.
constexpr int kAverageShare = 8;  // A new run time counts for one in so many.
}  // namespace

void Dispatcher::Impl::assign() {
    while (requests_.totals().queued > 0) {
        const auto request = queues_.next(now_);
        if (request == kNone) return;  // All that waits is parked.
        if (requests_[request].deadline != Time{0} && requests_[request].deadline <= now_) {
            fail(request, Reason::kTimedOutQueued);
            continue;
        }
        const auto worker = least_busy_.choose();
        if (worker == kNone) return;
        queues_.serve(request);
        give(request, worker);
    }
}

void Dispatcher::Impl::give(std::uint32_t slot, std::uint32_t worker_slot) {
    auto& request = requests_[slot];
    auto& worker = workers_[worker_slot];
    requests_.move(slot, Phase::kAtWorker);
    request.worker_slot = worker_slot;
    request.dispatched = now_;
    if (worker.pending.empty()) worker.head_since = now_;
    list_push_back(worker.pending, slot, place());
    least_busy_.update(worker_slot, worker.pending.size);
    if (by_time()) charge_ahead(slot, worker_slot);
    const auto budget =
        request.deadline == Time{0} ? Duration{0} : Duration{request.deadline - now_};
    emit(SendToWorker{.worker = worker.id,
                      .request = request.id,
                      .budget = budget,
                      .expected = request.predicted.value_or(Duration{0})});
}

void Dispatcher::Impl::take_back(std::uint32_t slot) {
    auto& request = requests_[slot];
    const auto worker_slot = request.worker_slot;
    auto& worker = workers_[worker_slot];
    clear_stall(slot);
    const bool was_head = worker.pending.head == slot;
    if (was_head) worker.head_since = now_;
    list_remove(worker.pending, slot, place());
    request.worker_slot = kNone;
    least_busy_.update(worker_slot, worker.pending.size);
    if (by_time()) credit_ahead(slot, worker_slot, was_head);
    stop_if_drained(worker_slot);
}

void Dispatcher::Impl::requeue(std::uint32_t slot) {
    auto& request = requests_[slot];
    request.interrupted = false;
    request.kill_at = Time{0};
    if (request.mode == Mode::kSync) return begin_sync(slot);
    queues_.put_back(slot);
    set_request_timer(slot);
    if (unavailable_) fail(slot, Reason::kNoWorker);
}

// Why a request whose worker is gone ends here; none: it is tried elsewhere.
std::optional<Reason> Dispatcher::Impl::loss_reason(const Request& request) const {
    if (request.cancelled) return Reason::kCancelled;
    if (options_.writable) return Reason::kLostNotRetried;
    if (request.charges >= options_.lives) return Reason::kPoison;
    if (request.streaming && request.sequence > 0) return Reason::kLostMidStream;
    return std::nullopt;
}

void Dispatcher::Impl::lose(std::uint32_t slot, bool charged) {
    auto& request = requests_[slot];
    if (request.phase == Phase::kAbandoned) {
        take_back(slot);
        discard(slot);
        return;
    }
    if (charged) ++request.charges;
    if (const auto reason = loss_reason(request)) {
        emit(SendError{.to = receipt(request), .reason = *reason});
        ++requests_.totals().failed;
        settle(slot);
        take_back(slot);
        discard(slot);
        return;
    }
    take_back(slot);
    ++request.attempt;
    request.sequence = 0;
    request.sent = 0;
    request.taken = 0;
    ++requests_.totals().retried;
    requeue(slot);
}

// A worker that fails everything at once would always be the idle one and attract all traffic. So
// after a streak of failures it is held off, each time for as long as a good answer takes, while
// at most half of the able workers are like that (else the requests are to blame).
void Dispatcher::Impl::judge(std::uint32_t slot, bool success, Duration run_time) {
    auto& worker = workers_[slot];
    if (slot == kSyncSlot) return;
    auto& counters = seats_[worker.seat - 1];
    ++(success ? counters.served : counters.failed);
    if (success) {
        const auto before = success_time_.value_or(run_time);
        success_time_ = before + (run_time - before) / kAverageShare;
    }
    worker.failures = success ? 0 : worker.failures + 1;
    if (worker.failing != (worker.failures >= kFailureStreak)) {
        worker.failing = !worker.failing;
        if (worker.able) failing_workers_ += worker.failing ? 1U : -1U;
    }
    if (success && worker.held_until != Time{0}) {
        worker.held_until = Time{0};
        refresh(slot);
    }
    if (!worker.failing || !worker.able || failing_workers_ * 2 > able_workers_) return;
    const auto hold = std::min(kHoldMax, success_time_.value_or(kHoldUnknown));
    if (hold == Duration{0}) return;
    worker.held_until = now_ + hold;
    refresh(slot);
    set_worker_timer(slot);
}

}  // namespace shortq::core
