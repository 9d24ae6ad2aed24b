// tools/sim/checker_gauges.cpp: every count equals a recount.
#include <algorithm>

#include "tools/sim/checker.h"

namespace shortq::sim {

void Checker::check_totals(const core::Totals& totals) {
    if (totals.accepted != accepted_) fail("accepted is miscounted");
    if (totals.refused != refused_) fail("refused is miscounted");
    if (totals.answered + totals.failed != finals_) fail("answered and failed are miscounted");
    if (totals.dropped != dropped_) fail("dropped is miscounted");
    if (totals.queued + totals.at_workers != unanswered_) fail("unanswered is miscounted");
    if (totals.bytes != bytes_) fail("bytes are miscounted");
    if (accepted_ != finals_ + dropped_ + unanswered_) fail("a request got lost, or two replies");
    if (requests_.size() != unanswered_ + totals.abandoned) fail("abandoned is miscounted");
}

void Checker::compare_worker(const core::WorkerSnapshot& seen) {
    if (seen.worker == core::WorkerId{}) return;  // An empty seat.
    const auto* worker = find(seen.worker);
    if (worker == nullptr) return fail("the snapshot shows a worker that is gone");
    if (seen.seat != worker->seat || seen.generation != worker->generation) {
        fail("the snapshot shows a worker in the wrong place");
    }
    if (seen.pending != worker->pending.size()) fail("pending of a worker is miscounted");
    const auto first = worker->pending.empty() ? core::RequestId{} : worker->pending.front();
    if (seen.running != first) fail("the snapshot shows the wrong query as running");
}

void Checker::compare_request(const core::RequestSnapshot& seen) {
    const auto at = requests_.find(seen.request);
    if (at == requests_.end()) return fail("the snapshot shows a request that is gone");
    const auto& request = at->second;
    const bool queued = seen.state == core::RequestState::kQueued;
    const bool abandoned = seen.state == core::RequestState::kAbandoned;
    if (queued != (request.place == Place::kQueued)) fail("the snapshot is wrong about a queue");
    if (abandoned != request.answered) fail("the snapshot is wrong about what is abandoned");
    if (seen.serial != request.serial) fail("the snapshot shows the wrong serial");
    if (seen.age != now_ - request.arrived) fail("the snapshot shows the wrong age");
}

void Checker::compare(const core::Snapshot& snapshot) {
    if (snapshot.requests.size() != requests_.size()) fail("requests are miscounted");
    if (snapshot.clients.size() != clients_.size()) fail("clients are miscounted");
    std::size_t processes = 0;
    for (const auto& worker : snapshot.workers) {
        processes += worker.worker == core::WorkerId{} ? 0 : 1;
        compare_worker(worker);
    }
    if (processes != workers_.size()) fail("workers are miscounted");
    for (const auto& request : snapshot.requests) compare_request(request);
    for (const auto& seen : snapshot.clients) {
        const auto* client = find(seen.client);
        if (client == nullptr) {
            fail("the snapshot shows a client that is gone");
        } else if (seen.pending != client->unanswered.size() || seen.bytes != client->bytes) {
            fail("pending or bytes of a client are miscounted");
        }
    }
}

// All are answered, all seats are ready, and nothing moves but heartbeats.
void Checker::at_rest(const core::Snapshot& snapshot, std::uint64_t steps, core::Duration time) {
    compare(snapshot);
    if (!requests_.empty()) fail("healed, and requests are left");
    if (snapshot.totals.bytes != 0) fail("healed, and bytes are left");
    if (reload_asked_) fail("a reload was asked for, and forgotten");
    std::size_t ready = 0;
    for (const auto& worker : snapshot.workers) {
        ready += worker.state == core::WorkerState::kReady ? 1 : 0;
    }
    if (ready != options_.workers || workers_.size() != options_.workers) {
        fail("healed, and not every seat has its worker");
    }
    // A beat per peer and second, and the watch over their silence.
    constexpr std::uint64_t kWatches = 4;
    const auto seconds =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(time).count());
    const auto peers = workers_.size() + clients_.size();
    if (steps > (2 * peers + kWatches) * (seconds + 1)) fail("at rest, and it does not rest");
}

void Checker::stopped(const core::Totals& totals) {
    if (totals.queued != 0 || totals.at_workers != 0) fail("stopped, and requests are unanswered");
    if (totals.abandoned != 0) fail("stopped, and abandoned requests are left");
    if (totals.bytes != 0) fail("stopped, and bytes are left");
    if (!requests_.empty()) fail("stopped, and payloads are not released");
}

}  // namespace shortq::sim
