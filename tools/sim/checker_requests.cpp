// tools/sim/checker_requests.cpp: each request is accepted or refused, gets one final reply, to the
// connection that sent it, and for a reason that holds.
#include <fmt/format.h>

#include <algorithm>

#include "tools/sim/checker.h"

namespace shortq::sim {

using core::Reason;

void Checker::see(const core::Accepted& action) {
    const auto* asked = event_as<core::RequestArrived>();
    if (asked == nullptr) return fail("something was accepted that had not arrived");
    ++arrivals_answered_;
    ++accepted_;
    auto& client = clients_.at(asked->client);
    if (draining_) fail("accepted while draining");
    if (unanswered_ >= options_.pending_max) fail("pending_max was exceeded");
    if (client.unanswered.size() >= options_.pending_per_client_max) {
        fail("pending_per_client_max was exceeded");
    }
    if (bytes_ + asked->bytes > options_.pending_bytes_max) fail("pending_bytes_max was exceeded");
    auto timeout = asked->timeout;
    if (options_.timeout > core::Duration{0} &&
        (timeout == core::Duration{0} || timeout > options_.timeout)) {
        timeout = options_.timeout;
    }
    Request request;
    request.asked = *asked;
    request.serial = action.serial;
    request.arrived = now_;
    if (timeout > core::Duration{0}) request.deadline = now_ + timeout;
    if (client.unanswered.empty()) {
        client.pinged = now_;
        if (behind(client)) client.blocked_at = now_;  // Nothing waited for it before.
    }
    const auto [at, fresh] = requests_.emplace(action.request, request);
    if (!fresh) fail("a request id was used twice");
    if (!client.unanswered.emplace(asked->client_request, action.request).second) {
        fail("two unanswered requests of one client have one id");
    }
    ++unanswered_;
    bytes_ += asked->bytes;
    client.bytes += asked->bytes;
    if (timeout > core::Duration{0}) deadlines_.emplace(request.deadline, action.request);
    queue(action.request, at->second);
}

Checker::Request* Checker::unanswered(const core::Receipt& to, const char* what) {
    auto* const client = find(to.client);
    if (client == nullptr) {
        fail(fmt::format("{} to a client that is not there", what));
        return nullptr;
    }
    const auto request = client->unanswered.find(to.client_request);
    if (request == client->unanswered.end()) {
        fail(fmt::format("{} for id {}, which is not unanswered: a second reply?", what,
                         to.client_request));
        return nullptr;
    }
    return &requests_.at(request->second);
}

void Checker::check_receipt(const Request& request, const core::Receipt& to) {
    if (to.queued < core::Duration{0} || to.ran < core::Duration{0} ||
        to.queued + to.ran > now_ - request.arrived) {
        fail("a receipt tells times that cannot be");
    }
    if (const auto* worker = find(request.worker)) {
        if (to.seat != worker->seat) fail("a receipt names the wrong seat");
        if (to.generation != worker->generation) fail("a receipt names the wrong generation");
        if (to.generation < request.asked.min_generation) fail("answered by a generation too old");
    }
}

void Checker::see(const core::ForwardReply& action) {
    const auto* reply = event_as<core::ReplyArrived>();
    if (reply == nullptr) return fail("a reply was passed on that had not arrived");
    auto* request = unanswered(action.to, "a reply");
    if (request == nullptr) return;
    auto& client = clients_.at(action.to.client);
    if (client.unanswered.at(action.to.client_request) != reply->request) {
        fail("a reply went to somebody else");
    }
    if (request->place == Place::kQueued) fail("a reply from a worker that no longer has it");
    if (request->worker != reply->worker) fail("a stale reply was passed on");
    if (action.last != reply->last) fail("the last piece is not marked as such");
    check_receipt(*request, action.to);
    if (!reply->code) count_piece(*request, client, action, reply->bytes);
    if (!action.last) return;
    request->told = now_;  // Its worker has ended it by itself.
    end(*request);
    ++finals_;
}

void Checker::refused(const core::SendError& error) {
    ++arrivals_answered_;
    ++refused_;
    const auto& asked = *event_as<core::RequestArrived>();
    const auto& client = clients_.at(asked.client);
    const bool right =
        (error.reason == Reason::kDuplicateId &&
         client.unanswered.contains(asked.client_request)) ||
        (error.reason == Reason::kDraining && draining_) ||
        (error.reason == Reason::kQueueFull && unanswered_ >= options_.pending_max) ||
        (error.reason == Reason::kClientQueueFull &&
         client.unanswered.size() >= options_.pending_per_client_max) ||
        (error.reason == Reason::kBytesFull && bytes_ + asked.bytes > options_.pending_bytes_max) ||
        (error.reason == Reason::kNoWorker && asked.mode == core::Mode::kDeferred && none_able_ &&
         now_ - *none_able_ >= options_.unavailable_after);
    if (!right) fail(fmt::format("refused for a reason that does not hold: {}", int(error.reason)));
}

// Whether an accepted request may end for this reason now.
bool Checker::holds(Reason reason, const Request& request) const {
    const auto* reply = event_as<core::ReplyArrived>();
    const bool stopped = reply != nullptr && reply->code == ErrorCode::kCancelled;
    const bool due = request.deadline > core::Time{0} && now_ >= request.deadline;
    switch (reason) {
        case Reason::kTimedOutQueued:
            return due && request.place == Place::kQueued;
        case Reason::kTimedOutRunning:
            return due && request.place == Place::kAtWorker;
        case Reason::kCancelled:
            return request.cancelled;
        case Reason::kInterrupted:
            return stopped && !request.cancelled;
        case Reason::kStalled:
            return behind(request) && now_ >= request.moved_on + options_.stall;
        case Reason::kPoison:
            return request.deaths + request.suspicions >= options_.lives;
        case Reason::kLostNotRetried:
            return options_.writable && request.place == Place::kQueued;
        case Reason::kLostMidStream:
            return request.asked.streaming && request.sequence > 0 &&
                   request.place == Place::kQueued;
        case Reason::kNoWorker:
            return none_able_ && now_ - *none_able_ >= options_.unavailable_after;
        case Reason::kDraining:
            return draining_;
        case Reason::kQueueFull:
        case Reason::kClientQueueFull:
        case Reason::kBytesFull:
        case Reason::kDuplicateId:
            return false;
    }
    return false;
}

void Checker::see(const core::SendError& action) {
    const auto* asked = event_as<core::RequestArrived>();
    if (asked != nullptr && arrivals_answered_ == 0 && action.to.client == asked->client &&
        action.to.client_request == asked->client_request) {
        return refused(action);
    }
    auto* request = unanswered(action.to, "an error");
    if (request == nullptr) return;
    if (!holds(action.reason, *request)) {
        fail(fmt::format("ended for a reason that does not hold: {}", int(action.reason)));
    }
    end(*request);
    ++finals_;
}

void Checker::see(const core::Release& action) {
    const auto at = requests_.find(action.request);
    if (at == requests_.end()) return fail("released twice, or never accepted");
    auto& request = at->second;
    if (!request.answered) {
        // Dropped: only the loss of its client may do that; ClientClosed follows.
        if (request.place == Place::kAtWorker) fail("released while at a worker and unanswered");
        end(request);
        ++dropped_;
    }
    leave_worker(action.request, request);
    requests_.erase(at);
}

}  // namespace shortq::sim
