// tools/sim/checker_flow.cpp: clients come, read and go: windows, credit, pings.
#include <algorithm>

#include "tools/sim/checker.h"

namespace shortq::sim {

void Checker::see(const core::ClientOpened& action) {
    const auto* arrived = event_as<core::ClientArrived>();
    if (arrived == nullptr) fail("a client opened without having arrived");
    const auto [at, fresh] = clients_.emplace(action.client, Client{});
    if (!fresh) fail("a client id was used twice");
    at->second.heard = now_;
    at->second.beats = arrived == nullptr || arrived->heartbeats;
}

void Checker::see(const core::ClientClosed& action) {
    const auto at = clients_.find(action.client);
    if (at == clients_.end()) return fail("an unknown client was closed");
    auto& client = at->second;
    const auto* lost = event_as<core::ClientLost>();
    const bool silent = client.beats && options_.client_silence_max != core::Duration{0} &&
                        now_ - client.heard >= options_.client_silence_max;
    const bool stalled = options_.stall != core::Duration{0} && behind(client) &&
                         now_ - client.blocked_at >= options_.stall;
    const bool timed = event_as<core::TimeReached>() && (silent || stalled);
    if (!timed && (lost == nullptr || lost->client != action.client)) {
        fail("a client was closed without a cause");
    }
    while (!client.unanswered.empty()) {  // At workers; the queued ones were released.
        auto& request = requests_.at(client.unanswered.begin()->second);
        if (request.place == Place::kQueued) fail("a lost client's queued request was kept");
        end(request);
        ++dropped_;
    }
    clients_.erase(at);
}

void Checker::see(const core::PingClient& action) {
    auto* const client = find(action.client);
    if (client == nullptr) return fail("an unknown client was pinged");
    if (client->unanswered.empty()) fail("a client was pinged that waits for nothing");
    if (!client->beats) fail("a client was pinged whose silence means nothing");
    client->pinged = now_;
}

void Checker::see(const core::GrantCredit& action) {
    const auto at = requests_.find(action.request);
    if (at == requests_.end() || at->second.worker != action.worker) {
        return fail("credit for a worker that does not have the request");
    }
    if (!event_as<core::CreditArrived>()) fail("credit that no reader gave");
    if (action.bytes != at->second.taken + options_.reply_window_bytes) {
        fail("credit for more or less than the window");
    }
}

// A reader that is behind is sent nothing but the last piece, which is short of its window.
void Checker::count_piece(Request& request, Client& client, const core::ForwardReply& action,
                          std::uint64_t bytes) {
    if (action.to.attempt != request.attempt) {
        if (action.to.attempt < request.attempt) fail("attempts go back");
        if (request.asked.streaming && request.sequence > 0) fail("a stream began anew");
        request.attempt = action.to.attempt;
        request.sequence = 0;
        request.sent = 0;
        request.taken = 0;
    }
    if (action.to.sequence != request.sequence) fail("a piece is out of sequence");
    ++request.sequence;
    const bool was_behind = behind(request);
    const bool was_blocked = behind(client);
    if (was_behind && !action.last) fail("a reader was sent more than its window");
    request.sent += bytes;
    client.sent += bytes;
    if (!was_behind && behind(request)) request.moved_on = now_;
    if (was_blocked || !behind(client)) return;
    client.blocked_at = now_;
    for (std::size_t priority = 0; priority < client.queues.size(); ++priority) {
        waits_no_more(client, priority);
    }
}

bool Checker::waits_for_reader(const Worker& worker) const {
    return std::ranges::any_of(worker.pending,
                               [this](const auto id) { return behind(requests_.at(id)); });
}

}  // namespace shortq::sim
