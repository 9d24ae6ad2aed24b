// primary/core/client_queues.cpp: the queues' moves.
#include "primary/core/client_queues.h"

namespace shortq::core {

namespace {
// Virtual time of a turn of high, normal, low: shares of 16 to 4 to 1.
constexpr std::array<std::uint64_t, kPriorities> kTurn{1, 4, 16};

std::size_t index_of(Priority priority) { return static_cast<std::size_t>(priority); }
}  // namespace

void ClientQueues::begin_turn(std::size_t priority) {
    turns_[priority] = virtual_time_ + kTurn[priority];
}

void ClientQueues::join_ring(std::uint32_t client, std::size_t priority) {
    if (rings_[priority].empty()) begin_turn(priority);
    list_push_back(rings_[priority], client,
                   [&](std::uint32_t slot) -> Links& { return clients_[slot].places[priority]; });
}

void ClientQueues::leave_ring(std::uint32_t client, std::size_t priority) {
    list_remove(rings_[priority], client,
                [&](std::uint32_t slot) -> Links& { return clients_[slot].places[priority]; });
}

void ClientQueues::insert(std::uint32_t request, std::uint32_t before) {
    const auto priority = index_of(requests_[request].priority);
    const auto client = requests_[request].client_slot;
    auto& queue = clients_[client].queues[priority];
    if (queue.empty() && !clients_[client].blocked) join_ring(client, priority);
    list_insert(queue, request, before, place());
    requests_.move(request, Phase::kQueued);
}

void ClientQueues::push_back(std::uint32_t request) { insert(request, kNone); }

// Nearly always one of the ends: what was given to a worker was the oldest, or the newest.
void ClientQueues::put_back(std::uint32_t request) {
    const auto& mine = requests_[request];
    const auto& queue = clients_[mine.client_slot].queues[index_of(mine.priority)];
    const bool newest = queue.empty() || requests_[queue.tail].serial < mine.serial;
    auto at = newest ? kNone : queue.head;
    while (at != kNone && requests_[at].serial < mine.serial) at = requests_[at].place.next;
    insert(request, at);
}

void ClientQueues::park(std::uint32_t request) {
    list_push_back(clients_[requests_[request].client_slot].parked, request, place());
    requests_.move(request, Phase::kParked);
}

void ClientQueues::remove(std::uint32_t request) {
    const auto priority = index_of(requests_[request].priority);
    const auto slot = requests_[request].client_slot;
    auto& client = clients_[slot];
    if (requests_[request].phase == Phase::kParked) {
        list_remove(client.parked, request, place());
        return;
    }
    list_remove(client.queues[priority], request, place());
    if (client.queues[priority].empty() && !client.blocked) leave_ring(slot, priority);
}

void ClientQueues::block(std::uint32_t slot) {
    auto& client = clients_[slot];
    client.blocked = true;
    for (std::size_t priority = 0; priority < kPriorities; ++priority) {
        if (!client.queues[priority].empty()) leave_ring(slot, priority);
    }
}

void ClientQueues::unblock(std::uint32_t slot) {
    auto& client = clients_[slot];
    client.blocked = false;
    for (std::size_t priority = 0; priority < kPriorities; ++priority) {
        if (!client.queues[priority].empty()) join_ring(slot, priority);
    }
}

void ClientQueues::unpark(std::uint32_t serving) {
    for (std::uint32_t slot = 0; slot < clients_.size(); ++slot) {
        if (clients_.live(slot)) unpark(clients_[slot], serving);
    }
}

// Merges two lists that are in order of arrival.
void ClientQueues::unpark(Client& client, std::uint32_t serving) {
    std::array<std::uint32_t, kPriorities> cursors{};
    for (std::size_t i = 0; i < kPriorities; ++i) cursors[i] = client.queues[i].head;
    for (auto slot = client.parked.head; slot != kNone;) {
        const auto next = requests_[slot].place.next;
        if (requests_[slot].mode == Mode::kDeferred && requests_[slot].min_generation <= serving) {
            list_remove(client.parked, slot, place());
            auto& at = cursors[index_of(requests_[slot].priority)];
            while (at != kNone && requests_[at].serial < requests_[slot].serial) {
                at = requests_[at].place.next;
            }
            insert(slot, at);
        }
        slot = next;
    }
}

bool ClientQueues::newest_first(std::uint32_t head, Time now) const {
    const auto& oldest = requests_[head];
    return oldest.deadline != Time{0} &&
           now - oldest.arrived > (oldest.deadline - oldest.arrived) / 2;
}

std::uint32_t ClientQueues::next(Time now) const {
    auto best = kPriorities;
    for (std::size_t priority = 0; priority < kPriorities; ++priority) {
        if (rings_[priority].empty()) continue;
        if (best == kPriorities || turns_[priority] < turns_[best]) best = priority;
    }
    if (best == kPriorities) return kNone;
    const auto& queue = clients_[rings_[best].head].queues[best];
    return newest_first(queue.head, now) ? queue.tail : queue.head;
}

void ClientQueues::serve(std::uint32_t request) {
    const auto priority = index_of(requests_[request].priority);
    const auto client = requests_[request].client_slot;
    virtual_time_ = turns_[priority];
    begin_turn(priority);
    remove(request);
    if (clients_[client].queues[priority].empty()) return;
    requests_.prefetch(clients_[client].queues[priority].head);
    leave_ring(client, priority);  // To its end.
    join_ring(client, priority);
}

}  // namespace shortq::core
