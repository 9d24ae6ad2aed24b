// tools/sim/scenario.h: what one seed draws: the core's options, the workload and the faults.
#pragma once

#include <cstdint>

#include "primary/core/types.h"
#include "tools/sim/dice.h"

namespace shortq::sim {

// Probabilities are per request, or per worker process, as the name says.
struct Scenario {
    core::Options options;
    core::Duration length{0};  // Of the time with faults.
    std::uint32_t requests = 0;
    std::uint32_t clients = 0;
    core::Duration service{0};  // Mean run time.
    bool bimodal = false;       // One in ten takes ten times as long.
    std::uint32_t fingerprints =
        0;  // Kinds of queries, each five times as short as the one before.
    double deadline = 0;
    double cancel = 0;
    double sync = 0;
    double streaming = 0;
    double min_generation = 0;
    double slow_reader = 0;         // Per piece: takes a while.
    double stopped_reader = 0;      // Per request: takes nothing of it, ever.
    double deaf_client = 0;         // Per client: does not read its connection.
    std::uint64_t piece_bytes = 0;  // At most.
    double error = 0;
    double poison = 0;
    double deaf = 0;            // Ignores interrupts.
    double hang = 0;            // Only together with a deadline.
    double burst = 0;           // The next request comes at once.
    double network_hiccup = 0;  // Per message: takes long, and all behind it.
    double client_dies = 0;
    double client_leaves = 0;    // With a word.
    double kdb_client = 0;       // Per client: behind the in-order door, without heartbeats.
    double client_cut = 0;       // Its connection breaks; it connects again.
    double client_silent = 0;    // The network between, for a while.
    double worker_crash = 0;     // Per request, not the request's fault.
    double worker_silent = 0;    // Per request.
    double worker_worn_out = 0;  // After a reply.
    double ghosts = 0;           // Messages of workers that are gone, and replies twice.
    double slow_load = 0;
    bool start_fails = false;  // Nobody can load the first generation.
    double load_failure = 0;   // Later.
    double load_hang = 0;      // Later.
    double stop_hang = 0;      // Does not leave when asked to.
    double sick = 0;           // Per request.
    double unreachable = 0;    // Per request: a send fails, and the worker dies.
    std::uint32_t reloads = 0;
    std::uint32_t drains = 0;
    std::uint32_t kills = 0;
    std::uint32_t pauses = 0;  // Of the primary itself.
    bool bad_worker = false;   // Seat 1 fails everything at once.
};

[[nodiscard]] Scenario draw_scenario(Dice& dice);

}  // namespace shortq::sim
