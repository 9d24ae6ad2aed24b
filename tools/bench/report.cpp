#include "tools/bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/bench/statistics.h"

namespace shortq::bench {
namespace {

// Four digits are more than any of these figures is good for.
std::string number(double value) {
    const auto size = std::abs(value);
    if (size >= 1000) return fmt::format("{:.0f}", value);
    return fmt::format("{:.{}f}", value, size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

}  // namespace

double Metric::value() const { return median(samples); }
double Metric::baseline() const { return median(baseline_samples); }
double Metric::ratio() const { return median(ratios(samples, baseline_samples)); }

double Metric::min() const {
    const auto all = ratios(samples, baseline_samples);
    return all.empty() ? 0 : *std::ranges::min_element(all);
}

double Metric::max() const {
    const auto all = ratios(samples, baseline_samples);
    return all.empty() ? 0 : *std::ranges::max_element(all);
}

std::string as_table(const std::vector<Metric>& metrics) {
    std::size_t name = 6;
    std::size_t unit = 4;
    for (const auto& m : metrics) {
        name = std::max(name, m.name.size());
        unit = std::max(unit, m.unit.size());
    }
    std::string table =
        fmt::format("{:<{}}  {:>7} {:>7} {:>7} {:>10} {:>10}  {:<{}}  {}\n", "figure", name,
                    "ratio", "min", "max", "value", "baseline", "unit", unit, "compared with");
    for (const auto& m : metrics) {
        table += fmt::format("{:<{}}  {:>7.3f} {:>7.3f} {:>7.3f} {:>10} {:>10}  {:<{}}  {}\n",
                             m.name, name, m.ratio(), m.min(), m.max(), number(m.value()),
                             number(m.baseline()), m.unit, unit, m.against);
    }
    return table;
}

std::string as_json(const std::vector<Metric>& metrics) {
    auto report = nlohmann::ordered_json::array();
    for (const auto& m : metrics) {
        report.push_back({{"name", m.name},
                          {"ratio", m.ratio()},
                          {"min", m.min()},
                          {"max", m.max()},
                          {"value", m.value()},
                          {"unit", m.unit},
                          {"baseline", m.baseline()},
                          {"against", m.against}});
    }
    return report.dump(2) + "\n";
}

}  // namespace shortq::bench
