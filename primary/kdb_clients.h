// primary/kdb_clients.h: the clients of the kdb+ door as the dispatcher knows them. Threads: the
// dispatch thread.
#pragma once

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "primary/client_door.h"
#include "primary/core/types.h"
#include "primary/kdb/door_options.h"

namespace shortq::primary {

class KdbClients {
public:
    // The core has opened `client` for a connection. `number` is what people see.
    void admit(core::ClientId client, const KdbArrived& arrived, std::uint64_t number) {
        const auto slot = core::slot_of(client);
        if (slot >= clients_.size()) clients_.resize(slot + 1);
        clients_[slot].connection = arrived.connection;
        clients_[slot].facts = {.client = client,
                                .number = number,
                                .identity = {},
                                .address = "kdb+ " + arrived.address,
                                .user = arrived.user,
                                .agent = "kdb+",
                                .session = 0,
                                .version = 0};
        by_connection_[arrived.connection] = client;
    }

    // The connection that has to be closed, if the client was one of these.
    std::optional<KdbConnectionId> forget(core::ClientId client) {
        auto* known = find(client);
        if (known == nullptr) return std::nullopt;
        const auto connection = known->connection;
        by_connection_.erase(connection);
        *known = {};
        return connection;
    }

    [[nodiscard]] std::optional<KdbConnectionId> connection_of(core::ClientId client) {
        const auto* known = find(client);
        return known == nullptr ? std::nullopt : std::optional(known->connection);
    }
    [[nodiscard]] std::optional<core::ClientId> client_of(KdbConnectionId connection) const {
        const auto found = by_connection_.find(connection);
        return found == by_connection_.end() ? std::nullopt : std::optional(found->second);
    }
    [[nodiscard]] const ClientFacts* facts(core::ClientId client) {
        const auto* known = find(client);
        return known == nullptr ? nullptr : &known->facts;
    }

private:
    struct Known {
        KdbConnectionId connection{};
        ClientFacts facts;
    };
    [[nodiscard]] Known* find(core::ClientId client) {
        const auto slot = core::slot_of(client);
        if (client == core::ClientId{} || slot >= clients_.size()) return nullptr;
        return clients_[slot].facts.client == client ? &clients_[slot] : nullptr;
    }

    std::vector<Known> clients_;  // By slot.
    std::unordered_map<KdbConnectionId, core::ClientId> by_connection_;
};

}  // namespace shortq::primary
