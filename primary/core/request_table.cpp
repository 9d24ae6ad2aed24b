// primary/core/request_table.cpp: the table's bookkeeping and its index.
#include "primary/core/request_table.h"

#include "primary/core/random.h"

namespace shortq::core {

namespace {
constexpr std::size_t kFirstIndexSize = 64;
// Clients count their requests: so many in a row are neighbours, in one line of the cache.
constexpr std::uint64_t kGroup = 8;
}  // namespace

RequestIndex::RequestIndex(std::uint64_t salt) : salt_(salt), entries_(kFirstIndexSize) {}

std::uint32_t RequestIndex::hash(ClientId client, std::uint64_t client_request) const {
    const auto group =
        mix_bits(mix_bits(client_request / kGroup + salt_) ^ static_cast<std::uint64_t>(client));
    return static_cast<std::uint32_t>(group * kGroup + client_request % kGroup);
}

std::uint32_t RequestIndex::find(const Requests& requests, ClientId client,
                                 std::uint64_t client_request) const {
    const auto wanted = hash(client, client_request);
    for (auto at = wanted & mask(); entries_[at].slot != kNone; at = (at + 1) & mask()) {
        if (entries_[at].hash != wanted) continue;
        const auto& request = requests[entries_[at].slot];
        if (request.client == client && request.client_request == client_request) {
            return entries_[at].slot;
        }
    }
    return kNone;
}

void RequestIndex::put(const Entry& entry) {
    auto at = entry.hash & mask();
    while (entries_[at].slot != kNone) at = (at + 1) & mask();
    entries_[at] = entry;
}

void RequestIndex::grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const auto& entry : old) {
        if (entry.slot != kNone) put(entry);
    }
}

void RequestIndex::insert(const Requests& requests, std::uint32_t slot) {
    if ((used_ + 1) * 2 > entries_.size()) grow();
    const auto& request = requests[slot];
    put({.slot = slot, .hash = hash(request.client, request.client_request)});
    ++used_;
}

void RequestIndex::erase(const Requests& requests, std::uint32_t slot) {
    const auto& request = requests[slot];
    auto hole = hash(request.client, request.client_request) & mask();
    while (entries_[hole].slot != slot) hole = (hole + 1) & mask();
    for (auto at = (hole + 1) & mask(); entries_[at].slot != kNone; at = (at + 1) & mask()) {
        // An item may fill the hole if its home is not between the hole and itself.
        const auto from_home = (at - entries_[at].hash) & mask();
        if (from_home < ((at - hole) & mask())) continue;
        entries_[hole] = entries_[at];
        hole = at;
    }
    entries_[hole] = {};
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

void RequestTable::prefetch(std::uint32_t slot) const {
    constexpr std::size_t kCacheLine = 64;
    const auto* bytes = reinterpret_cast<const std::byte*>(&slab_[slot]);
    for (std::size_t at = 0; at < sizeof(Request); at += kCacheLine) __builtin_prefetch(bytes + at);
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
