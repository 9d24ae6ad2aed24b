// primary/core/dispatcher_requests.cpp: a request from its arrival to its final reply.
#include <algorithm>

#include "primary/core/dispatcher_impl.h"

namespace shortq::core {

namespace {
// Zero means none on both sides.
Duration tighter(Duration a, Duration b) {
    if (a == Duration{0}) return b;
    if (b == Duration{0}) return a;
    return std::min(a, b);
}
}  // namespace

std::optional<Reason> Dispatcher::Impl::refusal(const RequestArrived& event,
                                                const Client& client) const {
    if (requests_.find(event.client, event.client_request) != kNone) return Reason::kDuplicateId;
    if (draining_) return Reason::kDraining;
    if (requests_.unanswered() >= options_.pending_max) return Reason::kQueueFull;
    if (client.unanswered.size >= options_.pending_per_client_max) return Reason::kClientQueueFull;
    const auto used = requests_.totals().bytes;
    if (used > options_.pending_bytes_max || event.bytes > options_.pending_bytes_max - used) {
        return Reason::kBytesFull;
    }
    if (unavailable_ && event.mode == Mode::kDeferred) return Reason::kNoWorker;
    return std::nullopt;
}

void Dispatcher::Impl::on(const RequestArrived& event) {
    const auto slot = queues_.clients().find(event.client);
    if (slot == kNone) return;
    hear_client(slot);
    if (const auto reason = refusal(event, queues_.clients()[slot])) {
        ++requests_.totals().refused;
        emit(SendError{.to = {.client = event.client, .client_request = event.client_request},
                       .reason = *reason});
        return;
    }
    accept(event, slot);
}

void Dispatcher::Impl::accept(const RequestArrived& event, std::uint32_t client_slot) {
    const auto slot = requests_.open(event, client_slot);
    auto& request = requests_[slot];
    request.arrived = now_;
    const auto timeout = tighter(event.timeout, options_.timeout);
    if (timeout != Duration{0}) request.deadline = now_ + timeout;
    auto& client = queues_.clients()[client_slot];
    client.bytes += request.bytes;
    list_push_back(client.unanswered, slot,
                   [this](std::uint32_t at) -> Links& { return requests_[at].of_client; });
    emit(Accepted{.request = request.id, .serial = request.serial});
    set_request_timer(slot);
    plan_ping(client_slot);
    if (client.blocked && client.unanswered.size == 1) begin_to_wait(client_slot);
    if (event.mode == Mode::kSync) {
        begin_sync(slot);
    } else if (event.min_generation > serving_number()) {
        queues_.park(slot);
    } else {
        queues_.push_back(slot);
    }
}

void Dispatcher::Impl::on(const CancelRequested& event) {
    const auto client = queues_.clients().find(event.client);
    if (client == kNone) return;
    hear_client(client);
    const auto slot = requests_.find(event.client, event.client_request);
    if (slot != kNone) cancel(slot);
}

void Dispatcher::Impl::on(const CancelSerial& event) {
    const auto slot = requests_.find_serial(event.serial);
    if (slot != kNone && requests_[slot].phase != Phase::kAbandoned) cancel(slot);
}

void Dispatcher::Impl::cancel(std::uint32_t slot) {
    auto& request = requests_[slot];
    if (request.phase != Phase::kAtWorker) {
        fail(slot, Reason::kCancelled);
        return;
    }
    request.cancelled = true;  // The final reply is whatever its worker now says.
    interrupt(slot);
}

void Dispatcher::Impl::on(const ReplyArrived& event) {
    const auto worker = workers_.find(event.worker);
    if (worker == kNone) return;
    workers_[worker].last_heard = now_;
    const auto slot = requests_.find(event.request);
    if (slot != kNone && requests_[slot].worker_slot == worker) {
        auto& request = requests_[slot];
        if (event.last) {
            final_reply(event, slot);
        } else if (request.phase == Phase::kAtWorker) {
            forward(slot, event);
        }
    }
    if (event.sick && worker != kSyncSlot && !workers_[worker].killed) {
        kill_and_lose(worker, Charge::kNobody);
    }
}

void Dispatcher::Impl::final_reply(const ReplyArrived& event, std::uint32_t slot) {
    auto& request = requests_[slot];
    const auto worker = request.worker_slot;
    const bool stopped = event.code == ErrorCode::kCancelled;
    if (request.phase == Phase::kAbandoned) {
        take_back(slot);
        discard(slot);
        return;
    }
    if (stopped && workers_[worker].giving_back && !request.cancelled) {
        lose(slot, false);
        return;
    }
    const auto ran =
        event.run_time.value_or(now_ - std::max(request.dispatched, workers_[worker].head_since));
    if (by_time()) learn(request, ran, !stopped);
    if (!stopped) judge(worker, !event.code, ran);
    if (stopped) {
        emit(SendError{.to = receipt(request),
                       .reason = request.cancelled ? Reason::kCancelled : Reason::kInterrupted});
    } else {
        forward(slot, event);
    }
    ++(event.code ? requests_.totals().failed : requests_.totals().answered);
    settle(slot);
    take_back(slot);
    discard(slot);
}

void Dispatcher::Impl::on(const Recalled& event) {
    const auto worker = workers_.find(event.worker);
    if (worker == kNone) return;
    workers_[worker].last_heard = now_;
    const auto slot = requests_.find(event.request);
    if (slot == kNone || requests_[slot].worker_slot != worker) return;
    if (requests_[slot].phase == Phase::kAbandoned) {
        take_back(slot);
        discard(slot);
    } else if (requests_[slot].cancelled) {
        fail(slot, Reason::kCancelled);  // Leaves it abandoned at the worker ...
        take_back(slot);                 // ... which does not have it any more.
        discard(slot);
    } else {
        take_back(slot);
        requeue(slot);
    }
}

// In order of arrival, except that a client that does not read what it was sent has to wait.
void Dispatcher::Impl::begin_sync(std::uint32_t slot) {
    const auto& request = requests_[slot];
    const bool late = request.deadline != Time{0} && request.deadline <= now_;
    if (!late && !queues_.clients()[request.client_slot].blocked) return give(slot, kSyncSlot);
    queues_.park(slot);
    if (late) fail(slot, Reason::kTimedOutQueued);
}

Receipt Dispatcher::Impl::receipt(const Request& request) const {
    Receipt to{.client = request.client,
               .client_request = request.client_request,
               .attempt = request.attempt,
               .sequence = request.sequence,
               .queued = now_ - request.arrived};
    if (request.worker_slot == kNone) return to;
    const auto& worker = workers_[request.worker_slot];
    to.seat = worker.seat;
    to.generation = worker.generation;
    if (worker.pending.head == slot_of(request.id)) {
        const auto since = std::max(request.dispatched, worker.head_since);
        to.ran = now_ - since;
        to.queued = since - request.arrived;
    }
    return to;
}

void Dispatcher::Impl::fail(std::uint32_t slot, Reason reason) {
    emit(SendError{.to = receipt(requests_[slot]), .reason = reason});
    ++requests_.totals().failed;
    end_here(slot);
}

void Dispatcher::Impl::drop(std::uint32_t slot) {
    ++requests_.totals().dropped;
    end_here(slot);
}

void Dispatcher::Impl::end_here(std::uint32_t slot) {
    if (requests_[slot].phase != Phase::kAtWorker) {
        queues_.remove(slot);
        settle(slot);
        discard(slot);
        return;
    }
    settle(slot);
    requests_.move(slot, Phase::kAbandoned);
    interrupt(slot);
    set_request_timer(slot);
}

void Dispatcher::Impl::settle(std::uint32_t slot) {
    auto& request = requests_[slot];
    auto& client = queues_.clients()[request.client_slot];
    list_remove(client.unanswered, slot,
                [this](std::uint32_t at) -> Links& { return requests_[at].of_client; });
    client.bytes -= request.bytes;
    ++client.served;
    requests_.forget_client(slot);
}

void Dispatcher::Impl::discard(std::uint32_t slot) {
    timers_.clear(TimerKind::kRequest, slot);
    emit(Release{requests_[slot].id});
    requests_.close(slot);
}

void Dispatcher::Impl::interrupt(std::uint32_t slot) {
    auto& request = requests_[slot];
    if (request.interrupted) return;
    request.interrupted = true;
    if (workers_[request.worker_slot].killed) return;
    emit(Interrupt{.worker = workers_[request.worker_slot].id, .request = request.id});
    request.kill_at = now_ + options_.grace;
    set_request_timer(slot);
}

void Dispatcher::Impl::set_request_timer(std::uint32_t slot) {
    const auto& request = requests_[slot];
    const auto deadline = request.phase == Phase::kAbandoned ? Time{0} : request.deadline;
    auto due = tighter(deadline, request.kill_at);
    if (request.phase == Phase::kAtWorker && request.stalled && options_.stall != Duration{0}) {
        due = tighter(due, request.stalled_since + options_.stall);
    }
    if (due == Time{0}) {
        timers_.clear(TimerKind::kRequest, slot);
    } else {
        timers_.set(TimerKind::kRequest, slot, due);
    }
}

void Dispatcher::Impl::request_due(std::uint32_t slot) {
    auto& request = requests_[slot];
    if (request.phase != Phase::kAbandoned && request.deadline != Time{0} &&
        request.deadline <= now_) {
        const bool at_worker = request.phase == Phase::kAtWorker;
        fail(slot, at_worker ? Reason::kTimedOutRunning : Reason::kTimedOutQueued);
        return;
    }
    const bool stalled = request.phase == Phase::kAtWorker && request.stalled;
    if (stalled && options_.stall != Duration{0} &&
        request.stalled_since + options_.stall <= now_) {
        fail(slot, Reason::kStalled);
        return;
    }
    const auto worker = request.worker_slot;
    request.kill_at = Time{0};
    if (request.phase == Phase::kAtWorker && request.cancelled) fail(slot, Reason::kCancelled);
    set_request_timer(slot);
    if (worker != kSyncSlot && !workers_[worker].killed) kill_and_lose(worker, Charge::kNobody);
}

}  // namespace shortq::core
