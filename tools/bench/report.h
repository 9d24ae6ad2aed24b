// tools/bench/report.h: figures as a table for people and as JSON for programs.
#pragma once

#include <string>
#include <vector>

namespace shortq::bench {

// One figure, measured several times. The median is what counts; min and max say how far to
// trust it.
struct Metric {
    std::string name;  // "dispatch.1x64.w4.32B.tcp.throughput"
    std::string unit;  // "requests/s"
    std::vector<double> samples;

    [[nodiscard]] double median() const;
    [[nodiscard]] double min() const;
    [[nodiscard]] double max() const;
};

[[nodiscard]] std::string as_table(const std::vector<Metric>& metrics);
[[nodiscard]] std::string as_json(const std::vector<Metric>& metrics);

}  // namespace shortq::bench
