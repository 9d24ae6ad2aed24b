// tools/cli/latency.h: what --repeat reports about the time that requests took.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace shortq::cli {

class Latencies {
public:
    using Duration = std::chrono::steady_clock::duration;

    void add(Duration latency) { all_.push_back(latency); }

    // "n=100 errors=0 p50_ms=1.20 p90_ms=... p99_ms=... max_ms=... per_second=812". Nearest rank.
    [[nodiscard]] std::string summary(std::size_t errors, Duration elapsed) const;

private:
    std::vector<Duration> all_;
};

}  // namespace shortq::cli
