// tools/bench/load.h: clients that always have a number of requests under way, and what they get.
#pragma once

#include <chrono>
#include <string>

#include "tools/bench/target.h"

namespace shortq::bench {

struct Load {
    unsigned clients = 1;  // Each a thread with a connection of its own.
    unsigned depth = 64;   // Requests that each has under way.
    std::string payload;
    std::chrono::milliseconds warm_up{100};
    std::chrono::milliseconds measured{400};
};

struct Achieved {
    double per_second = 0;  // Replies to all clients.
    double p50_us = 0;      // From send to reply; of loads of depth 1 only.
    double p99_us = 0;
};

// Connects the clients, keeps them busy, and takes all replies before they leave.
// Errors: the target's.
[[nodiscard]] Result<Achieved> measure(Target& target, const Load& load);

}  // namespace shortq::bench
