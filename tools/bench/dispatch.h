// tools/bench/dispatch.h: what dispatching costs: shortq against zmq_proxy with tiny requests.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "proto/error.h"
#include "tools/bench/report.h"

namespace shortq::bench {

// One combination that is measured on both targets.
struct DispatchCell {
    unsigned outstanding = 64;  // Of one client.
    unsigned workers = 4;
    unsigned payload_bytes = 32;

    [[nodiscard]] std::string name() const;  // "1x64.w4.32B.tcp"
};

struct DispatchOptions {
    unsigned rounds = 7;
    std::chrono::milliseconds warm_up{300};
    std::chrono::milliseconds measured{1000};
};

// Measures the targets in turn, round by round, so that a busy moment of the machine hurts both.
// Three figures: each one's throughput, and the share of zmq_proxy's that shortq reaches.
[[nodiscard]] Result<std::vector<Metric>> run_dispatch(const DispatchCell& cell,
                                                       const DispatchOptions& options);

}  // namespace shortq::bench
