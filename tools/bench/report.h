// tools/bench/report.h: figures as a table for people and as JSON for programs.
#pragma once

#include <string>
#include <vector>

namespace shortq::bench {

// One figure, measured in several rounds, and what it is compared with, measured in the same ones.
// A ratio is taken in each round, so that a busy moment of the machine hurts both of its sides; the
// median of them is what counts, and the least and the greatest say how far to trust it.
struct Metric {
    std::string name;                        // "dispatch.1x64.w4.32B.ipc.throughput"
    std::string unit;                        // Of both sides: "requests/s".
    std::vector<double> samples;             // One a round.
    std::string against;                     // "zmq_proxy"
    std::vector<double> baseline_samples{};  // Of the same rounds.

    [[nodiscard]] double value() const;  // Medians of either side.
    [[nodiscard]] double baseline() const;
    [[nodiscard]] double ratio() const;  // Of the rounds' ratios: the median,
    [[nodiscard]] double min() const;    // the least,
    [[nodiscard]] double max() const;    // and the greatest.
};

[[nodiscard]] std::string as_table(const std::vector<Metric>& metrics);

// An array with an object for each: name, ratio, min, max, value, unit, baseline, against.
[[nodiscard]] std::string as_json(const std::vector<Metric>& metrics);

}  // namespace shortq::bench
