// tools/sim/client_replies.cpp: a client reads, and keeps account: one final reply to each request,
// in the request's own words, piece after piece.
#include <fmt/format.h>

#include "tools/sim/clients.h"
#include "tools/sim/primary.h"

namespace shortq::sim {

void Clients::fail(const Client& client, std::uint64_t id, const char* what) {
    ground_.fail(fmt::format("client {} about its request {}: {}", client.number, id, what));
}

void Clients::read(Client& client, const ToClient& message) {
    const auto id = message.receipt.client_request;
    const auto at = client.asked.find(id);
    if (at == client.asked.end()) {
        fail(client, id, "a reply to what it has not asked, or has an answer to");
        return;
    }
    auto& asked = at->second;
    if (!message.error && message.words != asked.payload.words) {
        fail(client, id, "the reply is to somebody else's words");
    }
    if (!message.error && !in_sequence(asked, message)) {
        fail(client, id, "a piece is missing, or comes twice");
    }
    if (!message.error) give_credit(client, asked, message);
    if (message.last) end(client, id, message);
}

// A kdb+ client knows no ids: a reply is to the oldest request that waits on its line.
void Clients::read_in_order(Client& client, const ToClient& message) {
    auto& line = client.lines[message.line];
    const auto id = message.receipt.client_request;
    if (line.empty()) return fail(client, id, "a reply, and it waits for none");
    const auto due = line.front();
    line.pop_front();
    const auto& asked = client.asked.at(due);
    if (id != due) fail(client, due, "another one's reply came in its turn");
    if (!message.error && message.words != asked.payload.words)
        fail(client, due, "the reply is to somebody else's words");
    client.asked.erase(due);
}

// A later attempt begins anew, unless the reader has already been given rows of this one.
bool Clients::in_sequence(Asked& asked, const ToClient& message) {
    const auto& receipt = message.receipt;
    if (receipt.attempt != asked.attempt) {
        const bool torn = asked.request.streaming && asked.sequence > 0;
        if (receipt.attempt < asked.attempt || torn) return false;
        asked.attempt = receipt.attempt;
        asked.sequence = 0;
        asked.taken = 0;
    }
    if (receipt.sequence != asked.sequence) return false;
    if (!message.engine_error) ++asked.sequence;
    return true;
}

void Clients::end(Client& client, std::uint64_t id, const ToClient& message) {
    auto& asked = client.asked.at(id);
    if (message.error == core::Reason::kDuplicateId) {
        if (asked.finals_due < 2) fail(client, id, "refused as a duplicate, and is none");
        --asked.finals_due;
        return;
    }
    if (!message.error) {
        const auto generation = message.receipt.generation;
        if (asked.request.mode == core::Mode::kDeferred) {
            if (generation < asked.request.min_generation) {
                fail(client, id, "answered by an older generation than it asked for");
            }
            client.generation = std::max(client.generation, generation);
        }
    }
    if (--asked.finals_due == 0) {
        client.asked.erase(id);
        return;
    }
    asked.attempt = 0;
    asked.sequence = 0;
    asked.taken = 0;
}

// The connection's reader passes a piece on to the request's, which may take its time.
void Clients::give_credit(Client& client, const Asked& asked, const ToClient& message) {
    if (message.engine_error) return;
    client.taken += message.bytes;
    core::CreditArrived credit{};
    credit.bytes = client.taken;
    send(client, credit);
    if (message.last || asked.stopped) return;
    const auto delay = ground_.fault(ground_.scenario.slow_reader)
                           ? ground_.dice.milliseconds(1, 400)
                           : ground_.latency();
    // In two bites, so that some progress leaves it behind.
    const auto bite = [&](core::Duration after, std::uint64_t bytes) {
        ground_.time.after(after,
                           [this, number = client.number, connection = client.connection,
                            id = message.receipt.client_request, attempt = message.receipt.attempt,
                            bytes] { take(number, connection, id, attempt, bytes); });
    };
    bite(delay / 2, message.bytes / 2);
    bite(delay, message.bytes - message.bytes / 2);
}

void Clients::take(std::size_t number, ConnectionId connection, std::uint64_t id,
                   std::uint32_t attempt, std::uint64_t bytes) {
    auto& client = clients_[number];
    const auto at = client.asked.find(id);
    if (!client.alive || client.connection != connection || at == client.asked.end()) return;
    auto& asked = at->second;
    if (asked.attempt != attempt) return;
    asked.taken += bytes;
    core::CreditArrived credit{};
    credit.client_request = id;
    credit.attempt = attempt;
    credit.bytes = asked.taken;
    send(client, credit);
}

}  // namespace shortq::sim
