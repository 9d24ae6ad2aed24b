// proto/board.h: the memory page that the primary shares with one worker through an inherited
// descriptor (a sealed memfd): the worker's token on the way down, what it is running on the way
// up. The page outlives the worker, so the primary knows which request a crash belongs to even when
// the crash took the worker's last messages with it. PROTOCOL.md#board.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "proto/limits.h"

namespace shortq::proto {

inline constexpr std::uint32_t kBoardMagic = 0x53515742;  // "SQWB"

// Written by the primary before the worker starts, then only through the atomics by the worker's
// query thread. Both sides are the same build.
struct Board {
    std::uint32_t magic = kBoardMagic;
    std::uint32_t primary_pid = 0;  // A worker whose parent is another process is an orphan.
    std::array<std::byte, kTokenBytes> token{};
    std::atomic<std::uint64_t> running{0};  // Request under way, set before the engine sees it.
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(Board) <= 4096);

}  // namespace shortq::proto
