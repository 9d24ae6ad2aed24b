// tools/bench/throughput.h: how many requests a second a target answers with a number of them
// always under way.
#pragma once

#include <chrono>

#include "tools/bench/target.h"

namespace shortq::bench {

struct Load {
    unsigned outstanding = 64;
    std::chrono::milliseconds warm_up{200};
    std::chrono::milliseconds measured{1000};
};

// Replies per second. All requests are answered on return. Errors: the target's.
[[nodiscard]] Result<double> throughput(Target& target, const Load& load);

}  // namespace shortq::bench
