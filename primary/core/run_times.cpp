// primary/core/run_times.cpp: the moving means.
#include "primary/core/run_times.h"

namespace shortq::core {

void RunTimes::learn(std::uint64_t fingerprint, Duration run_time) {
    auto& entry = entries_[fingerprint % kEntries];
    if (entry.fingerprint != fingerprint) {
        entry = {.fingerprint = fingerprint, .mean = run_time, .deviation = run_time / 2};
        return;
    }
    const auto error = run_time - entry.mean;
    entry.mean += error / 8;
    entry.deviation += (abs(error) - entry.deviation) / 4;
}

std::optional<Duration> RunTimes::predict(std::uint64_t fingerprint) const {
    const auto& entry = entries_[fingerprint % kEntries];
    if (fingerprint == 0 || entry.fingerprint != fingerprint) return std::nullopt;
    return entry.mean + entry.deviation;
}

}  // namespace shortq::core
