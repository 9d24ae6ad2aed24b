// primary/core/dispatcher_check.cpp: recounts everything that the dispatcher keeps count of.
#include <cstdio>
#include <cstdlib>

#include "primary/core/dispatcher_impl.h"

namespace shortq::core {

namespace {
void check(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "shortq core: broken invariant: %s\n", what);
    std::abort();
}

// Walks a list; `visit(slot)` for each item.
template <class Items, class Member, class Visit>
void walk(const List& list, const Items& items, Member links, const Visit& visit) {
    std::uint32_t count = 0;
    std::uint32_t previous = kNone;
    for (auto slot = list.head; slot != kNone; slot = links(items[slot]).next) {
        check(links(items[slot]).prev == previous, "links point back");
        check(++count <= list.size, "list is as long as it says");
        visit(slot);
        previous = slot;
    }
    check(previous == list.tail && count == list.size, "list ends at its tail");
}

const Links& place_of(const Request& request) { return request.place; }
const Links& of_client(const Request& request) { return request.of_client; }
}  // namespace

void Dispatcher::Impl::check_invariants() const {
    check_requests();
    check_lists();
    check_workers();
    check_assignment();
    check(timers_.consistent(), "timers are in order");
}

void Dispatcher::Impl::check_requests() const {
    Totals count;
    std::size_t indexed = 0;
    const auto& slab = requests_.slab();
    for (std::uint32_t slot = 0; slot < slab.size(); ++slot) {
        if (!slab.live(slot)) continue;
        const auto& request = slab[slot];
        const bool waits = request.phase == Phase::kQueued || request.phase == Phase::kParked;
        const bool unanswered = waits || request.phase == Phase::kAtWorker;
        check(request.phase != Phase::kFree, "a live request has a phase");
        check(waits == (request.worker_slot == kNone), "a request has a worker or waits");
        check(unanswered == (request.client_slot != kNone), "unanswered requests have a client");
        count.queued += waits ? 1U : 0U;
        count.at_workers += request.phase == Phase::kAtWorker ? 1U : 0U;
        count.abandoned += request.phase == Phase::kAbandoned ? 1U : 0U;
        if (!unanswered) continue;
        ++indexed;
        count.bytes += request.bytes;
        check(requests_.find(request.client, request.client_request) == slot, "index finds it");
    }
    const auto& totals = requests_.totals();
    check(count.queued == totals.queued, "gauge queued");
    check(count.at_workers == totals.at_workers, "gauge at_workers");
    check(count.abandoned == totals.abandoned, "gauge abandoned");
    check(count.bytes == totals.bytes, "gauge bytes");
    check(indexed == requests_.index().size(), "index holds the unanswered");
    check(totals.accepted ==
              totals.answered + totals.failed + totals.dropped + totals.queued + totals.at_workers,
          "every accepted request is answered, dropped or under way");
}

void Dispatcher::Impl::check_lists() const {
    const auto& clients = queues_.clients();
    std::uint64_t queued = 0;
    std::array<std::uint32_t, kPriorities> waiting{};
    for (std::uint32_t slot = 0; slot < clients.size(); ++slot) {
        if (!clients.live(slot)) continue;
        const auto& client = clients[slot];
        std::uint64_t bytes = 0;
        walk(client.unanswered, requests_, of_client, [&](std::uint32_t at) {
            check(requests_[at].client_slot == slot, "a client's request is its own");
            bytes += requests_[at].bytes;
        });
        check(bytes == client.bytes, "gauge bytes of a client");
        walk(client.parked, requests_, place_of, [&](std::uint32_t at) {
            ++queued;
            check(requests_[at].phase == Phase::kParked, "what is parked says so");
            const bool waits = requests_[at].mode == Mode::kSync
                                   ? client.blocked
                                   : requests_[at].min_generation > serving_number();
            check(waits, "what is parked must wait");
        });
        check(client.taken <= client.sent, "no more is taken than was sent");
        check(client.blocked == (client.sent - client.taken >= options_.client_window_bytes),
              "who is blocked");
        for (std::size_t priority = 0; priority < kPriorities; ++priority) {
            const auto& queue = client.queues[priority];
            waiting[priority] += queue.empty() || client.blocked ? 0U : 1U;
            walk(queue, requests_, place_of, [&](std::uint32_t at) {
                ++queued;
                check(requests_[at].phase == Phase::kQueued, "what is queued says so");
            });
        }
    }
    check(queued == requests_.totals().queued, "all that waits is in a list");
    for (std::size_t priority = 0; priority < kPriorities; ++priority) {
        check(queues_.ring(priority).size == waiting[priority], "rings hold who waits");
        walk(
            queues_.ring(priority), clients,
            [priority](const Client& client) -> const Links& { return client.places[priority]; },
            [&](std::uint32_t slot) {
                check(!clients[slot].queues[priority].empty(), "who takes turns waits");
            });
    }
}

void Dispatcher::Impl::check_workers() const {
    std::uint32_t able = 0;
    std::uint32_t failing = 0;
    std::uint64_t pending = 0;
    std::uint64_t processes = 0;
    for (std::uint32_t slot = 0; slot < workers_.size(); ++slot) {
        if (!workers_.live(slot)) continue;
        const auto& worker = workers_[slot];
        bool stalled = false;
        Duration predicted{0};
        std::uint32_t unpredicted = 0;
        walk(worker.pending, requests_, place_of, [&](std::uint32_t at) {
            ++pending;
            check(requests_[at].worker_slot == slot, "a pending request knows its worker");
            stalled = stalled || requests_[at].stalled;
            predicted += requests_[at].predicted.value_or(Duration{0});
            unpredicted += requests_[at].predicted ? 0U : 1U;
        });
        if (slot == kSyncSlot) continue;
        ++processes;
        const bool is_able =
            worker.state == WorkerState::kReady && serves_ && worker.generation == serving_.number;
        check(worker.able == is_able, "who is able");
        able += is_able ? 1U : 0U;
        failing += is_able && worker.failing ? 1U : 0U;
        check(least_busy_.has(slot) == (is_able && worker.held_until == Time{0} &&
                                        !worker.worn_out && !worker.stalled && room_ahead(worker)),
              "who is listed");
        check(worker.stalled == stalled, "who is stalled");
        if (least_busy_.has(slot)) {
            check(least_busy_.pending(slot) == worker.pending.size, "bucket of a worker");
        }
        check(options_.window == 0 || worker.pending.size <= options_.window, "window");
        check(!by_time() || worker.pending.size <= options_.ahead_max, "window of time");
        check(!by_time() || (worker.predicted == predicted && worker.unpredicted == unpredicted),
              "what is predicted");
    }
    check(able == able_workers_ && failing == failing_workers_, "counts of workers");
    check(pending == requests_.totals().at_workers + requests_.totals().abandoned,
          "all that is at workers is in a list");
    const auto alive = serving_.workers + (next_ ? next_->workers : 0) + (old_ ? old_->workers : 0);
    check(processes == alive, "workers per generation");
    check(!(next_ && old_), "at most two generations");
}

// Nothing waits that somebody could take.
void Dispatcher::Impl::check_assignment() const {
    bool room = false;
    for (std::uint32_t slot = 1; slot < workers_.size(); ++slot) {
        if (!least_busy_.has(slot)) continue;
        room = room || by_time() || options_.window == 0 ||
               workers_[slot].pending.size < options_.window;
    }
    bool waits = false;
    for (std::size_t priority = 0; priority < kPriorities; ++priority) {
        waits = waits || !queues_.ring(priority).empty();
    }
    check(!(room && waits), "nothing is queued while an eligible worker has room");
}

}  // namespace shortq::core
