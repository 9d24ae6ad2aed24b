// primary/table_probe.cpp: class Primary, a sync query that misses a table: the primary asks a
// worker whether it has one of that name, as a client of its own dispatcher, and tells who asked.
#include <algorithm>

#include "primary/primary.h"

namespace shortq::primary {

// True: the reply is held until the workers have said. The error waits a second at most, and comes
// unchanged when no worker answers.
bool Primary::ask_workers_for_table(SyncReply& reply) {
    constexpr std::chrono::seconds kProbeWaitMax{1};
    const auto* error = std::get_if<proto::ErrorReply>(&reply.header);
    if (error == nullptr || reply.probed || reply.bodies.empty() || options_.engine != "duckdb")
        return false;
    auto table = missing_table(text_of(reply.bodies[0]));
    if (table.empty()) return false;
    Payload payload;
    payload.text = frame_of(has_table_query(table));
    probes_.push_back(Probe{core::ClientId{}, std::move(reply), std::move(table)});
    opening_probe_ = true;
    step(core::ClientArrived{});
    opening_probe_ = false;
    core::RequestArrived request;
    request.client = payload.client = probes_.back().client;
    request.client_request = payload.client_request = 1;
    request.priority = core::Priority::kHigh;
    request.timeout = kProbeWaitMax;
    request.bytes = payload.text.size();
    arriving_ = std::move(payload);
    step(request);
    arriving_.reset();
    return true;
}

bool Primary::is_probe(core::ClientId client) const {
    return std::ranges::find(probes_, client, &Probe::client) != probes_.end();
}

// Called from an action, so the held reply goes its way in the next round.
void Primary::finish_probe(core::ClientId client, bool found) {
    const auto probe = std::ranges::find(probes_, client, &Probe::client);
    if (probe == probes_.end()) return;
    SyncReply reply = std::move(probe->held);
    reply.probed = true;
    if (found) {
        const auto text = text_of(reply.bodies[0]) + "\n" + exists_on_workers(probe->table);
        reply.bodies[0] = frame_of(text);
    }
    probes_.erase(probe);
    step(core::ClientLost{client});
    inbox_.put(std::move(reply));
}

}  // namespace shortq::primary
