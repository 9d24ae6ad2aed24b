// primary/core/dispatcher_flow.cpp: flow control: what readers have taken, and what waits for them.
// PROTOCOL.md#flow-control.
#include <algorithm>

#include "primary/core/dispatcher_impl.h"

namespace shortq::core {

void Dispatcher::Impl::on(const CreditArrived& event) {
    const auto client = queues_.clients().find(event.client);
    if (client == kNone) return;
    hear_client(client);
    if (event.client_request == 0) return client_took(client, event.bytes);
    const auto slot = requests_.find(event.client, event.client_request);
    if (slot == kNone) return;
    auto& request = requests_[slot];
    const auto taken = std::min(event.bytes, request.sent);  // More than all is a lie.
    if (request.phase != Phase::kAtWorker || event.attempt != request.attempt) return;
    if (taken <= request.taken) return;
    request.taken = taken;
    emit(GrantCredit{.worker = workers_[request.worker_slot].id,
                     .request = request.id,
                     .bytes = taken + options_.reply_window_bytes});
    request.stalled_since = now_;  // Something was taken: its time begins anew.
    update_stall(slot);
}

// One piece of a result, or the final error.
void Dispatcher::Impl::forward(std::uint32_t slot, const ReplyArrived& event) {
    auto& request = requests_[slot];
    emit(ForwardReply{.to = receipt(request), .last = event.last});
    if (event.code) return;
    ++request.sequence;
    request.sent += event.bytes;
    queues_.clients()[request.client_slot].sent += event.bytes;
    update_block(request.client_slot);
    if (!event.last) update_stall(slot);
}

// While a reader is behind, its worker waits with it. What the worker was given ahead need not.
void Dispatcher::Impl::update_stall(std::uint32_t slot) {
    auto& request = requests_[slot];
    const bool behind = request.sent - request.taken >= options_.reply_window_bytes;
    if (!behind) return clear_stall(slot);
    if (!request.stalled) {
        request.stalled = true;
        request.stalled_since = now_;
        if (request.worker_slot != kSyncSlot) {
            workers_[request.worker_slot].stalled = true;
            refresh(request.worker_slot);
            recall_unstarted(request.worker_slot);
        }
    }
    set_request_timer(slot);
}

// Pre: at a worker.
void Dispatcher::Impl::clear_stall(std::uint32_t slot) {
    auto& request = requests_[slot];
    if (!request.stalled) return;
    request.stalled = false;
    set_request_timer(slot);
    if (request.worker_slot == kSyncSlot) return;
    workers_[request.worker_slot].stalled = false;
    refresh(request.worker_slot);
}

void Dispatcher::Impl::client_took(std::uint32_t slot, std::uint64_t bytes) {
    auto& client = queues_.clients()[slot];
    const auto taken = std::min(bytes, client.sent);
    if (taken <= client.taken) return;
    client.taken = taken;
    client.blocked_since = now_;
    update_block(slot);
}

void Dispatcher::Impl::update_block(std::uint32_t slot) {
    const auto& client = queues_.clients()[slot];
    const bool behind = client.sent - client.taken >= options_.client_window_bytes;
    if (behind && !client.blocked) block(slot);
    if (!behind && client.blocked) unblock(slot);
    if (behind) set_client_timer(slot);
}

// What runs goes on, each within its own window; what has not started waits here.
void Dispatcher::Impl::block(std::uint32_t slot) {
    auto& client = queues_.clients()[slot];
    queues_.block(slot);
    client.blocked_since = now_;
    for (auto at = client.unanswered.head; at != kNone; at = requests_[at].of_client.next) {
        const auto& request = requests_[at];
        if (request.phase != Phase::kAtWorker || request.interrupted || request.sent > 0) continue;
        const auto& worker = workers_[request.worker_slot];
        if (worker.killed || worker.pending.head == at) continue;
        emit(Recall{.worker = worker.id, .request = request.id});
    }
}

// Its first request while it is blocked: before that nothing waited for it to read.
void Dispatcher::Impl::begin_to_wait(std::uint32_t slot) {
    queues_.clients()[slot].blocked_since = now_;
    set_client_timer(slot);
}

void Dispatcher::Impl::unblock(std::uint32_t slot) {
    queues_.unblock(slot);
    auto& client = queues_.clients()[slot];
    for (auto at = client.parked.head; at != kNone;) {
        const auto next = requests_[at].place.next;
        if (requests_[at].mode == Mode::kSync) {
            queues_.remove(at);
            begin_sync(at);
        }
        at = next;
    }
    set_client_timer(slot);
}

}  // namespace shortq::core
