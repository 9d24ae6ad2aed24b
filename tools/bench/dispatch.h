// tools/bench/dispatch.h: what dispatching costs: shortq with workers that echo, against zmq_proxy
// in front of processes that do, and against such processes without anything between.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "proto/error.h"
#include "tools/bench/progress.h"
#include "tools/bench/report.h"
#include "tools/bench/rounds.h"
#include "tools/bench/target.h"

namespace shortq::bench {

// One combination that is measured on all targets.
struct DispatchCell {
    unsigned clients = 1;
    unsigned depth = 64;  // Requests that each client has under way.
    Site site;
    std::size_t payload_bytes = 32;

    [[nodiscard]] std::string name() const;                  // "dispatch.1x64.w4.32B.ipc"
    [[nodiscard]] std::vector<std::string> figures() const;  // The names of what it gives.
};

[[nodiscard]] std::vector<DispatchCell> all_dispatch_cells();    // Every combination.
[[nodiscard]] std::vector<DispatchCell> usual_dispatch_cells();  // What tells most.
[[nodiscard]] std::vector<DispatchCell> few_dispatch_cells();    // In less than a minute.

struct DispatchOptions {
    std::string window;  // The primary's --window; empty: its own default.
    Rounds rounds;
    std::chrono::milliseconds measured{400};  // Of each target in each round, when it is warm.
};

// Measures the cells; those of the same site, next to each other, share their processes.
[[nodiscard]] Result<std::vector<Metric>> run_dispatch(const std::vector<DispatchCell>& cells,
                                                       const DispatchOptions& options,
                                                       Progress& progress);

}  // namespace shortq::bench
