// tools/sim/primary.cpp: events in, actions out, as the real event loop does it.
#include "tools/sim/primary.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "tools/sim/clients.h"
#include "tools/sim/describe.h"
#include "tools/sim/workers.h"

namespace shortq::sim {

namespace {
constexpr std::size_t kLastMax = 60;
constexpr std::uint64_t kCompareEvery = 32;  // Steps; it looks at everything.
}  // namespace

Primary::Primary(Ground& ground, Record record, bool own_checks)
    : ground_(ground),
      record_(record),
      own_checks_(own_checks),
      core_(ground.scenario.options),
      checker_(ground.scenario.options, ground.violations),
      hash_(kFirstHash) {}

void Primary::meet(Clients& clients, Workers& workers) {
    clients_ = &clients;
    workers_ = &workers;
}

void Primary::arrive(const FromClient& message) {
    if (paused()) {
        inbox_.emplace_back(message);
    } else {
        take(message);
    }
}

void Primary::arrive(const FromWorker& message) {
    if (paused()) {
        inbox_.emplace_back(message);
    } else {
        take(message);
    }
}

void Primary::lose(ConnectionId connection) {
    const auto session = sessions_.find(connection);
    if (session != sessions_.end()) arrive(core::ClientLost{session->second});
}

void Primary::pause(core::Time until) {
    if (!paused()) paused_since_ = ground_.now();
    paused_until_ = std::max(paused_until_, until);
}

core::Time Primary::next_wake() const {
    if (paused()) return paused_until_;
    const auto wake = core_.next_wake();
    return wake ? std::max(*wake, ground_.now()) : core::Time::max();
}

// All that has come is read before time is judged.
void Primary::wake() {
    if (paused()) checker_.paused(*paused_since_, ground_.now());
    paused_since_.reset();
    for (auto& message : std::exchange(inbox_, {})) {
        std::visit([this](auto& one) { take(std::move(one)); }, message);
    }
    step(core::TimeReached{});
}

bool Primary::idle() const {
    const auto& totals = core_.totals();
    return totals.queued == 0 && totals.at_workers == 0 && totals.abandoned == 0;
}

void Primary::take(FromClient message) {
    if (stopped_) return;
    from_client_ = std::move(message);
    auto& event = from_client_.event;
    if (!std::holds_alternative<core::ClientArrived>(event)) {
        const auto session = sessions_.find(from_client_.connection);
        if (session == sessions_.end()) {
            if (from_client_.kdb) return;  // Its connection is over, and so is all that it said.
            ToClient answer;
            answer.kind = ToClient::Kind::kUnknownSession;
            clients_->carry(from_client_.connection, answer);
            return;
        }
        std::visit(
            [&](auto& one) {
                if constexpr (requires { one.client; }) one.client = session->second;
            },
            event);
        const auto* request = std::get_if<core::RequestArrived>(&event);
        if (from_client_.kdb && request != nullptr)
            kdb_door_.expect(from_client_.connection, *request);
    } else if (from_client_.kdb) {
        kdb_door_.open(from_client_.connection);
    }
    step(event);
}

void Primary::take(const FromWorker& message) {
    from_worker_ = message;
    step(message.event);
}

void Primary::step(const core::Event& event) {
    auto actions = std::exchange(out_, {});
    actions.clear();
    core_.step(ground_.now(), event, actions);
    note(event, actions);
    checker_.step(ground_.now(), event, actions, core_.totals(), core_.next_wake());
    if (++steps_ % kCompareEvery == 0) {
        if (own_checks_) core_.check_invariants();
        checker_.compare(core_.snapshot(ground_.now()));
    }
    for (const auto& action : actions) {
        std::visit([this](const auto& one) { carry_out(one); }, action);
    }
    out_ = std::move(actions);
}

void Primary::note(const core::Event& event, const std::vector<core::Action>& actions) {
    hash_ = hash_of(hash_, ground_.now(), event);
    for (const auto& action : actions) hash_ = hash_of(hash_, action);
    if (record_ == Record::kNothing) return;
    note(describe(event));
    for (const auto& action : actions) note("  -> " + describe(action));
}

void Primary::note(std::string line) {
    line = fmt::format("{:>14} {}", ground_.now().count(), line);
    if (record_ == Record::kPrint) {
        fmt::print("{}\n", line);
        return;
    }
    if (last_.size() == kLastMax) last_.pop_front();
    last_.push_back(std::move(line));
}

// ---- Actions.

void Primary::carry_out(const core::ClientOpened& action) {
    const auto connection = from_client_.connection;
    sessions_[connection] = action.client;
    connections_[action.client] = connection;
    ToClient answer;
    answer.kind = ToClient::Kind::kWelcome;
    clients_->carry(connection, answer);
}

void Primary::carry_out(const core::ClientClosed& action) {
    const auto connection = connections_.find(action.client);
    if (connection == connections_.end()) return;
    kdb_door_.close(connection->second);
    sessions_.erase(connection->second);
    connections_.erase(connection);
}

void Primary::carry_out(const core::PingClient& action) {
    ToClient ping;
    ping.kind = ToClient::Kind::kPing;
    tell(action.client, ping);
}

void Primary::carry_out(const core::Accepted& action) {
    const auto slot = core::slot_of(action.request);
    if (slot >= payloads_.size()) payloads_.resize(std::size_t{slot} + 1);
    payloads_[slot] = from_client_.payload;
    last_serial_ = action.serial;
}

void Primary::carry_out(const core::Release& action) {
    payloads_[core::slot_of(action.request)].reset();
}

void Primary::carry_out(const core::SendToWorker& action) {
    const auto& payload = payloads_[core::slot_of(action.request)];
    if (!payload) return ground_.fail("a request was sent to a worker after its release");
    workers_->deliver(action, *payload);
}

void Primary::carry_out(const core::ForwardReply& action) {
    const auto* reply = std::get_if<core::ReplyArrived>(&from_worker_.event);
    if (reply == nullptr) return;  // The checker has noticed.
    ToClient message;
    message.receipt = action.to;
    message.last = action.last;
    message.engine_error = reply->code.has_value();
    message.words = from_worker_.words;
    message.bytes = reply->bytes;
    tell(action.to.client, message);
}

void Primary::carry_out(const core::SendError& action) {
    ToClient message;
    message.receipt = action.to;
    message.error = action.reason;
    tell(action.to.client, message);
}

template <class Order>
void Primary::carry_out(const Order& order) {
    workers_->take(order);
}

void Primary::tell(core::ClientId client, ToClient message) {
    const auto connection = connections_.find(client);
    if (connection == connections_.end()) return;
    if (message.kind == ToClient::Kind::kReply && kdb_door_.has(connection->second))
        return tell_in_order(connection->second, client, message);
    clients_->carry(connection->second, message);
}

// The door takes whatever comes, at once, and says so; its client reads whole replies in their
// turn.
void Primary::tell_in_order(ConnectionId connection, core::ClientId client,
                            const ToClient& message) {
    core::CreditArrived credit{.client = client,
                               .client_request = message.receipt.client_request,
                               .attempt = message.receipt.attempt,
                               .bytes = std::numeric_limits<std::uint64_t>::max()};
    ground_.time.after(core::Duration{0}, [this, credit, last = message.last]() mutable {
        if (!last) arrive(credit);
        credit.client_request = 0;
        credit.attempt = 0;
        arrive(credit);
    });
    if (!message.last) return;
    for (const auto& reply : kdb_door_.finish(connection, message))
        clients_->carry(connection, reply);
}

}  // namespace shortq::sim
