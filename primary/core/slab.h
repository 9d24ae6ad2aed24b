// primary/core/slab.h: a table of items addressed by ids that are never reused: slot in the low 32
// bits, the slot's life in the high ones. Private to the core.
#pragma once

#include <cstdint>
#include <vector>

#include "primary/core/links.h"
#include "primary/core/types.h"

namespace shortq::core {

// `T` has a member `id` of type `Id`, which is 0 in a free slot. References into the table live
// until the next take(). Memory is kept: a table that has reached its size allocates no more.
template <class T, class Id>
class Slab {
public:
    [[nodiscard]] std::uint32_t take() {
        if (free_.empty()) grow();
        const auto slot = free_.back();
        free_.pop_back();
        items_[slot] = T{};
        items_[slot].id = Id{(std::uint64_t{lives_[slot]} << 32) | slot};
        ++used_;
        return slot;
    }
    void give(std::uint32_t slot) {
        items_[slot].id = Id{};
        ++lives_[slot];
        free_.push_back(slot);
        --used_;
    }
    // kNone: a stale id.
    [[nodiscard]] std::uint32_t find(Id id) const {
        const auto slot = slot_of(id);
        if (id == Id{} || slot >= items_.size() || items_[slot].id != id) return kNone;
        return slot;
    }
    [[nodiscard]] bool live(std::uint32_t slot) const { return items_[slot].id != Id{}; }
    [[nodiscard]] T& operator[](std::uint32_t slot) { return items_[slot]; }
    [[nodiscard]] const T& operator[](std::uint32_t slot) const { return items_[slot]; }
    // Slots, free ones included.
    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(items_.size()); }
    [[nodiscard]] std::uint32_t used() const { return used_; }

private:
    void grow() {
        const auto slot = static_cast<std::uint32_t>(items_.size());
        items_.emplace_back();
        lives_.push_back(1);
        free_.reserve(items_.capacity());  // So that give() never allocates.
        free_.push_back(slot);
    }

    std::vector<T> items_;
    std::vector<std::uint32_t> lives_;
    std::vector<std::uint32_t> free_;
    std::uint32_t used_ = 0;
};

}  // namespace shortq::core
