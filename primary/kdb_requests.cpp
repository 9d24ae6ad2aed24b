// primary/kdb_requests.cpp: class Primary, clients of the kdb+ door: what they ask, and what leaves
// for them.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <limits>

#include "primary/overloaded.h"
#include "primary/primary.h"

namespace shortq::primary {

void Primary::open_kdb_door() {
    if (!options_.kdb.port) return;
    KdbDoorOptions door;
    door.address = options_.kdb.listen;
    door.port = *options_.kdb.port;
    door.query_bytes_max = options_.query_bytes_max;
    door.result_bytes_max = options_.kdb.result_bytes_max;
    door.stall = options_.stall;
    door.sync = options_.kdb.sync;
    door.compress = options_.kdb.compress;
    door.table = options_.kdb.table;
    door.spill_folder = spill_directory_.path();
    door.authenticator = authenticator_.get();
    kdb_door_ = std::make_unique<KdbDoor>(std::move(door),
                                          [this](KdbSays says) { inbox_.put(std::move(says)); });
    spdlog::info("kdb+ clients are served at {}", kdb_door_->endpoint());
}

void Primary::on_kdb(KdbSays& says) {
    std::visit(Overloaded{
                   [&](const KdbArrived& arrived) {
                       arriving_kdb_ = &arrived;
                       step(core::ClientArrived{.heartbeats = false});
                       arriving_kdb_ = nullptr;
                   },
                   [&](KdbAsked& asked) { on_kdb_request(asked); },
                   [&](const KdbGaveUp& gave_up) {
                       if (const auto client = kdb_clients_.client_of(gave_up.connection))
                           step(core::CancelRequested{*client, gave_up.id});
                   },
                   [&](const KdbLeft& left) {
                       if (const auto client = kdb_clients_.client_of(left.connection))
                           step(core::ClientLost{*client});
                   },
               },
               says);
}

void Primary::on_kdb_request(KdbAsked& asked) {
    const auto client = kdb_clients_.client_of(asked.connection);
    if (!client) return;
    const auto bytes = asked.text.size() + asked.parameters.size();
    if (bytes > options_.query_bytes_max) {
        const auto message =
            fmt::format("text and parameters have {} bytes, the limit is {} (--max-query-bytes)",
                        bytes, options_.query_bytes_max);
        return kdb_door_->send(asked.connection, asked.id,
                               kdb_error_text(ErrorCode::kTooLarge, message));
    }
    take_request({.event = {.client = *client,
                            .client_request = asked.id,
                            .mode = asked.mode,
                            .bytes = bytes},
                  .id = asked.id},
                 std::move(asked.text), std::move(asked.parameters));
}

// The door takes whatever comes, within limits of its own: so all of it counts as taken at once,
// and no worker waits for another request's turn.
void Primary::send_to_kdb(KdbConnectionId connection, core::ClientId client,
                          const proto::Message& header, std::vector<zmq::message_t>& bodies) {
    constexpr auto kAll = std::numeric_limits<std::uint64_t>::max();
    if (const auto* reply = std::get_if<proto::Reply>(&header)) {
        kdb_door_->send(connection, *reply, bodies);
        if (!reply->last) {
            step(core::CreditArrived{.client = client,
                                     .client_request = reply->id,
                                     .attempt = reply->attempt,
                                     .bytes = kAll});
        }
        step(core::CreditArrived{
            .client = client, .client_request = 0, .attempt = 0, .bytes = kAll});
    } else if (const auto* error = std::get_if<proto::ErrorReply>(&header)) {
        const auto message = bodies.empty() ? std::string() : text_of(bodies[0]);
        kdb_door_->send(connection, error->id, kdb_error_text(error->code, message));
    }
}

}  // namespace shortq::primary
