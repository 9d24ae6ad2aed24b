// primary/core/timer_heap.h: which timer is due next. One timer per (kind, slot), moved in place.
// Private to the core.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "primary/core/links.h"
#include "primary/core/types.h"

namespace shortq::core {

enum class TimerKind : std::uint8_t { kRequest, kClient, kWorker, kSeat, kGlobal, kOverrun };
inline constexpr std::size_t kTimerKinds = 6;

// A binary heap that knows where each timer sits in it. Ties break by kind and slot, so that a run
// can be replayed.
class TimerHeap {
public:
    struct Timer {
        Time when{0};
        TimerKind kind{};
        std::uint32_t slot = 0;
    };

    void set(TimerKind kind, std::uint32_t slot, Time when);
    void clear(TimerKind kind, std::uint32_t slot);  // Also when there is none.
    [[nodiscard]] bool empty() const { return heap_.empty(); }
    [[nodiscard]] const Timer& top() const { return heap_.front(); }
    [[nodiscard]] std::size_t size() const { return heap_.size(); }
    // None: not set.
    [[nodiscard]] std::optional<Time> when(TimerKind kind, std::uint32_t slot) const;
    [[nodiscard]] bool consistent() const;  // Heap order and positions; for checks.

private:
    [[nodiscard]] std::uint32_t position(TimerKind kind, std::uint32_t slot) const;
    [[nodiscard]] static bool before(const Timer& a, const Timer& b);
    void place(std::size_t at, const Timer& timer);
    void sift_up(std::size_t at, Timer timer);
    void sift_down(std::size_t at, Timer timer);

    std::vector<Timer> heap_;
    std::array<std::vector<std::uint32_t>, kTimerKinds> positions_;  // kNone: not set.
};

}  // namespace shortq::core
