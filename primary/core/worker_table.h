// primary/core/worker_table.h: worker processes, the seats they sit on, and the generations the
// seats belong to. Data only; the rules are in dispatcher_workers.cpp and
// dispatcher_generations.cpp. Private to the core.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "primary/core/links.h"
#include "primary/core/slab.h"
#include "primary/core/snapshot.h"
#include "primary/core/types.h"

namespace shortq::core {

inline constexpr std::uint32_t kSyncSlot = slot_of(kSyncWorker);

//  SpawnWorker --> kLoading --WorkerReady--> kReady --drain, new generation--> kDraining
//                     |                        |                                   | empty:
//                     | failed, too slow       | silent, sick, overdue             v StopWorker
//                     '---- KillWorker --------'----- KillWorker ------------> kStopping
//                                                WorkerExited, in any state --> slot is free
struct Worker {
    WorkerId id{};
    WorkerState state = WorkerState::kLoading;
    std::uint32_t seat = 0;
    std::uint32_t generation = 0;
    List pending;  // Given and not answered, abandoned ones included; the head is the running one.
    Time started{0};
    Time ready_at{0};
    Time last_heard{0};
    Time head_since{0};     // When the head became the head.
    Time drain_until{0};    // kDraining: what it then still has is interrupted, then it is killed.
    Time stop_at{0};        // kStopping: killed then, if it was only asked to leave.
    Time held_until{0};     // Gets nothing before (a streak of failures). Zero: not held.
    Duration predicted{0};  // Of what is pending, as far as it could be predicted.
    std::uint32_t unpredicted = 0;  // How many of these could not.
    bool overrun = false;           // The head takes longer than predicted: gets nothing.
    std::uint32_t failures = 0;     // In a row.
    bool failing = false;           // The streak is long enough for holding off.
    bool able = false;              // Counted in able_workers_.
    bool was_ready = false;
    bool load_failed = false;
    bool killed = false;       // KillWorker has been sent.
    bool planned = false;      // Its exit is wanted: no death, no failed load.
    bool stalled = false;      // The reader of what it runs is behind. Gets nothing.
    bool worn_out = false;     // Gets nothing more; stopped when it holds nothing.
    bool giving_back = false;  // Drained for too long: what it interrupts is tried elsewhere.
};

struct Seat {
    std::uint32_t worker_slot = kNone;  // kNone: empty.
    std::uint32_t quick_deaths = 0;     // In a row.
};

struct Generation {
    std::uint32_t number = 0;
    Time started{0};
    std::vector<Seat> seats;    // Seat number - 1.
    std::uint32_t workers = 0;  // Processes, stopping ones included.
    std::uint32_t ready = 0;    // Workers in kReady.
};

// Of a seat number, over all its processes.
struct SeatCounters {
    std::uint64_t served = 0;
    std::uint64_t failed = 0;
    std::uint64_t restarts = 0;
};

}  // namespace shortq::core
