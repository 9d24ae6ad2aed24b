// tests/faults/wire_client.h: a client that sees every message on the wire: the library would drop
// a second reply, or one that belongs to another.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <thread>

#include "tests/end-to-end/raw_peer.h"
#include "tests/faults/load.h"

namespace shortq::test {

// Keeps some short queries under way, from its making to finish(). Not for a primary that is
// restarted: it says hello once.
class WireClient {
public:
    explicit WireClient(LoadOptions options);
    ~WireClient();
    WireClient(const WireClient&) = delete;
    WireClient& operator=(const WireClient&) = delete;

    [[nodiscard]] std::uint64_t replies() const noexcept { return replies_; }
    // Asks nothing new; returns when everything is answered, and nothing else lies in the
    // connection.
    void finish();
    // Pre: finish() has returned.
    [[nodiscard]] const Tally& tally() const noexcept { return tally_; }

private:
    void work();
    void send_request();
    void heartbeat();
    void receive();
    void settle(std::uint64_t id, const ErrorCode* error);
    void note_fault(std::string what);

    LoadOptions options_;
    RawPeer peer_;
    std::uint64_t session_ = 0;
    std::uint64_t last_id_ = 0;
    std::uint64_t taken_bytes_ = 0;
    std::map<std::uint64_t, std::string> under_way_;
    std::chrono::steady_clock::time_point next_heartbeat_;
    std::uint64_t heartbeats_sent_ = 0;
    std::uint64_t heartbeats_heard_ = 0;
    std::atomic<bool> over_ = false;
    std::atomic<std::uint64_t> replies_ = 0;
    Tally tally_;
    std::thread thread_;
};

}  // namespace shortq::test
