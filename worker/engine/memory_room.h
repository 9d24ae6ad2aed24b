// worker/engine/memory_room.h: whether loaded data leaves the queries room in memory, and what to
// say to people if it does not. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "proto/error.h"

namespace shortq::engine {

// Room for a worker's queries below which it is of little use. With this much DuckDB 1.5 sorts,
// joins and counts the distinct values of a million rows, spilling; with 8 MiB and one thread it
// fails at two of them, and each more thread wants buffers of its own.
[[nodiscard]] constexpr std::uint64_t query_bytes_min(unsigned threads) {
    constexpr std::uint64_t kBytes = std::uint64_t{8} << 20;
    constexpr std::uint64_t kBytesPerThread = std::uint64_t{4} << 20;
    return kBytes + kBytesPerThread * threads;
}

// Whether workers that share `base` bytes of data have room for queries within `budget`, each with
// so many engine threads; a budget of 0: no limit; no base: nothing to say. Errors: kBadRequest,
// with the budget that would do.
[[nodiscard]] Result<void> check_shared_room(std::uint64_t budget, std::uint64_t base,
                                             std::uint32_t workers, unsigned threads);

// The same for one of `loads` that have each loaded `base` bytes for themselves within `limit`.
[[nodiscard]] Result<void> check_own_room(std::uint64_t limit, std::uint64_t base, unsigned threads,
                                          unsigned loads);

// That data does not fit at all. `needed`: 0, not known. `reason`: the engine's own words.
[[nodiscard]] std::string does_not_fit_text(std::uint64_t needed, std::uint64_t limit,
                                            const std::string& reason);

}  // namespace shortq::engine
