#include "tools/bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

namespace shortq::bench {

double Metric::median() const {
    if (samples.empty()) return 0;
    auto sorted = samples;
    std::ranges::sort(sorted);
    const std::size_t middle = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double Metric::min() const { return samples.empty() ? 0 : *std::ranges::min_element(samples); }
double Metric::max() const { return samples.empty() ? 0 : *std::ranges::max_element(samples); }

std::string as_table(const std::vector<Metric>& metrics) {
    std::string table =
        fmt::format("{:<46} {:>10} {:>10} {:>10}  {}\n", "", "median", "min", "max", "unit");
    for (const auto& m : metrics) {
        const int digits = m.median() < 100 ? 2 : 0;
        table += fmt::format("{:<46} {:>10.{}f} {:>10.{}f} {:>10.{}f}  {}\n", m.name, m.median(),
                             digits, m.min(), digits, m.max(), digits, m.unit);
    }
    return table;
}

std::string as_json(const std::vector<Metric>& metrics) {
    nlohmann::ordered_json report;
    report["cores"] = std::thread::hardware_concurrency();
    for (const auto& m : metrics) {
        report["metrics"].push_back({{"name", m.name},
                                     {"unit", m.unit},
                                     {"median", m.median()},
                                     {"min", m.min()},
                                     {"max", m.max()},
                                     {"samples", m.samples}});
    }
    return report.dump(2) + "\n";
}

}  // namespace shortq::bench
