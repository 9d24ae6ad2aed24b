// tools/sim/world_clients.cpp: clients arrive, ask, cancel, fall silent and leave.
#include <algorithm>

#include "tools/sim/world.h"

namespace shortq::sim {

using namespace std::chrono_literals;

void World::client_arrives() { post(core::ClientArrived{}); }

void World::client_beats(core::ClientId id) {
    const auto client = clients_.find(id);
    if (client == clients_.end() || client->second.silent || stopped_) return;
    plan(1s, [this, id] {
        const auto at = clients_.find(id);
        if (at == clients_.end() || at->second.silent) return;
        post(core::ClientHeard{id});
        client_beats(id);
    });
}

// One request of some client, and the plan for the next.
void World::request_arrives() {
    if (requests_left_ == 0) return;
    std::vector<core::ClientId> candidates;
    for (const auto& [id, client] : clients_) {
        if (!client.silent) candidates.push_back(id);
    }
    if (candidates.size() < scenario_.clients) client_arrives();
    if (!candidates.empty()) {
        --requests_left_;
        send_request(clients_.at(candidates[dice_.below(candidates.size())]));
    }
    const auto gap = scenario_.length / scenario_.requests;
    const bool at_once = dice_.chance(scenario_.burst) && !candidates.empty();
    plan(at_once ? 0s : dice_.exponential(gap) + 1us, [this] { request_arrives(); });
}

void World::send_request(Client& client) {
    const auto id = client.id;
    const auto request = draw_request(client);
    next_payload_ = draw_payload(request);
    if (fault(scenario_.cancel)) plan_cancel(request);
    if (fault(scenario_.client_silent)) client.silent = true;
    if (fault(scenario_.client_lost)) {
        plan(dice_.milliseconds(0, 500), [this, id] {
            post(core::ClientLost{id});
            post(core::ClientLost{id});  // The second one is stale.
        });
    }
    if (fault(scenario_.stopped_reader)) client.stopped.insert(request.client_request);
    if (now_ < paused_until_) return;  // Its payload would not find it; others come.
    post(request);
}

core::RequestArrived World::draw_request(Client& client) {
    core::RequestArrived request;
    request.client = client.id;
    const bool again = client.last_request > 0 && dice_.chance(0.01);  // A duplicate, perhaps.
    request.client_request = again ? client.last_request : ++client.last_request;
    request.mode = dice_.chance(scenario_.sync) ? core::Mode::kSync : core::Mode::kDeferred;
    request.priority = static_cast<core::Priority>(dice_.below(3));
    request.streaming = dice_.chance(scenario_.streaming);
    request.bytes = dice_.between(1, 500);
    if (dice_.chance(scenario_.deadline)) {
        request.timeout = dice_.exponential(scenario_.service * 20) + 1ms;
    }
    if (dice_.chance(scenario_.min_generation)) {
        request.min_generation = serving_ + static_cast<std::uint32_t>(dice_.below(2));
        if (request.min_generation > serving_) request.timeout = dice_.milliseconds(10, 10'000);
    }
    return request;
}

World::Payload World::draw_payload(const core::RequestArrived& request) {
    Payload payload;
    payload.service = dice_.exponential(scenario_.service) + 10us;
    if (scenario_.bimodal && dice_.chance(0.1)) payload.service *= 10;
    payload.pieces = static_cast<int>(dice_.between(1, dice_.chance(0.2) ? 12 : 3));
    payload.piece_bytes = dice_.between(1, scenario_.piece_bytes);
    payload.error = dice_.chance(scenario_.error);
    if (request.mode == core::Mode::kSync) return payload;
    payload.poison = fault(scenario_.poison);
    payload.deaf = fault(scenario_.deaf);
    const bool ends = request.timeout > 0s || scenario_.options.timeout > 0s;
    payload.hang = ends && fault(scenario_.hang);
    return payload;
}

// The connection's reader passes a piece on to the request's, which may take its time.
void World::read(const core::ForwardReply& piece, std::uint64_t bytes) {
    const auto id = piece.to.client;
    const auto at = clients_.find(id);
    if (at == clients_.end() || (at->second.deaf && !healed_)) return;
    plan(latency(), [this, id, bytes] {
        const auto client = clients_.find(id);
        if (client == clients_.end() || client->second.silent) return;
        client->second.taken += bytes;
        post(core::CreditArrived{.client = id, .bytes = client->second.taken});
    });
    if (piece.last || at->second.stopped.contains(piece.to.client_request)) return;
    const auto delay = fault(scenario_.slow_reader) ? dice_.milliseconds(1, 400) : latency();
    // In two bites, so that some progress leaves it behind.
    plan(delay / 2, [this, id, piece, bytes] { take(id, piece, bytes / 2); });
    plan(delay, [this, id, piece, bytes] { take(id, piece, bytes - bytes / 2); });
}

void World::take(core::ClientId id, const core::ForwardReply& piece, std::uint64_t bytes) {
    const auto client = clients_.find(id);
    if (client == clients_.end() || client->second.silent) return;
    auto& [attempt, taken] = client->second.readings[piece.to.client_request];
    if (piece.to.attempt < attempt) return;
    if (piece.to.attempt > attempt) taken = 0;
    attempt = piece.to.attempt;
    taken += bytes;
    post(core::CreditArrived{.client = id,
                             .client_request = piece.to.client_request,
                             .attempt = attempt,
                             .bytes = taken});
}

void World::plan_cancel(const core::RequestArrived& request) {
    plan(dice_.exponential(scenario_.service * 3), [this, request] {
        if (last_serial_ && dice_.chance(0.2)) {
            post(core::CancelSerial{dice_.between(1, *last_serial_)});
        } else {
            post(core::CancelRequested{request.client, request.client_request});
        }
    });
}

}  // namespace shortq::sim
