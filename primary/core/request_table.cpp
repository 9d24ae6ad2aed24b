// primary/core/request_table.cpp: the table's bookkeeping and its index.
#include "primary/core/request_table.h"

#include "primary/core/random.h"

namespace shortq::core {

namespace {
constexpr std::size_t kFirstIndexSize = 64;
}

RequestIndex::RequestIndex(std::uint64_t salt) : salt_(salt), slots_(kFirstIndexSize, kNone) {}

std::size_t RequestIndex::home(ClientId client, std::uint64_t client_request) const {
    const auto hash =
        mix_bits(mix_bits(client_request + salt_) ^ static_cast<std::uint64_t>(client));
    return static_cast<std::size_t>(hash) & (slots_.size() - 1);
}

std::uint32_t RequestIndex::find(const Requests& requests, ClientId client,
                                 std::uint64_t client_request) const {
    const auto mask = slots_.size() - 1;
    for (auto at = home(client, client_request); slots_[at] != kNone; at = (at + 1) & mask) {
        const auto& request = requests[slots_[at]];
        if (request.client == client && request.client_request == client_request) return slots_[at];
    }
    return kNone;
}

void RequestIndex::put(const Requests& requests, std::uint32_t slot) {
    const auto mask = slots_.size() - 1;
    auto at = home(requests[slot]);
    while (slots_[at] != kNone) at = (at + 1) & mask;
    slots_[at] = slot;
}

void RequestIndex::grow(const Requests& requests) {
    std::vector<std::uint32_t> old(slots_.size() * 2, kNone);
    old.swap(slots_);
    for (const auto slot : old) {
        if (slot != kNone) put(requests, slot);
    }
}

void RequestIndex::insert(const Requests& requests, std::uint32_t slot) {
    if ((used_ + 1) * 2 > slots_.size()) grow(requests);
    put(requests, slot);
    ++used_;
}

void RequestIndex::erase(const Requests& requests, std::uint32_t slot) {
    const auto mask = slots_.size() - 1;
    auto hole = home(requests[slot]);
    while (slots_[hole] != slot) hole = (hole + 1) & mask;
    for (auto at = (hole + 1) & mask; slots_[at] != kNone; at = (at + 1) & mask) {
        // An item may fill the hole if its home is not between the hole and itself.
        const auto from_home = (at - home(requests[slots_[at]])) & mask;
        if (from_home < ((at - hole) & mask)) continue;
        slots_[hole] = slots_[at];
        hole = at;
    }
    slots_[hole] = kNone;
    --used_;
}

std::uint64_t* RequestTable::gauge(Phase phase) {
    switch (phase) {
        case Phase::kFree:
            return nullptr;
        case Phase::kQueued:
        case Phase::kParked:
            return &totals_.queued;
        case Phase::kAtWorker:
            return &totals_.at_workers;
        case Phase::kAbandoned:
            return &totals_.abandoned;
    }
    return nullptr;
}

std::uint32_t RequestTable::open(const RequestArrived& event, std::uint32_t client_slot) {
    const auto slot = slab_.take();
    auto& request = slab_[slot];
    request.client = event.client;
    request.client_slot = client_slot;
    request.client_request = event.client_request;
    request.serial = ++last_serial_;
    request.bytes = event.bytes;
    request.fingerprint = event.fingerprint;
    request.mode = event.mode;
    request.priority = event.priority;
    request.streaming = event.streaming;
    request.min_generation = event.min_generation;
    index_.insert(slab_, slot);
    totals_.bytes += request.bytes;
    ++totals_.accepted;
    return slot;
}

void RequestTable::move(std::uint32_t slot, Phase to) {
    auto& request = slab_[slot];
    if (auto* from = gauge(request.phase)) --*from;
    request.phase = to;
    if (auto* now = gauge(to)) ++*now;
}

void RequestTable::close(std::uint32_t slot) {
    move(slot, Phase::kFree);
    slab_.give(slot);
}

void RequestTable::forget_client(std::uint32_t slot) {
    index_.erase(slab_, slot);
    totals_.bytes -= slab_[slot].bytes;
    slab_[slot].client_slot = kNone;
}

std::uint32_t RequestTable::find_serial(std::uint64_t serial) const {
    for (std::uint32_t slot = 0; slot < slab_.size(); ++slot) {
        if (slab_.live(slot) && slab_[slot].serial == serial) return slot;
    }
    return kNone;
}

}  // namespace shortq::core
