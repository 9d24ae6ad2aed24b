// tools/sim/seeds.h: many runs, on all cores.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/sim/simulation.h"

namespace shortq::sim {

struct Range {
    std::uint64_t first = 1;
    std::uint64_t last = 1;
    [[nodiscard]] std::uint64_t count() const { return last - first + 1; }
};

// "7" or "1..100".
[[nodiscard]] std::optional<Range> range_of(const std::string& text);

struct Tally {
    std::uint64_t seeds = 0;
    std::uint64_t events = 0;
    std::uint64_t hash = 0;  // Of all runs; the order in which they ended does not matter.
    // The lowest seed that broke a promise; later ones may not have been run.
    std::optional<std::uint64_t> broken;
};

struct Campaign {
    Range range;
    Manner manner;
    bool twice = false;  // Each seed again: the hashes must be equal.
    unsigned threads = 1;
    // Called every few seconds, from one thread at a time, and stops the campaign by false.
    std::function<bool(const Tally&)> progress = {};
};

// Stops after the first broken seed. Threads: makes its own.
[[nodiscard]] Tally run(const Campaign& campaign);

// The seed that the calling thread simulates, for handlers of fatal signals.
[[nodiscard]] std::uint64_t seed_under_way() noexcept;

}  // namespace shortq::sim
