// tools/bench/policy_model.h: a trace through the dispatcher core in virtual time: what becomes of
// it does not depend on the machine.
#pragma once

#include <chrono>
#include <vector>

#include "primary/core/types.h"
#include "tools/bench/trace.h"

namespace shortq::bench {

struct PolicyModelOptions {
    unsigned workers = 4;
    std::uint32_t window = core::kWindowAuto;
    core::Policy policy = core::Policy::kShortestQueue;
    bool per_class = false;  // Short requests and long ones have fingerprints of their own.
    std::chrono::nanoseconds hop = std::chrono::microseconds(50);  // Each message, each way.
};

// How long each request stays, if only messages and services take time. Workers take what they are
// given in order, and give back what they have not begun when they are asked to.
[[nodiscard]] std::vector<std::chrono::nanoseconds> modelled_stays(
    const Trace& trace, const PolicyModelOptions& options);

}  // namespace shortq::bench
