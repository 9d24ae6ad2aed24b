// primary/core/client_queues.h: the clients and what they wait for: whose request is next.
// Private to the core.
#pragma once

#include <array>
#include <cstdint>

#include "primary/core/links.h"
#include "primary/core/request_table.h"
#include "primary/core/slab.h"
#include "primary/core/types.h"

namespace shortq::core {

using proto::kPriorities;

struct Client {
    ClientId id{};
    Time since{0};
    Time last_heard{0};
    Time next_ping{0};  // Zero: none planned.
    bool heartbeats = true;
    std::uint64_t served = 0;
    std::uint64_t bytes = 0;                // Of its unanswered requests.
    std::uint64_t sent = 0;                 // Bytes of replies.
    std::uint64_t taken = 0;                // Of these, by its own word.
    Time blocked_since{0};                  // Or since it last took something. See `blocked`.
    bool blocked = false;                   // Has not taken too much: gets nothing begun.
    List unanswered;                        // All of them, by arrival.
    List parked;                            // By arrival: see Phase::kParked.
    std::array<List, kPriorities> queues;   // By arrival.
    std::array<Links, kPriorities> places;  // In the rings below.
};

// Priorities share by weights, within one the clients that are not blocked take turns, and a
// client's own requests go in order (newest first while its oldest is past half its deadline).
//
// The sharing is self-clocked fair queueing (Golestani, INFOCOM 1994) with every request of the
// same length: a turn takes 1/weight of virtual time from when the priority's first request begins
// to wait, the turn that ends first is next, and its end is the virtual time.
class ClientQueues {
public:
    explicit ClientQueues(RequestTable& requests) : requests_(requests) {}

    void push_back(std::uint32_t request);
    void put_back(std::uint32_t request);  // It was at a worker. Takes its place by arrival.
    void park(std::uint32_t request);
    // Pre: kQueued or kParked. The caller moves the request to its next phase.
    void remove(std::uint32_t request);
    // Queues, in their order of arrival, what was parked for a generation up to `serving`.
    void unpark(std::uint32_t serving);
    // Takes the client out of the turns, or puts it back at their end.
    void block(std::uint32_t client);
    void unblock(std::uint32_t client);

    // The request that is next, which stays where it is; kNone: nothing is queued.
    [[nodiscard]] std::uint32_t next(Time now) const;
    // Takes out the answer of next(), and counts the turn.
    void serve(std::uint32_t request);

    [[nodiscard]] Slab<Client, ClientId>& clients() { return clients_; }
    [[nodiscard]] const Slab<Client, ClientId>& clients() const { return clients_; }
    [[nodiscard]] const List& ring(std::size_t priority) const { return rings_[priority]; }

private:
    [[nodiscard]] auto place() {
        return [this](std::uint32_t slot) -> Links& { return requests_[slot].place; };
    }
    void insert(std::uint32_t request, std::uint32_t before);
    void unpark(Client& client, std::uint32_t serving);
    void join_ring(std::uint32_t client, std::size_t priority);
    void leave_ring(std::uint32_t client, std::size_t priority);
    [[nodiscard]] bool newest_first(std::uint32_t head, Time now) const;
    void begin_turn(std::size_t priority);

    RequestTable& requests_;
    Slab<Client, ClientId> clients_;
    std::array<List, kPriorities> rings_;  // Clients with something queued, by turn.
    std::uint64_t virtual_time_ = 0;
    std::array<std::uint64_t, kPriorities> turns_{};  // When each one's next turn ends.
};

}  // namespace shortq::core
