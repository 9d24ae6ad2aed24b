// tools/sim/world.h: a run: the parties, the faults from outside, and the two phases.
#pragma once

#include <functional>

#include "tools/sim/clients.h"
#include "tools/sim/ground.h"
#include "tools/sim/primary.h"
#include "tools/sim/simulation.h"
#include "tools/sim/workers.h"

namespace shortq::sim {

class World {
public:
    World(std::uint64_t seed, Record record, bool own_checks);
    [[nodiscard]] Outcome run();

private:
    void run_until(core::Time end, const std::function<bool()>& done);
    void plan_faults();
    void come_to_rest();
    void stop();

    Ground ground_;
    Primary primary_;
    Clients clients_;
    Workers workers_;
};

}  // namespace shortq::sim
