// tools/bench/policy_figures.cpp: what is told of a policy, and under which names.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tools/bench/policy.h"
#include "tools/bench/statistics.h"

namespace shortq::bench {
namespace {

constexpr std::array<std::pair<const char*, double>, 3> kPercentiles{
    {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}}};

}  // namespace

const std::vector<PolicyVariant>& policy_variants() {
    static const std::vector<PolicyVariant> variants{{"auto", "auto", "shortest-queue", true},
                                                     {"auto-one", "auto", "shortest-queue"},
                                                     {"window1", "1", "shortest-queue"},
                                                     {"window2", "2", "shortest-queue"},
                                                     {"window0", "0", "shortest-queue"},
                                                     {"round-robin", "0", "round-robin"},
                                                     {"random", "0", "random"}};
    return variants;
}

std::string name_of(const PolicyCell& cell, const std::string& variant) {
    return fmt::format("policy.{}.load{}.{}.w{}.mean{}ms", name_of(cell.mix), cell.load, variant,
                       cell.workers, cell.mean_ms);
}

std::vector<PolicyFigure> policy_figures(const PolicyCell& cell) {
    std::vector<PolicyFigure> figures;
    for (const auto& variant : policy_variants()) {
        const auto prefix = name_of(cell, variant.name);
        for (const bool short_only : {false, true}) {
            for (const auto& [percentile, share] : kPercentiles) {
                figures.push_back({prefix + (short_only ? ".short." : ".") + percentile,
                                   variant.name, "", short_only, share});
            }
        }
        if (variant.window != "auto") continue;
        for (const std::string against : {"window1", "window0"}) {
            figures.push_back({prefix + ".p99.to-" + against, variant.name, against, false, 0.99});
        }
    }
    return figures;
}

double value_of(const PolicyFigure& figure, const Trace& trace,
                const std::vector<std::chrono::nanoseconds>& stays) {
    std::vector<double> wanted;
    wanted.reserve(trace.size());
    for (std::size_t i = 0; i < trace.size(); ++i) {
        if (figure.short_only && !trace[i].is_short) continue;
        wanted.push_back(std::chrono::duration<double, std::milli>(stays[i]).count());
    }
    std::ranges::sort(wanted);
    return percentile(wanted, figure.share);
}

}  // namespace shortq::bench
