// tools/sim/client_requests.cpp: what clients ask, and what befalls them while they do.
#include "tools/sim/clients.h"
#include "tools/sim/primary.h"

namespace shortq::sim {

using namespace std::chrono_literals;

// One request of some client, and the plan for the next.
void Clients::ask_somebody() {
    if (requests_left_ == 0) return;
    std::vector<std::size_t> candidates;
    std::size_t alive = 0;
    for (const auto& client : clients_) {
        alive += client.alive ? 1U : 0U;
        if (client.alive && client.welcome) candidates.push_back(client.number);
    }
    if (alive < ground_.scenario.clients) create();
    if (!candidates.empty()) {
        --requests_left_;
        ask(clients_[candidates[ground_.dice.below(candidates.size())]]);
    }
    const auto gap = ground_.scenario.length / ground_.scenario.requests;
    const bool at_once = ground_.dice.chance(ground_.scenario.burst) && !candidates.empty();
    ground_.time.after(at_once ? 0s : ground_.dice.exponential(gap) + 1us,
                       [this] { ask_somebody(); });
}

void Clients::ask(Client& client) {
    const auto request = draw_request(client);
    const auto [at, fresh] = client.asked.try_emplace(request.client_request);
    auto& asked = at->second;
    if (fresh) {
        asked.request = request;
        asked.payload = draw_payload(request);
        asked.stopped = ground_.fault(ground_.scenario.stopped_reader);
    } else {
        ++asked.finals_due;  // Refused as a duplicate, or answered anew if the first has just been.
    }
    if (client.kdb) client.lines[line_of(request.mode)].push_back(request.client_request);
    send(client, asked.request, asked.payload);
    if (!client.kdb && ground_.fault(ground_.scenario.cancel))
        plan_cancel(client, request.client_request);
    maybe_misfortune(client);
}

void Clients::maybe_misfortune(Client& client) {
    const auto& scenario = ground_.scenario;
    if (ground_.fault(scenario.client_silent)) fall_silent(client);
    if (ground_.fault(scenario.client_dies)) {
        ground_.time.after(ground_.dice.milliseconds(0, 500),
                           [this, number = client.number] { die(clients_[number]); });
    }
    if (ground_.fault(scenario.client_cut)) {
        ground_.time.after(ground_.dice.milliseconds(0, 500), [this, number = client.number] {
            if (clients_[number].alive) connect_again(clients_[number]);
        });
    }
    if (ground_.fault(scenario.client_leaves)) {
        send(client, core::ClientLost{});
        send(client, core::ClientLost{});  // The second one is of an unknown session.
        die(client);
    }
}

core::RequestArrived Clients::draw_request(Client& client) {
    auto& dice = ground_.dice;
    const auto& scenario = ground_.scenario;
    core::RequestArrived request;
    const bool again =
        !client.kdb && client.last_request > 0 && dice.chance(0.01);  // A duplicate, perhaps.
    request.client_request = again ? client.last_request : ++client.last_request;
    request.mode = dice.chance(scenario.sync) ? core::Mode::kSync : core::Mode::kDeferred;
    request.priority = static_cast<core::Priority>(dice.below(3));
    request.streaming = dice.chance(scenario.streaming);
    request.bytes = dice.between(1, 500);
    request.fingerprint = dice.below(scenario.fingerprints + 1);  // 0: not known.
    if (client.kdb) {  // Its protocol says nothing of the rest.
        request.priority = core::Priority::kNormal;
        request.streaming = false;
        return request;
    }
    if (dice.chance(scenario.deadline)) {
        request.timeout = dice.exponential(scenario.service * 20) + 1ms;
    }
    if (dice.chance(scenario.min_generation)) {
        request.min_generation =
            dice.chance(0.5) ? client.generation
                             : primary_.serving() + static_cast<std::uint32_t>(dice.below(2));
        if (request.min_generation > primary_.serving()) {
            request.timeout = dice.milliseconds(10, 10'000);
        }
    }
    return request;
}

Payload Clients::draw_payload(const core::RequestArrived& request) {
    auto& dice = ground_.dice;
    const auto& scenario = ground_.scenario;
    Payload payload;
    payload.words = ++last_words_;
    auto mean = scenario.service;
    for (auto kind = request.fingerprint; kind > 0; --kind) mean /= 5;
    payload.service = dice.exponential(mean) + 10us;
    if (scenario.bimodal && dice.chance(0.1)) payload.service *= 10;
    payload.pieces = static_cast<int>(dice.between(1, dice.chance(0.2) ? 12 : 3));
    payload.piece_bytes = dice.between(1, scenario.piece_bytes);
    payload.error = dice.chance(scenario.error);
    if (request.mode == core::Mode::kSync) return payload;
    payload.poison = ground_.fault(scenario.poison);
    payload.deaf = ground_.fault(scenario.deaf);
    const bool ends = request.timeout > 0s || scenario.options.timeout > 0s;
    payload.hang = ends && ground_.fault(scenario.hang);
    return payload;
}

void Clients::plan_cancel(const Client& client, std::uint64_t id) {
    ground_.time.after(
        ground_.dice.exponential(ground_.scenario.service * 3), [this, number = client.number, id] {
            auto& me = clients_[number];
            if (!me.alive) return;
            if (primary_.last_serial() > 0 && ground_.dice.chance(0.2)) {
                primary_.arrive(
                    core::CancelSerial{ground_.dice.between(1, primary_.last_serial())});
            } else {
                core::CancelRequested cancel{};
                cancel.client_request = id;
                send(me, cancel);
            }
        });
}

}  // namespace shortq::sim
