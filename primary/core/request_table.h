// primary/core/request_table.h: every request the core knows, its state, and the gauges over them.
// Private to the core.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "primary/core/events.h"
#include "primary/core/links.h"
#include "primary/core/slab.h"
#include "primary/core/snapshot.h"
#include "primary/core/types.h"

namespace shortq::core {

//  RequestArrived --> kQueued --assign()--> kAtWorker --final reply--> gone (Release)
//    | too new: kParked --'  ^                |   |  '--- deadline, client lost ---> kAbandoned
//    |                       '-- worker lost -'   '-- lost for good --> gone           |
//    '-- kQueued, kParked: cancelled, timed out, client lost --> gone      worker answers: gone
enum class Phase : std::uint8_t {
    kFree,
    kQueued,     // In its client's queue.
    kParked,     // Waits for a generation that does not serve yet; sync: until its client reads.
    kAtWorker,   // In a worker's pending list, unanswered.
    kAbandoned,  // In a worker's pending list, answered or dropped.
};

struct Request {
    RequestId id{};
    ClientId client{};
    std::uint32_t client_slot = kNone;
    std::uint32_t worker_slot = kNone;
    std::uint64_t client_request = 0;
    std::uint64_t serial = 0;
    std::uint64_t bytes = 0;
    std::uint64_t fingerprint = 0;
    std::optional<Duration> predicted;  // At a worker: its run time, if it could be predicted.
    Time arrived{0};
    Time dispatched{0};
    Time deadline{0};  // Zero: none.
    Time kill_at{0};   // Interrupted and still there then: its worker goes. Zero: not interrupted.
    std::uint32_t min_generation = 0;
    std::uint32_t charges = 0;  // Workers that died while they evaluated it.
    std::uint32_t attempt = 0;
    std::uint32_t sequence = 0;  // Pieces of this attempt that went out.
    std::uint64_t sent = 0;      // Bytes of them.
    std::uint64_t taken = 0;     // By the reader, of these.
    Time stalled_since{0};       // What is not taken fills the window. See `stalled`.
    Mode mode = Mode::kDeferred;
    Priority priority = Priority::kNormal;
    Phase phase = Phase::kFree;
    bool streaming = false;
    bool cancelled = false;    // Somebody ordered it.
    bool interrupted = false;  // Its worker has been told.
    bool stalled = false;      // Its reader is behind, and it waits.
    Links place;               // In its client's queue, the parked list, or a worker's list.
    Links of_client;           // Among its client's unanswered requests.
};

// Finds a client's request by the client's own id. Linear probing; a deletion shifts the followers
// back, so there are no tombstones and no rebuilds in the steady state. Hashes are kept beside the
// slots: with many requests, each look at another one is a miss of the caches.
class RequestIndex {
public:
    using Requests = Slab<Request, RequestId>;
    explicit RequestIndex(std::uint64_t salt);  // Peers choose ids: keeps them from choosing slots.

    [[nodiscard]] std::uint32_t find(const Requests& requests, ClientId client,
                                     std::uint64_t client_request) const;
    void insert(const Requests& requests, std::uint32_t slot);  // Pre: not in it.
    void erase(const Requests& requests, std::uint32_t slot);   // Pre: in it.
    [[nodiscard]] std::size_t size() const { return used_; }

private:
    [[nodiscard]] std::uint32_t hash(ClientId client, std::uint64_t client_request) const;
    struct Entry {
        std::uint32_t slot = kNone;  // kNone: empty.
        std::uint32_t hash = 0;
    };
    [[nodiscard]] std::size_t mask() const { return entries_.size() - 1; }
    void put(const Entry& entry);
    void grow();

    std::uint64_t salt_;
    std::vector<Entry> entries_;  // A power of two, below 2^32.
    std::size_t used_ = 0;
};

class RequestTable {
public:
    explicit RequestTable(std::uint64_t salt) : index_(salt) {}

    // The only places where a request's phase changes, and the gauges with it.
    [[nodiscard]] std::uint32_t open(const RequestArrived& event, std::uint32_t client_slot);
    void move(std::uint32_t slot, Phase to);
    void close(std::uint32_t slot);  // The id is stale from now on.
    // The client's side of it has ended: its id may be used again, its bytes count no more.
    void forget_client(std::uint32_t slot);

    // It will be needed soon: to be called early, when a miss of the caches costs nothing yet.
    void prefetch(std::uint32_t slot) const;

    [[nodiscard]] Request& operator[](std::uint32_t slot) { return slab_[slot]; }
    [[nodiscard]] const Request& operator[](std::uint32_t slot) const { return slab_[slot]; }
    [[nodiscard]] std::uint32_t find(RequestId id) const { return slab_.find(id); }
    [[nodiscard]] std::uint32_t find(ClientId client, std::uint64_t client_request) const {
        return index_.find(slab_, client, client_request);
    }
    [[nodiscard]] std::uint32_t find_serial(std::uint64_t serial) const;  // O(requests).
    [[nodiscard]] const RequestIndex::Requests& slab() const { return slab_; }
    [[nodiscard]] const RequestIndex& index() const { return index_; }
    [[nodiscard]] Totals& totals() { return totals_; }
    [[nodiscard]] const Totals& totals() const { return totals_; }
    [[nodiscard]] std::uint64_t unanswered() const { return totals_.queued + totals_.at_workers; }

private:
    [[nodiscard]] std::uint64_t* gauge(Phase phase);

    RequestIndex::Requests slab_;
    RequestIndex index_;
    Totals totals_;
    std::uint64_t last_serial_ = 0;
};

}  // namespace shortq::core
