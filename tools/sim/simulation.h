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
    std::uint64_t answered = 0;
    std::vector<std::string> violations;
    std::vector<std::string> last;  // The last events and actions, for a person to read.
};

// Phase 1 has the seed's workload and faults; phase 2 heals everything and demands that every
// request is answered and the core stops when told so. `trace`: prints every event and action.
[[nodiscard]] Outcome simulate(std::uint64_t seed, bool trace = false);

}  // namespace shortq::sim
