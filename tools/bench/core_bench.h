// tools/bench/core_bench.h: what a request costs in the dispatcher core: time and allocations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/error.h"
#include "tools/bench/commands.h"
#include "tools/bench/core_load.h"

namespace shortq::bench {

struct CoreBenchOptions {
    unsigned rounds = 5;
    std::vector<std::uint32_t> workers{1, 4, 16, 64, 256, 1024};
    std::vector<std::uint32_t> queued{0, 1000, 1'000'000};
    std::uint32_t requests = 200'000;  // That are measured, of each load in each round.
};

// "core.w16.q0", "core.w16.q0.window1": the window is named where it is not the default.
[[nodiscard]] std::string name_of(const CoreLoadOptions& load);

// Every combination of workers and queued requests, with a window of time and with a window of one.
// All are compared with 16 workers and nothing queued, in the same round and with the same window.
[[nodiscard]] Result<std::vector<Metric>> run_core_bench(const CoreBenchOptions& options,
                                                         const Setting& setting,
                                                         Progress& progress);

}  // namespace shortq::bench
