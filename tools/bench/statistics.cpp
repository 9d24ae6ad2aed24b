#include "tools/bench/statistics.h"

#include <algorithm>
#include <cmath>

namespace shortq::bench {

double percentile(std::span<const double> sorted, double share) {
    if (sorted.empty()) return 0;
    // The rank of the nearest-rank method, which counts from 1.
    const auto rank = std::ceil(share * static_cast<double>(sorted.size()));
    const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
    return sorted[std::min(index, sorted.size() - 1)];
}

double median(std::vector<double> samples) {
    if (samples.empty()) return 0;
    std::ranges::sort(samples);
    const std::size_t middle = samples.size() / 2;
    return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

std::vector<double> ratios(std::span<const double> samples, std::span<const double> counterparts) {
    std::vector<double> shares;
    const auto count = std::min(samples.size(), counterparts.size());
    shares.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        shares.push_back(counterparts[i] == 0 ? 0 : samples[i] / counterparts[i]);
    return shares;
}

}  // namespace shortq::bench
