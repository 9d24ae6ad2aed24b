// tools/sim/primary.h: the production core in the place of a primary process: with an inbox, with
// pauses, and with the checkers looking on.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "primary/core/dispatcher.h"
#include "tools/sim/checker.h"
#include "tools/sim/ground.h"
#include "tools/sim/kdb_door.h"
#include "tools/sim/messages.h"

namespace shortq::sim {

class Clients;
class Workers;

// How much of a run is kept as text.
enum class Record : std::uint8_t { kNothing, kLast, kPrint };

class Primary {
public:
    Primary(Ground& ground, Record record, bool own_checks);
    void meet(Clients& clients, Workers& workers);

    void arrive(const FromClient& message);
    void arrive(const FromWorker& message);
    void arrive(const core::Event& event) { arrive(FromWorker{.event = event, .words = 0}); }
    // The connection of a client that it cannot reach any more.
    void lose(ConnectionId connection);

    // The process does not run, and what arrives waits.
    void pause(core::Time until);
    [[nodiscard]] bool paused() const { return paused_since_.has_value(); }
    // When it has something to do by itself; Time::max(): never.
    [[nodiscard]] core::Time next_wake() const;
    void wake();

    [[nodiscard]] const core::Dispatcher& core() const { return core_; }
    [[nodiscard]] Checker& checker() { return checker_; }
    [[nodiscard]] bool idle() const;
    [[nodiscard]] bool stopped() const { return stopped_; }
    [[nodiscard]] std::uint32_t serving() const { return serving_; }
    [[nodiscard]] std::uint64_t last_serial() const { return last_serial_; }
    [[nodiscard]] std::uint64_t steps() const { return steps_; }
    [[nodiscard]] std::uint64_t hash() const { return hash_; }
    [[nodiscard]] const std::deque<std::string>& last() const { return last_; }

private:
    using Incoming = std::variant<FromClient, FromWorker>;

    void take(FromClient message);
    void take(const FromWorker& message);
    void step(const core::Event& event);
    void note(const core::Event& event, const std::vector<core::Action>& actions);
    void note(std::string line);

    // What the shell does about each action; words and bytes are of the message under way.
    void carry_out(const core::ClientOpened& action);
    void carry_out(const core::ClientClosed& action);
    void carry_out(const core::PingClient& action);
    void carry_out(const core::Accepted& action);
    void carry_out(const core::Release& action);
    void carry_out(const core::SendToWorker& action);
    void carry_out(const core::ForwardReply& action);
    void carry_out(const core::SendError& action);
    void carry_out(const core::GenerationServing& action) { serving_ = action.generation; }
    void carry_out(const core::Stopped&) { stopped_ = true; }
    void carry_out(const core::ReloadFailed&) {}
    void carry_out(const core::StartFailed&) {}
    template <class Order>
    void carry_out(const Order& order);  // To a worker.
    void tell(core::ClientId client, ToClient message);
    void tell_in_order(ConnectionId connection, core::ClientId client, const ToClient& message);

    Ground& ground_;
    Record record_;
    bool own_checks_;
    Clients* clients_ = nullptr;
    Workers* workers_ = nullptr;
    core::Dispatcher core_;
    Checker checker_;

    core::Time paused_until_{0};
    std::optional<core::Time> paused_since_;
    std::vector<Incoming> inbox_;
    std::vector<core::Action> out_;
    std::map<ConnectionId, core::ClientId> sessions_;
    std::map<core::ClientId, ConnectionId> connections_;
    KdbDoor kdb_door_;
    std::vector<std::optional<Payload>> payloads_;  // By slot; none: released.
    FromClient from_client_;                        // Under way, for carry_out().
    FromWorker from_worker_;
    std::uint32_t serving_ = 0;
    std::uint64_t last_serial_ = 0;
    bool stopped_ = false;

    std::uint64_t steps_ = 0;
    std::uint64_t hash_;
    std::deque<std::string> last_;
};

}  // namespace shortq::sim
