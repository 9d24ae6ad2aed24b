// primary/core/timer_heap.cpp: the heap's moves.
#include "primary/core/timer_heap.h"

#include <tuple>

namespace shortq::core {

bool TimerHeap::before(const Timer& a, const Timer& b) {
    return std::tie(a.when, a.kind, a.slot) < std::tie(b.when, b.kind, b.slot);
}

std::uint32_t TimerHeap::position(TimerKind kind, std::uint32_t slot) const {
    const auto& positions = positions_[static_cast<std::size_t>(kind)];
    return slot < positions.size() ? positions[slot] : kNone;
}

std::optional<Time> TimerHeap::when(TimerKind kind, std::uint32_t slot) const {
    const auto at = position(kind, slot);
    if (at == kNone) return std::nullopt;
    return heap_[at].when;
}

void TimerHeap::place(std::size_t at, const Timer& timer) {
    heap_[at] = timer;
    positions_[static_cast<std::size_t>(timer.kind)][timer.slot] = static_cast<std::uint32_t>(at);
}

void TimerHeap::sift_up(std::size_t at, Timer timer) {
    while (at > 0) {
        const auto parent = (at - 1) / 2;
        if (!before(timer, heap_[parent])) break;
        place(at, heap_[parent]);
        at = parent;
    }
    place(at, timer);
}

void TimerHeap::sift_down(std::size_t at, Timer timer) {
    for (;;) {
        auto child = 2 * at + 1;
        if (child >= heap_.size()) break;
        if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
        if (!before(heap_[child], timer)) break;
        place(at, heap_[child]);
        at = child;
    }
    place(at, timer);
}

void TimerHeap::set(TimerKind kind, std::uint32_t slot, Time when) {
    auto& positions = positions_[static_cast<std::size_t>(kind)];
    if (slot >= positions.size()) positions.resize(std::size_t{slot} + 1, kNone);
    const Timer timer{.when = when, .kind = kind, .slot = slot};
    auto at = positions[slot];
    if (at == kNone) {
        heap_.push_back(timer);
        sift_up(heap_.size() - 1, timer);
    } else if (before(timer, heap_[at])) {
        sift_up(at, timer);
    } else {
        sift_down(at, timer);
    }
}

void TimerHeap::clear(TimerKind kind, std::uint32_t slot) {
    const auto at = position(kind, slot);
    if (at == kNone) return;
    positions_[static_cast<std::size_t>(kind)][slot] = kNone;
    const Timer last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    if (at > 0 && before(last, heap_[(at - std::size_t{1}) / 2])) {
        sift_up(at, last);
    } else {
        sift_down(at, last);
    }
}

bool TimerHeap::consistent() const {
    for (std::size_t at = 0; at < heap_.size(); ++at) {
        if (position(heap_[at].kind, heap_[at].slot) != at) return false;
        if (at > 0 && before(heap_[at], heap_[(at - 1) / 2])) return false;
    }
    std::size_t set = 0;
    for (const auto& positions : positions_) {
        for (const auto at : positions) set += at == kNone ? 0 : 1;
    }
    return set == heap_.size();
}

}  // namespace shortq::core
