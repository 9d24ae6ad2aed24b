// tools/sim/clients.cpp: client processes and their connections.
#include "tools/sim/clients.h"

#include "tools/sim/primary.h"

namespace shortq::sim {

using namespace std::chrono_literals;

Clients::Clients(Ground& ground, Primary& primary)
    : ground_(ground), primary_(primary), requests_left_(ground.scenario.requests) {}

void Clients::begin() {
    for (std::uint32_t i = 0; i < ground_.scenario.clients; ++i) {
        ground_.time.after(ground_.dice.milliseconds(0, 500), [this] { create(); });
    }
    ground_.time.after(10ms, [this] { ask_somebody(); });
}

void Clients::heal() {
    for (auto& client : clients_) {
        client.deaf = false;
        for (const auto& message : std::exchange(client.unread, {})) {
            if (client.alive) read(client, message);
        }
        for (auto& [id, asked] : client.asked) asked.stopped = false;
    }
}

std::size_t Clients::waiting() const {
    std::size_t count = 0;
    for (const auto& client : clients_) count += client.alive ? client.asked.size() : 0;
    return count;
}

void Clients::create() {
    auto& client = clients_.emplace_back();
    client.number = clients_.size() - 1;
    client.deaf = ground_.fault(ground_.scenario.deaf_client);
    client.kdb = ground_.dice.chance(ground_.scenario.kdb_client);
    if (client.kdb) client.deaf = false;  // What it does not read waits at the door.
    connect(client);
}

void Clients::connect(Client& client) {
    client.connection = ConnectionId{static_cast<std::uint32_t>(connections_.size())};
    connections_.push_back({.client = client.number, .open = true, .up = {}, .down = {}});
    client.welcome = false;
    client.taken = 0;
    send(client, core::ClientArrived{.heartbeats = !client.kdb});
    if (!client.kdb) beat(client.connection);
}

// Deferred requests are sent again once it is welcome; a sync one may have had its effect, so its
// asker is told that the connection was lost.
void Clients::connect_again(Client& client) {
    hang_up(client);
    client.unread.clear();
    if (client.kdb) {  // Nothing is sent again: what it asked is gone with its connection.
        client.asked.clear();
        client.lines = {};
    }
    std::erase_if(client.asked,
                  [](const auto& entry) { return entry.second.request.mode == core::Mode::kSync; });
    connect(client);
}

void Clients::welcome(Client& client) {
    client.welcome = true;
    for (auto& [id, asked] : client.asked) {
        asked.finals_due = 1;
        asked.attempt = 0;
        asked.sequence = 0;
        asked.taken = 0;
        send(client, asked.request, asked.payload);
    }
}

void Clients::beat(ConnectionId id) {
    ground_.time.after(1s, [this, id] {
        const auto& connection = connections_[static_cast<std::size_t>(id)];
        if (!connection.open || primary_.stopped()) return;
        auto& client = clients_[connection.client];
        if (client.welcome) send(client, core::ClientHeard{});
        beat(id);
    });
}

void Clients::send(Client& client, core::Event event, const Payload& payload) {
    auto& connection = connections_[static_cast<std::size_t>(client.connection)];
    ground_.time.at(connection.up.arrival(ground_),
                    [this, message = FromClient{.connection = client.connection,
                                                .event = std::move(event),
                                                .payload = payload,
                                                .kdb = client.kdb}] { primary_.arrive(message); });
}

// What it had sent still arrives. The primary learns of its end when it next writes to it.
void Clients::die(Client& client) {
    client.alive = false;
    hang_up(client);
}

// The end of a kdb+ client's connection is seen at once.
void Clients::hang_up(const Client& client) {
    connections_[static_cast<std::size_t>(client.connection)].open = false;
    if (!client.kdb) return;
    ground_.time.after(ground_.latency(),
                       [this, connection = client.connection] { primary_.lose(connection); });
}

void Clients::fall_silent(Client& client) {
    auto& connection = connections_[static_cast<std::size_t>(client.connection)];
    const auto until = ground_.now() + ground_.dice.milliseconds(100, 10'000);
    connection.up.silence(until);
    connection.down.silence(until);
}

void Clients::carry(ConnectionId id, const ToClient& message) {
    auto& connection = connections_[static_cast<std::size_t>(id)];
    if (!connection.open) {
        ground_.time.after(0s, [this, id] { primary_.lose(id); });
        return;
    }
    ground_.time.at(connection.down.arrival(ground_), [this, id, message] {
        const auto& at = connections_[static_cast<std::size_t>(id)];
        if (!at.open) return;
        auto& client = clients_[at.client];
        if (client.deaf && message.kind == ToClient::Kind::kReply) {
            client.unread.push_back(message);
        } else {
            receive(client, message);
        }
    });
}

void Clients::receive(Client& client, const ToClient& message) {
    switch (message.kind) {
        case ToClient::Kind::kWelcome:
            return welcome(client);
        case ToClient::Kind::kUnknownSession:
            return connect_again(client);
        case ToClient::Kind::kPing:
            return;  // Its beats say that it lives.
        case ToClient::Kind::kReply:
            return client.kdb ? read_in_order(client, message) : read(client, message);
    }
}

}  // namespace shortq::sim
