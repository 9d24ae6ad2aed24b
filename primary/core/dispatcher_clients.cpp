// primary/core/dispatcher_clients.cpp: clients come, are pinged, fall silent and go.
#include <algorithm>

#include "primary/core/dispatcher_impl.h"

namespace shortq::core {

void Dispatcher::Impl::on(const ClientArrived& event) {
    const auto slot = queues_.clients().take();
    auto& client = queues_.clients()[slot];
    client.since = now_;
    client.heartbeats = event.heartbeats;
    client.last_heard = now_;
    emit(ClientOpened{client.id});
    set_client_timer(slot);
}

void Dispatcher::Impl::on(const ClientHeard& event) {
    const auto slot = queues_.clients().find(event.client);
    if (slot != kNone) hear_client(slot);
}

void Dispatcher::Impl::on(const ClientLost& event) {
    const auto slot = queues_.clients().find(event.client);
    if (slot != kNone) lose_client(slot);
}

void Dispatcher::Impl::lose_client(std::uint32_t slot) {
    auto& client = queues_.clients()[slot];
    while (!client.unanswered.empty()) drop(client.unanswered.head);
    emit(ClientClosed{client.id});
    timers_.clear(TimerKind::kClient, slot);
    queues_.clients().give(slot);
}

// A plan is kept when the client's last request ends, and dropped when it comes due: so a client
// that sends one request after the other moves its timer once per interval, not per request.
void Dispatcher::Impl::plan_ping(std::uint32_t slot) {
    auto& client = queues_.clients()[slot];
    if (client.next_ping != Time{0} || options_.ping_interval == Duration{0}) return;
    if (!client.heartbeats) return;
    client.next_ping = now_ + options_.ping_interval;
    set_client_timer(slot);
}

// Without a request it takes nothing from anybody, and may read when it likes.
bool Dispatcher::Impl::holds_itself_up(const Client& client) const {
    return client.blocked && !client.unanswered.empty() && options_.stall != Duration{0};
}

bool Dispatcher::Impl::is_to_beat(const Client& client) const {
    return client.heartbeats && options_.client_silence_max != Duration{0};
}

// The silence timer is set for the message heard last when it was set, and put off when it fires.
void Dispatcher::Impl::set_client_timer(std::uint32_t slot) {
    const auto& client = queues_.clients()[slot];
    auto due = Time::max();
    if (is_to_beat(client)) {
        due = client.last_heard + options_.client_silence_max;
    }
    if (client.next_ping != Time{0}) due = std::min(due, client.next_ping);
    if (holds_itself_up(client)) due = std::min(due, client.blocked_since + options_.stall);
    if (due == Time::max()) {
        timers_.clear(TimerKind::kClient, slot);
    } else {
        timers_.set(TimerKind::kClient, slot, due);
    }
}

void Dispatcher::Impl::client_due(std::uint32_t slot) {
    auto& client = queues_.clients()[slot];
    const bool silent =
        is_to_beat(client) && client.last_heard + options_.client_silence_max <= now_;
    const bool stalled = holds_itself_up(client) && client.blocked_since + options_.stall <= now_;
    if (silent || stalled) {
        lose_client(slot);
        return;
    }
    if (client.next_ping != Time{0} && client.next_ping <= now_) {
        client.next_ping = Time{0};
        if (!client.unanswered.empty()) {
            emit(PingClient{client.id});
            client.next_ping = now_ + options_.ping_interval;
        }
    }
    set_client_timer(slot);
}

}  // namespace shortq::core
