// primary/worker_door.cpp: PROTOCOL.md's worker side of the primary.
#include "primary/worker_door.h"

#include <algorithm>
#include <array>
#include <system_error>

namespace shortq::primary {

WorkerDoor::WorkerDoor(zmq::context_t& context, const std::filesystem::path& directory,
                       Identify identify)
    : identify_(std::move(identify)),
      router_(context),
      file_(directory / "workers"),
      endpoint_("ipc://" + file_.string()) {
    auto& socket = router_.socket();
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(proto::kReplyFrameBytesMax));
    socket.bind(endpoint_);
}

void WorkerDoor::renew() {
    std::error_code error;
    if (std::filesystem::exists(file_, error)) return;
    router_.socket().bind(endpoint_);
    router_.on_readable();  // To bind, too, may have swallowed a sign.
}

bool WorkerDoor::receive() { return router_.receive(in_); }

std::optional<WorkerDoor::WorkerSays> WorkerDoor::interpret() {
    auto message = proto::decode(in_.header_bytes());
    if (!message) {
        malformed_.add(message.error().message);
        return std::nullopt;
    }
    if (const auto* hello = std::get_if<proto::Hello>(&*message)) {
        const auto worker = on_hello(*hello);
        if (!worker) return std::nullopt;
        return WorkerSays{*worker, *message};
    }
    const auto found = by_identity_.find(in_.sender());
    if (found == by_identity_.end()) {
        malformed_.add("it has not said hello with a token of ours");
        return std::nullopt;
    }
    return WorkerSays{found->second, *message};
}

std::optional<core::WorkerId> WorkerDoor::on_hello(const proto::Hello& hello) {
    const auto worker = hello.role == proto::Role::kWorker ? identify_(hello.token)
                                                           : std::optional<core::WorkerId>();
    if (!worker || connected(*worker)) {
        malformed_.add("a hello without a token of ours");
        turn_away();
        return std::nullopt;
    }
    const auto slot = core::slot_of(*worker);
    if (slot >= peers_.size()) peers_.resize(slot + 1);
    proto::Welcome welcome;
    welcome.version = std::min(hello.version_max, proto::kVersionMax);
    peers_[slot] =
        Peer{*worker, std::string(in_.sender()), welcome.version >= proto::kVersionBundles};
    by_identity_[peers_[slot].identity] = *worker;
    welcome.heartbeat_ms = static_cast<std::uint32_t>(proto::kHeartbeatInterval.count());
    welcome.server = "shortq/" SHORTQ_VERSION;
    static_cast<void>(send(*worker, welcome));  // One that is gone again is reaped.
    return worker;
}

// It may be a worker whose fork server died before it could tell of it: it leaves at once then.
void WorkerDoor::turn_away() {
    std::array<zmq::message_t, 2> bodies{frame_of("nobody waits for a worker with this token"),
                                         frame_of("primary")};
    static_cast<void>(
        router_.send(in_.sender(), proto::ErrorReply{.code = ErrorCode::kDenied}, bodies));
}

bool WorkerDoor::connected(core::WorkerId worker) const {
    const auto slot = core::slot_of(worker);
    return slot < peers_.size() && peers_[slot].worker == worker;
}

bool WorkerDoor::send(core::WorkerId worker, const proto::Message& header,
                      std::span<zmq::message_t> bodies, Bundling bundling) {
    if (!connected(worker)) return false;
    const auto& peer = peers_[core::slot_of(worker)];
    return router_.send(peer.identity, header, bodies, peer.bundles ? bundling : Bundling::kNo) ==
           Sent::kYes;
}

std::vector<core::WorkerId> WorkerDoor::flush() { return router_.flush_to(by_identity_); }

void WorkerDoor::forget(core::WorkerId worker) {
    if (!connected(worker)) return;
    auto& peer = peers_[core::slot_of(worker)];
    by_identity_.erase(peer.identity);
    peer = Peer{};
}

void WorkerDoor::heartbeat_all() {
    for (const auto& peer : peers_)
        if (!peer.identity.empty()) static_cast<void>(send(peer.worker, proto::Heartbeat{}));
}

}  // namespace shortq::primary
