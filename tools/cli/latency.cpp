#include "tools/cli/latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shortq::cli {
namespace {

double milliseconds(Latencies::Duration duration) {
    return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace

std::string Latencies::summary(std::size_t errors, Duration elapsed) const {
    auto sorted = all_;
    std::ranges::sort(sorted);
    const auto quantile = [&](double share) {
        if (sorted.empty()) return 0.0;
        const auto rank = std::ceil(share * static_cast<double>(sorted.size()));
        return milliseconds(sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1]);
    };
    const double seconds = std::chrono::duration<double>(elapsed).count();
    const double rate = seconds > 0 ? static_cast<double>(sorted.size()) / seconds : 0;
    return fmt::format(
        "n={} errors={} p50_ms={:.2f} p90_ms={:.2f} p99_ms={:.2f} max_ms={:.2f} per_second={:.0f}",
        sorted.size(), errors, quantile(0.5), quantile(0.9), quantile(0.99), quantile(1.0), rate);
}

}  // namespace shortq::cli
