// tools/bench/allocations.h: how often this program has allocated.
#pragma once

#include <cstdint>

namespace shortq::bench {

// By `operator new`, in this thread, since it began. Only a program that has allocations.cpp
// counts.
[[nodiscard]] std::uint64_t allocations() noexcept;

}  // namespace shortq::bench
