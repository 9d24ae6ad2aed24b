// tools/sim/ground.h: what all simulated parties stand on: one clock, one seed, one scenario, and
// one list of the promises that were broken.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tools/sim/dice.h"
#include "tools/sim/scenario.h"
#include "tools/sim/timeline.h"

namespace shortq::sim {

struct Ground {
    explicit Ground(std::uint64_t seed) : dice(seed), scenario(draw_scenario(dice)) {}

    Dice dice;
    Scenario scenario;
    Timeline time;
    bool healed = false;  // Phase 2: no fault happens any more.
    std::vector<std::string> violations;

    [[nodiscard]] core::Time now() const { return time.now(); }
    [[nodiscard]] bool fault(double probability) { return !healed && dice.chance(probability); }
    [[nodiscard]] core::Duration latency() {
        const bool slow = fault(scenario.network_hiccup);
        if (slow) return dice.milliseconds(1, 300);
        return core::Duration{static_cast<std::int64_t>(dice.between(20'000, 400'000))};
    }
    void fail(std::string what) {
        constexpr std::size_t kEnough = 20;
        if (violations.size() < kEnough) violations.push_back(std::move(what));
    }
};

// One direction of a connection. While it lives nothing is lost and everything arrives in order; on
// different connections, in any order.
class Link {
public:
    [[nodiscard]] core::Time arrival(Ground& ground) {
        latest_ = std::max(latest_, std::max(ground.now(), silent_until_) + ground.latency());
        return latest_;
    }
    // The network between them is down; what is sent meanwhile comes later.
    void silence(core::Time until) { silent_until_ = until; }

private:
    core::Time latest_{0};
    core::Time silent_until_{0};
};

}  // namespace shortq::sim
