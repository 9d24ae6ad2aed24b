// tools/bench/statistics.h: what is said of many samples.
#pragma once

#include <span>
#include <vector>

namespace shortq::bench {

// The value below which a share of the samples lies, the nearest one that there is; 0 of none.
// Pre: sorted; share in [0, 1].
[[nodiscard]] double percentile(std::span<const double> sorted, double share);

// The middle one, or what is between the two in the middle; 0 of none.
[[nodiscard]] double median(std::vector<double> samples);

// Each one divided by its counterpart, as far as there are both. A counterpart of 0 gives 0: a
// baseline that was not measured is worth no ratio, and JSON knows no infinity.
[[nodiscard]] std::vector<double> ratios(std::span<const double> samples,
                                         std::span<const double> counterparts);

}  // namespace shortq::bench
