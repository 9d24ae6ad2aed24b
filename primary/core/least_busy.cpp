// primary/core/least_busy.cpp: the buckets' moves and the three policies.
#include "primary/core/least_busy.h"

#include <algorithm>

namespace shortq::core {

void LeastBusy::add(std::uint32_t worker, std::uint32_t pending) {
    if (worker >= nodes_.size()) nodes_.resize(std::size_t{worker} + 1);
    if (pending >= buckets_.size()) buckets_.resize(std::size_t{pending} + 1);
    nodes_[worker].bucket = pending;
    nodes_[worker].listed = true;
    list_push_back(buckets_[pending], worker, links());
    lowest_ = std::min<std::size_t>(lowest_, pending);
}

void LeastBusy::remove(std::uint32_t worker) {
    if (!has(worker)) return;
    nodes_[worker].listed = false;
    list_remove(buckets_[nodes_[worker].bucket], worker, links());
}

void LeastBusy::update(std::uint32_t worker, std::uint32_t pending) {
    if (!has(worker) || nodes_[worker].bucket == pending) return;
    remove(worker);
    add(worker, pending);
}

std::uint32_t LeastBusy::choose() {
    switch (policy_) {
        case Policy::kShortestQueue:
            return shortest();
        case Policy::kRoundRobin:
            return next_in_turn();
        case Policy::kRandom:
            return any();
    }
    return kNone;
}

std::uint32_t LeastBusy::shortest() {
    while (lowest_ < buckets_.size() && buckets_[lowest_].empty()) ++lowest_;
    if (lowest_ == buckets_.size()) return kNone;
    const auto worker = buckets_[lowest_].head;
    return has_room(nodes_[worker]) ? worker : kNone;
}

std::uint32_t LeastBusy::next_in_turn() {
    const auto count = static_cast<std::uint32_t>(nodes_.size());
    for (std::uint32_t step = 1; step <= count; ++step) {
        const auto worker = (last_turn_ + step) % count;
        if (!has_room(nodes_[worker])) continue;
        last_turn_ = worker;
        return worker;
    }
    return kNone;
}

std::uint32_t LeastBusy::any() {
    std::uint64_t candidates = 0;
    for (const auto& node : nodes_) candidates += has_room(node) ? 1 : 0;
    if (candidates == 0) return kNone;
    auto left = random_.below(candidates);
    for (std::uint32_t worker = 0; worker < nodes_.size(); ++worker) {
        if (has_room(nodes_[worker]) && left-- == 0) return worker;
    }
    return kNone;
}

}  // namespace shortq::core
