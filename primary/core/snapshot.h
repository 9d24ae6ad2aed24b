// primary/core/snapshot.h: the dispatcher's state at one moment, for the views, and later for
// metrics and a console. One type for all of them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "primary/core/types.h"

namespace shortq::core {

enum class WorkerState : std::uint8_t {
    kEmpty,     // No process; waits for its backoff to end.
    kLoading,   // Spawned, not ready.
    kReady,     // Answers.
    kDraining,  // Gets nothing new; leaves when its pending queue is empty.
    kStopping,  // Told to leave, or killed; its exit is awaited.
};

struct WorkerSnapshot {
    WorkerId worker{};
    std::uint32_t seat = 0;
    std::uint32_t generation = 0;
    WorkerState state = WorkerState::kEmpty;
    std::uint32_t pending = 0;
    RequestId running{};       // Head of its pending queue; 0 if none.
    std::uint64_t served = 0;  // Of this seat, over all its processes, as are the next two.
    std::uint64_t failed = 0;  // Replies that were errors.
    std::uint64_t restarts = 0;
    Time started{0};  // Of this process.
};

enum class RequestState : std::uint8_t { kQueued, kPending, kRunning, kAbandoned };

struct RequestSnapshot {
    RequestId request{};
    std::uint64_t serial = 0;
    ClientId client{};
    std::uint64_t client_request = 0;
    Mode mode = Mode::kDeferred;
    Priority priority = Priority::kNormal;
    RequestState state = RequestState::kQueued;
    std::uint32_t seat = 0;  // 0: none, or the primary's own engine.
    Duration age{0};
    Duration ran{0};
};

struct ClientSnapshot {
    ClientId client{};
    std::uint32_t pending = 0;
    std::uint64_t served = 0;
    std::uint64_t bytes = 0;
    Time since{0};
};

struct GenerationSnapshot {
    std::uint32_t generation = 0;
    std::uint32_t workers_ready = 0;
    std::uint32_t workers_loading = 0;
    bool serving = false;
    Time started{0};
};

// Counters since the start, and gauges now. All are recounted by the simulator's checkers.
struct Totals {
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;
    std::uint64_t answered = 0;  // Final results.
    std::uint64_t failed = 0;    // Final errors of accepted requests.
    std::uint64_t dropped = 0;   // Their client had gone.
    std::uint64_t retried = 0;
    std::uint64_t queued = 0;      // Gauge: waiting centrally.
    std::uint64_t at_workers = 0;  // Gauge: given and unanswered, the sync executor included.
    std::uint64_t abandoned = 0;   // Gauge: answered or dropped, but still at a worker.
    std::uint64_t bytes = 0;       // Gauge: of all unanswered requests.
};

struct Snapshot {
    Time now{0};
    bool draining = false;
    std::uint32_t serving_generation = 0;
    Totals totals;
    std::vector<WorkerSnapshot> workers;
    std::vector<RequestSnapshot> requests;
    std::vector<ClientSnapshot> clients;
    std::vector<GenerationSnapshot> generations;
};

}  // namespace shortq::core
