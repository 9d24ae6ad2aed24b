// tools/sim/simulation.h: one run: the production core between simulated clients and workers, on a
// virtual clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shortq::sim {

struct Outcome {
    std::uint64_t steps = 0;
    std::uint64_t hash = 0;  // Of all events and actions: equal runs have equal hashes.
    std::uint64_t accepted = 0;
    std::uint64_t answered = 0;  // With results.
    std::vector<std::string> violations;
    std::vector<std::string> last;  // The last events and actions, if they were to be kept.
};

struct Manner {
    bool trace = false;      // Print every event and action.
    bool keep_last = false;  // Keep the last ones.
    // The core recounts itself from time to time, and aborts the process at a difference.
    bool own_checks = true;
};

// Phase 1 has the seed's workload and faults; phase 2 heals everything, demands that every request
// is answered and the core comes to rest, and stops it. Ends at the first violation. The manner
// changes nothing about the run. Threads: any number at once.
[[nodiscard]] Outcome simulate(std::uint64_t seed, const Manner& manner = {});

}  // namespace shortq::sim
