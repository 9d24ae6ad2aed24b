// tools/sim/checker.cpp: the books: what is where, after each event and action.
#include "tools/sim/checker.h"

#include <algorithm>

namespace shortq::sim {

void Checker::fail(std::string text) {
    constexpr std::size_t kEnough = 20;
    if (violations_.size() < kEnough) violations_.push_back(std::move(text));
}

void Checker::step(core::Time now, const core::Event& event,
                   const std::vector<core::Action>& actions, const core::Totals& totals,
                   std::optional<core::Time> next_wake) {
    now_ = now;
    event_ = &event;
    arrivals_answered_ = 0;
    ended_.clear();
    interrupted_.clear();
    check_missed_deadline();
    before(event);
    for (const auto& action : actions) {
        std::visit([this](const auto& one) { see(one); }, action);
    }
    after(event);
    update_able();
    check_totals(totals);
    check_idle();
    check_wake(next_wake);
    if (event_as<core::TimeReached>() != nullptr) check_time();
}

Checker::Worker* Checker::find(core::WorkerId id) {
    const auto at = workers_.find(id);
    return at == workers_.end() ? nullptr : &at->second;
}

Checker::Client* Checker::find(core::ClientId id) {
    const auto at = clients_.find(id);
    return at == clients_.end() ? nullptr : &at->second;
}

// Whatever a peer sends shows that it lives.
void Checker::hear(const core::Event& event) {
    std::visit(
        [this](const auto& one) {
            if constexpr (requires { one.worker; }) {
                if (auto* const worker = find(one.worker)) worker->heard = now_;
            }
            if constexpr (requires { one.client; }) {
                if (auto* const client = find(one.client)) client->heard = now_;
            }
        },
        event);
}

void Checker::leaves(Worker& worker) {
    if (!worker.leaving) worker.leaving_since = now_;
    worker.leaving = true;
}

void Checker::before(const core::Event& event) {
    hear(event);
    if (event_as<core::DrainRequested>() || event_as<core::StopRequested>()) draining_ = true;
    if (const auto* ready = event_as<core::WorkerReady>()) {
        auto* const worker = find(ready->worker);
        if (worker != nullptr && !worker->leaving) worker->ready = true;
    }
    if (const auto* failed = event_as<core::WorkerLoadFailed>()) {
        auto* const worker = find(failed->worker);
        if (worker != nullptr && !worker->ready) leaves(*worker);
    }
    if (const auto* exited = event_as<core::WorkerExited>()) before_exit(*exited);
    if (const auto* recalled = event_as<core::Recalled>()) {
        come_back(recalled->worker, recalled->request);
    }
    if (const auto* reply = event_as<core::ReplyArrived>()) before_reply(*reply);
    if (const auto* credit = event_as<core::CreditArrived>()) before_credit(*credit);
    if (const auto* worn = event_as<core::WorkerWornOut>()) {
        if (auto* const worker = find(worn->worker)) worker->worn_out = true;
    }
    if (const auto* drain = event_as<core::DrainWorker>()) {
        for (auto& [id, worker] : workers_) {
            const bool meant = worker.seat == drain->seat && worker.generation == serving_;
            if (meant && worker.ready) leaves(worker);
        }
    }
    if (event_as<core::ReloadRequested>() && !draining_) reload_asked_ = true;
    before_cancel();
}

void Checker::before_cancel() {
    if (const auto* cancel = event_as<core::CancelRequested>()) {
        const auto* client = find(cancel->client);
        if (client == nullptr) return;
        const auto id = client->unanswered.find(cancel->client_request);
        if (id != client->unanswered.end()) requests_.at(id->second).cancelled = true;
    }
    if (const auto* cancel = event_as<core::CancelSerial>()) {
        for (auto& [id, request] : requests_) {
            if (request.serial == cancel->serial && !request.answered) request.cancelled = true;
        }
    }
}

void Checker::before_exit(const core::WorkerExited& exited) {
    auto* const worker = find(exited.worker);
    if (worker == nullptr) return;
    leaves(*worker);
    worker->killed = true;
    if (exited.started && has(*worker, *exited.started)) {
        auto& request = requests_.at(*exited.started);
        if (!request.answered) ++request.deaths;
        if (request.deaths > options_.lives) fail("a request took more workers than its lives");
    }
    come_back_all(exited.worker);
}

void Checker::before_reply(const core::ReplyArrived& reply) {
    auto* const worker = find(reply.worker);
    if (worker == nullptr || !reply.last || !has(*worker, reply.request)) return;
    known_.insert(requests_.at(reply.request).asked.fingerprint);
    if (reply.code == ErrorCode::kCancelled) {
        requests_.at(reply.request).lost = true;
        come_back(reply.worker, reply.request);  // Unless an error ends it.
    } else if (!requests_.at(reply.request).answered) {
        worker->failures = reply.code ? worker->failures + 1 : 0;
    }
}

void Checker::before_credit(const core::CreditArrived& credit) {
    auto* const client = find(credit.client);
    if (client == nullptr) return;
    if (credit.client_request == 0) {
        const auto taken = std::min(credit.bytes, client->sent);
        if (taken <= client->taken) return;
        client->taken = taken;
        client->blocked_at = now_;
        return;
    }
    const auto id = client->unanswered.find(credit.client_request);
    if (id == client->unanswered.end()) return;
    auto& request = requests_.at(id->second);
    const auto taken = std::min(credit.bytes, request.sent);
    if (request.place != Place::kAtWorker || credit.attempt != request.attempt) return;
    if (taken <= request.taken) return;
    request.taken = taken;
    request.moved_on = now_;
}

void Checker::after(const core::Event& event) {
    if (const auto* arrived = std::get_if<core::RequestArrived>(&event)) {
        const auto due = clients_.contains(arrived->client) ? 1U : 0U;
        if (arrivals_answered_ != due) fail("an arrival is accepted or refused, once");
    }
    if (const auto* exited = event_as<core::WorkerExited>()) {
        const auto worker = workers_.find(exited->worker);
        if (worker != workers_.end()) {
            if (!worker->second.pending.empty()) fail("a worker exited and has requests still");
            const auto [seat, generation] =
                std::pair{worker->second.seat, worker->second.generation};
            workers_.erase(worker);
            const bool refilled = std::ranges::any_of(workers_, [&](const auto& other) {
                return other.second.seat == seat && other.second.generation == serving_;
            });
            if (generation == serving_ && !refilled) empty_seats_.try_emplace(seat, now_);
        }
    }
    if (const auto* reply = event_as<core::ReplyArrived>()) {
        const auto* worker = find(reply->worker);
        if (worker != nullptr && reply->last && has(*worker, reply->request)) {
            fail("a final reply was swallowed");
        }
        const bool process = reply->worker != core::kSyncWorker;
        if (worker != nullptr && reply->sick && process && !worker->killed) {
            fail("a sick worker lives on");
        }
    }
    for (const auto id : interrupted_) {
        const auto at = requests_.find(id);
        if (at == requests_.end() || at->second.cancelled || at->second.answered) continue;
        const auto* worker = find(at->second.worker);
        if (worker == nullptr || !worker->leaving) fail("a query was interrupted for nobody");
    }
    for (const auto id : ended_) {
        const auto at = requests_.find(id);
        if (at == requests_.end() || at->second.told) continue;
        const auto* worker = find(at->second.worker);
        if (worker != nullptr && !worker->killed) fail("a worker runs what nobody waits for");
    }
    if (event_as<core::CancelRequested>() || event_as<core::CancelSerial>()) {
        for (const auto& [id, request] : requests_) {
            if (request.cancelled && !request.answered && request.place == Place::kQueued) {
                fail("a queued request was cancelled and is queued still");
            }
        }
    }
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
    for (const auto id : pending) {
        requests_.at(id).lost = true;
        come_back(worker, id);
    }
}

void Checker::leave_worker(core::RequestId id, Request& request) {
    if (auto* const worker = find(request.worker)) {
        const bool first = !worker->pending.empty() && worker->pending.front() == id;
        std::erase(worker->pending, id);
        if (first) worker->first_since = now_;
    }
    request.recalled = false;
    request.sent = 0;
    request.taken = 0;
    request.told.reset();
    request.worker = core::WorkerId{};
}

void Checker::queue(core::RequestId id, Request& request) {
    request.place = Place::kQueued;
    if (request.asked.mode == core::Mode::kSync || parked(request)) return;
    const auto priority = static_cast<std::size_t>(request.asked.priority);
    clients_.at(request.asked.client).queues[priority].emplace(request.serial, id);
}

void Checker::unqueue(Request& request) {
    auto* const client = find(request.asked.client);
    if (client == nullptr) return;
    const auto priority = static_cast<std::size_t>(request.asked.priority);
    client->queues[priority].erase(request.serial);
    if (client->queues[priority].empty()) waits_no_more(*client, priority);
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
    if (request.place == Place::kAtWorker) ended_.push_back(id);
}

}  // namespace shortq::sim
