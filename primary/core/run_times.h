// primary/core/run_times.h: how long a query will run, from how long those like it have run.
// Private to the core.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "primary/core/types.h"

namespace shortq::core {

// A moving mean and mean deviation per fingerprint, as TCP keeps them of round trips: Jacobson,
// "Congestion Avoidance and Control", SIGCOMM 1988, appendix A. The prediction is mean + 1
// deviation: TCP's 4 are for what must hardly ever be exceeded. Here that costs a recall, and an
// idle worker costs a round trip.
//
// Its size is fixed: fingerprints that meet in one place take it from each other.
class RunTimes {
public:
    RunTimes() : entries_(kEntries) {}

    // Pre: fingerprint is not 0.
    void learn(std::uint64_t fingerprint, Duration run_time);
    // None: nothing is known of it, or the fingerprint is 0.
    [[nodiscard]] std::optional<Duration> predict(std::uint64_t fingerprint) const;

private:
    static constexpr std::size_t kEntries = 4096;
    struct Entry {
        std::uint64_t fingerprint = 0;
        Duration mean{0};
        Duration deviation{0};
    };
    std::vector<Entry> entries_;
};

}  // namespace shortq::core
