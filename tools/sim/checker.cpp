// tools/sim/checker.cpp: the promises of design section "Semantics", one check each.
#include "tools/sim/checker.h"

#include <fmt/format.h>

#include <algorithm>

namespace shortq::sim {

namespace {
constexpr std::size_t kViolationsMax = 20;
constexpr int kStreakThatMayBeHeldOff = 8;

template <class Wanted>
const Wanted* as(const core::Event* event) {
    return std::get_if<Wanted>(event);
}
}  // namespace

void Checker::fail(std::string text) {
    if (violations_.size() < kViolationsMax) violations_.push_back(std::move(text));
}

void Checker::step(core::Time now, const core::Event& event,
                   const std::vector<core::Action>& actions, const core::Totals& totals) {
    now_ = now;
    event_ = &event;
    arrivals_answered_ = 0;
    before(event);
    for (const auto& action : actions) {
        std::visit([this](const auto& a) { see(a); }, action);
    }
    after(event);
    check_totals(totals);
    check_idle();
    if (as<core::TimeReached>(&event)) {
        check_deadlines();
        check_stalls();
    }
}

void Checker::before(const core::Event& event) {
    if (as<core::DrainRequested>(&event) || as<core::StopRequested>(&event)) draining_ = true;
    if (const auto* ready = as<core::WorkerReady>(&event)) {
        const auto worker = workers_.find(ready->worker);
        if (worker != workers_.end() && !worker->second.leaving) worker->second.ready = true;
    }
    if (const auto* failed = as<core::WorkerLoadFailed>(&event)) {
        const auto worker = workers_.find(failed->worker);
        if (worker != workers_.end()) worker->second.leaving = true;
    }
    if (const auto* exited = as<core::WorkerExited>(&event)) before_exit(*exited);
    if (const auto* recalled = as<core::Recalled>(&event)) {
        come_back(recalled->worker, recalled->request);
    }
    if (const auto* reply = as<core::ReplyArrived>(&event)) before_reply(*reply);
    if (const auto* credit = as<core::CreditArrived>(&event)) before_credit(*credit);
    if (const auto* worn = as<core::WorkerWornOut>(&event)) {
        const auto worker = workers_.find(worn->worker);
        if (worker != workers_.end() && worker->second.ready) worker->second.leaving = true;
    }
    if (const auto* drain = as<core::DrainWorker>(&event)) {
        for (auto& [id, worker] : workers_) {
            const bool meant = worker.seat == drain->seat && worker.generation == serving_;
            if (meant && worker.ready) worker.leaving = true;
        }
    }
    if (const auto* cancel = as<core::CancelRequested>(&event)) {
        const auto client = clients_.find(cancel->client);
        if (client == clients_.end()) return;
        const auto id = client->second.unanswered.find(cancel->client_request);
        if (id != client->second.unanswered.end()) requests_.at(id->second).cancelled = true;
    }
}

void Checker::after(const core::Event& event) {
    if (const auto* arrived = as<core::RequestArrived>(&event)) {
        const bool known = clients_.contains(arrived->client);
        if (arrivals_answered_ != (known ? 1U : 0U))
            fail("an arrival is accepted or refused, once");
    }
    if (const auto* exited = as<core::WorkerExited>(&event)) {
        const auto worker = workers_.find(exited->worker);
        if (worker == workers_.end()) return;
        if (!worker->second.pending.empty()) fail("a worker exited and requests are still at it");
        workers_.erase(worker);
    }
    if (const auto* reply = as<core::ReplyArrived>(&event)) {
        const auto worker = workers_.find(reply->worker);
        if (worker != workers_.end() && reply->last && has(worker->second, reply->request)) {
            fail("a final reply was swallowed");
        }
    }
}

void Checker::before_exit(const core::WorkerExited& exited) {
    const auto at = workers_.find(exited.worker);
    if (at == workers_.end()) return;
    auto& worker = at->second;
    worker.leaving = true;
    if (exited.started && has(worker, *exited.started)) {
        auto& request = requests_.at(*exited.started);
        if (!request.answered) ++request.deaths;
        if (request.deaths > options_.lives) fail("a request took more workers than its lives");
    }
    come_back_all(exited.worker);
}

void Checker::before_reply(const core::ReplyArrived& reply) {
    const auto at = workers_.find(reply.worker);
    if (at == workers_.end() || !reply.last || !has(at->second, reply.request)) return;
    if (reply.code == ErrorCode::kCancelled) {
        come_back(reply.worker, reply.request);  // Unless an error ends it.
    } else if (!requests_.at(reply.request).answered) {
        at->second.failures = reply.code ? at->second.failures + 1 : 0;
    }
}

void Checker::before_credit(const core::CreditArrived& credit) {
    const auto client = clients_.find(credit.client);
    if (client == clients_.end()) return;
    if (credit.client_request == 0) {
        auto& taken = client->second.taken;
        taken = std::max(taken, std::min(credit.bytes, client->second.sent));
        return;
    }
    const auto id = client->second.unanswered.find(credit.client_request);
    if (id == client->second.unanswered.end()) return;
    auto& request = requests_.at(id->second);
    const auto taken = std::min(credit.bytes, request.sent);
    if (request.place != Place::kAtWorker || credit.attempt != request.attempt) return;
    if (taken <= request.taken) return;
    request.taken = taken;
    request.moved_on = now_;
}

// A reader that is behind is sent nothing but the last piece, which is short of its window.
void Checker::count_piece(Request& request, Client& client, const core::ForwardReply& action,
                          std::uint64_t bytes) {
    if (action.to.attempt != request.attempt) {
        request.attempt = action.to.attempt;
        request.sent = 0;
        request.taken = 0;
    }
    const bool was_behind = behind(request);
    if (was_behind && !action.last) fail("a reader was sent more than its window");
    request.sent += bytes;
    client.sent += bytes;
    if (!was_behind && behind(request)) request.moved_on = now_;
}

bool Checker::waits_for_reader(const Worker& worker) const {
    return std::ranges::any_of(worker.pending,
                               [this](const auto id) { return behind(requests_.at(id)); });
}

bool Checker::has(const Worker& worker, core::RequestId id) {
    return std::ranges::find(worker.pending, id) != worker.pending.end();
}

// It is not at its worker any more. If it is unanswered, it waits from now on.
void Checker::come_back(core::WorkerId worker, core::RequestId id) {
    const auto at = requests_.find(id);
    if (at == requests_.end() || at->second.worker != worker) return;
    if (at->second.answered) return;  // Its release follows.
    leave_worker(id, at->second);
    queue(id, at->second);
}

void Checker::come_back_all(core::WorkerId worker) {
    const auto pending = workers_.at(worker).pending;
    for (const auto id : pending) come_back(worker, id);
}

void Checker::see(const core::ClientOpened& action) {
    if (!as<core::ClientArrived>(event_)) fail("a client opened without having arrived");
    if (!clients_.emplace(action.client, Client{}).second) fail("a client id was used twice");
}

void Checker::see(const core::ClientClosed& action) {
    const auto client = clients_.find(action.client);
    if (client == clients_.end()) return fail("an unknown client was closed");
    while (!client->second.unanswered.empty()) {  // At workers; the queued ones were released.
        auto& request = requests_.at(client->second.unanswered.begin()->second);
        if (request.place == Place::kQueued) fail("a lost client's queued request was kept");
        end(request);
        ++dropped_;
    }
    clients_.erase(client);
}

void Checker::see(const core::Accepted& action) {
    const auto* asked = as<core::RequestArrived>(event_);
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
    Request request{.asked = *asked, .serial = action.serial, .arrived = now_};
    if (timeout > core::Duration{0}) request.deadline = now_ + timeout;
    request.moved = asked->min_generation > serving_;
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

void Checker::queue(core::RequestId id, Request& request) {
    request.place = Place::kQueued;
    if (request.asked.mode == core::Mode::kSync) return;
    const auto priority = static_cast<std::size_t>(request.asked.priority);
    clients_.at(request.asked.client).queues[priority].emplace(request.serial, id);
}

void Checker::unqueue(Request& request) {
    const auto client = clients_.find(request.asked.client);
    if (client == clients_.end()) return;
    client->second.queues[static_cast<std::size_t>(request.asked.priority)].erase(request.serial);
}

bool Checker::parked(const Request& request) const {
    return request.asked.mode == core::Mode::kDeferred && request.asked.min_generation > serving_;
}

void Checker::see(const core::SendToWorker& action) {
    const auto at = requests_.find(action.request);
    if (at == requests_.end()) return fail("an unknown request was sent to a worker");
    auto& request = at->second;
    if (request.answered) fail("an ended request was sent to a worker");
    if (request.place == Place::kAtWorker) fail("a request was sent to two workers at once");
    if (request.deaths >= options_.lives) fail("a poisonous request was tried again");
    if (request.deadline > core::Time{0} && now_ >= request.deadline)
        fail("sent past its deadline");
    const bool sync = request.asked.mode == core::Mode::kSync;
    if (sync != (action.worker == core::kSyncWorker)) fail("sync and deferred were mixed up");
    if (behind(clients_.at(request.asked.client))) fail("begun for a client that does not read");
    if (!sync) {
        check_order(request, clients_.at(request.asked.client));
        const auto worker = workers_.find(action.worker);
        if (worker == workers_.end()) return fail("sent to a worker that does not exist");
        if (!worker->second.ready) fail("sent to a worker that is not ready");
        if (worker->second.leaving) fail("sent to a worker that is to leave");
        if (waits_for_reader(worker->second)) fail("sent to a worker that waits for a reader");
        if (worker->second.generation != serving_) fail("sent to a generation that does not serve");
        if (parked(request)) fail("sent to an older generation than it asked for");
        if (options_.window > 0 && worker->second.pending.size() >= options_.window) {
            fail("a window was exceeded");
        }
        worker->second.pending.push_back(action.request);
    }
    unqueue(request);
    request.place = Place::kAtWorker;
    request.worker = action.worker;
}

// First come, first served among the requests of one client and priority that never moved.
void Checker::check_order(const Request& request, const Client& client) {
    if (request.moved) return;
    const auto& queue = client.queues[static_cast<std::size_t>(request.asked.priority)];
    const Request* oldest = nullptr;
    bool newer = false;
    bool late = false;
    for (const auto& [serial, id] : queue) {
        const auto& other = requests_.at(id);
        if (parked(other)) continue;
        const auto whole = other.deadline - other.arrived;
        late = late || (other.deadline > core::Time{0} && now_ - other.arrived > whole / 2);
        if (other.moved) continue;
        if (oldest == nullptr) oldest = &other;
        newer = newer || serial > request.serial;
    }
    if (oldest == nullptr || oldest->serial == request.serial) return;
    if (!late) fail("a later request overtook an earlier one of its client");
    if (newer) fail("newest first did not take the newest");
}

void Checker::leave_worker(core::RequestId id, Request& request) {
    const auto worker = workers_.find(request.worker);
    if (worker != workers_.end()) std::erase(worker->second.pending, id);
    request.moved = true;
    request.sent = 0;
    request.taken = 0;
    request.worker = core::WorkerId{};
}

Checker::Request* Checker::unanswered(core::ClientId client, std::uint64_t id, const char* what) {
    const auto at = clients_.find(client);
    if (at == clients_.end()) {
        fail(fmt::format("{} to a client that is not there", what));
        return nullptr;
    }
    const auto request = at->second.unanswered.find(id);
    if (request == at->second.unanswered.end()) {
        fail(fmt::format("{} for id {}, which is not unanswered: a second reply?", what, id));
        return nullptr;
    }
    return &requests_.at(request->second);
}

void Checker::end(Request& request) {
    auto& client = clients_.at(request.asked.client);
    const auto id = client.unanswered.at(request.asked.client_request);
    unqueue(request);
    client.unanswered.erase(request.asked.client_request);
    client.bytes -= request.asked.bytes;
    bytes_ -= request.asked.bytes;
    deadlines_.erase({request.deadline, id});
    request.answered = true;
    --unanswered_;
}

void Checker::see(const core::ForwardReply& action) {
    const auto* reply = as<core::ReplyArrived>(event_);
    if (reply == nullptr) return fail("a reply was passed on that had not arrived");
    auto* request = unanswered(action.to.client, action.to.client_request, "a reply");
    if (request == nullptr) return;
    const auto id = clients_.at(action.to.client).unanswered.at(action.to.client_request);
    if (id != reply->request) fail("a reply went to somebody else");
    if (request->place == Place::kQueued) fail("a reply from a worker that no longer has it");
    if (request->worker != reply->worker) fail("a stale reply was passed on");
    if (action.last != reply->last) fail("the last piece is not marked as such");
    if (!reply->code) count_piece(*request, clients_.at(action.to.client), action, reply->bytes);
    if (!action.last) return;
    end(*request);
    ++finals_;
}

void Checker::refused(const core::SendError& error) {
    ++arrivals_answered_;
    const auto& asked = *as<core::RequestArrived>(event_);
    const auto& client = clients_.at(asked.client);
    using core::Reason;
    const bool right =
        (error.reason == Reason::kDuplicateId &&
         client.unanswered.contains(asked.client_request)) ||
        (error.reason == Reason::kDraining && draining_) ||
        (error.reason == Reason::kQueueFull && unanswered_ >= options_.pending_max) ||
        (error.reason == Reason::kClientQueueFull &&
         client.unanswered.size() >= options_.pending_per_client_max) ||
        (error.reason == Reason::kBytesFull && bytes_ + asked.bytes > options_.pending_bytes_max) ||
        (error.reason == Reason::kNoWorker &&
         std::ranges::none_of(workers_, [this](const auto& worker) {
             return worker.second.ready && !worker.second.leaving &&
                    worker.second.generation == serving_;
         }));
    if (!right) fail("refused for a reason that does not hold");
}

void Checker::see(const core::SendError& action) {
    const auto* asked = as<core::RequestArrived>(event_);
    if (asked != nullptr && arrivals_answered_ == 0 && action.to.client == asked->client &&
        action.to.client_request == asked->client_request) {
        return refused(action);
    }
    auto* request = unanswered(action.to.client, action.to.client_request, "an error");
    if (request == nullptr) return;
    using core::Reason;
    const bool timed_out =
        action.reason == Reason::kTimedOutQueued || action.reason == Reason::kTimedOutRunning;
    if (timed_out && (request->deadline == core::Time{0} || now_ < request->deadline)) {
        fail("timed out before its deadline");
    }
    if (action.reason == Reason::kStalled &&
        (!behind(*request) || now_ < request->moved_on + options_.stall)) {
        fail("a reader was cut off that had taken something");
    }
    if (action.reason == Reason::kPoison &&
        request->deaths + request->suspicions < options_.lives) {
        fail("called poison with lives left");
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

void Checker::see(const core::Interrupt& action) {
    const auto at = requests_.find(action.request);
    if (at == requests_.end() || at->second.worker != action.worker) {
        fail("a worker was told to interrupt what it does not have");
    }
}

void Checker::see(const core::Recall& action) {
    const auto at = requests_.find(action.request);
    if (at == requests_.end() || at->second.worker != action.worker) {
        fail("a worker was told to give back what it does not have");
    }
}

void Checker::see(const core::SpawnWorker& action) {
    const auto [at, fresh] = workers_.try_emplace(action.worker);
    at->second.generation = action.generation;
    at->second.seat = action.seat;
    if (!fresh) {
        fail("a worker id was used twice");
    }
    std::set<std::uint32_t> generations;
    const auto* exited = as<core::WorkerExited>(event_);
    for (const auto& [id, worker] : workers_) {
        if (exited == nullptr || exited->worker != id) generations.insert(worker.generation);
    }
    if (generations.size() > 2) fail("more than two generations");
}

void Checker::see(const core::StopWorker& action) {
    const auto worker = workers_.find(action.worker);
    if (worker == workers_.end()) return fail("an unknown worker was stopped");
    for (const auto id : worker->second.pending) {
        if (!requests_.at(id).answered) fail("a worker was stopped with requests at it");
    }
    worker->second.leaving = true;
}

void Checker::see(const core::KillWorker& action) {
    const auto worker = workers_.find(action.worker);
    if (worker == workers_.end()) return fail("an unknown worker was killed");
    worker->second.leaving = true;
    if (as<core::WorkerUnreachable>(event_)) return;  // Its exit decides.
    if (!worker->second.pending.empty()) ++requests_.at(worker->second.pending.front()).suspicions;
    come_back_all(action.worker);
}

void Checker::see(const core::GenerationServing& action) {
    if (action.generation <= serving_) fail("generations go back");
    serving_ = action.generation;
    for (auto& [id, worker] : workers_) {
        if (worker.generation != serving_) worker.leaving = true;
    }
}

// The core stops by itself, and refuses from now on.
void Checker::see(const core::StartFailed&) {
    if (serving_ != 0) fail("a start failed that had succeeded");
    draining_ = true;
}

void Checker::see(const core::Stopped&) {
    if (!workers_.empty() && !(workers_.size() == 1 && as<core::WorkerExited>(event_))) {
        fail("stopped with workers alive");
    }
    if (stopped_) fail("stopped twice");
    stopped_ = true;
}

void Checker::check_totals(const core::Totals& totals) {
    if (totals.accepted != accepted_) fail("accepted is miscounted");
    if (totals.answered + totals.failed != finals_) fail("answered and failed are miscounted");
    if (totals.dropped != dropped_) fail("dropped is miscounted");
    if (totals.queued + totals.at_workers != unanswered_) fail("unanswered is miscounted");
    if (totals.bytes != bytes_) fail("bytes are miscounted");
    if (accepted_ != finals_ + dropped_ + unanswered_) fail("a request got lost, or two replies");
    if (requests_.size() != unanswered_ + totals.abandoned) fail("abandoned is miscounted");
}

// Nothing is queued while a worker that could take it has room.
void Checker::check_idle() {
    const bool room = std::ranges::any_of(workers_, [this](const auto& entry) {
        const auto& worker = entry.second;
        return worker.ready && !worker.leaving && worker.generation == serving_ &&
               worker.failures < kStreakThatMayBeHeldOff && !waits_for_reader(worker) &&
               (options_.window == 0 || worker.pending.size() < options_.window);
    });
    if (!room) return;
    for (const auto& [id, client] : clients_) {
        if (behind(client)) continue;
        for (const auto& queue : client.queues) {
            for (const auto& [serial, request] : queue) {
                if (parked(requests_.at(request))) continue;
                return fail("a request waits although a worker has room");
            }
        }
    }
}

void Checker::check_deadlines() {
    if (!deadlines_.empty() && deadlines_.begin()->first <= now_) {
        fail("a deadline has passed without a reply");
    }
}

void Checker::check_stalls() {
    if (options_.stall == core::Duration{0}) return;
    for (const auto& [id, request] : requests_) {
        const bool waits = request.place == Place::kAtWorker && !request.answered;
        if (waits && behind(request) && request.moved_on + options_.stall < now_) {
            fail("a reader took nothing for too long and still has its query");
        }
    }
}

void Checker::settled(const core::Totals& totals) {
    if (!violations_.empty()) return;  // The run was cut short.
    if (totals.queued != 0 || totals.at_workers != 0) fail("healed, and requests are unanswered");
    if (totals.abandoned != 0) fail("healed, and abandoned requests are left");
    if (totals.bytes != 0) fail("healed, and bytes are left");
    if (!requests_.empty()) fail("healed, and payloads are not released");
}

}  // namespace shortq::sim
