// tools/bench/trace.h: requests that arrive when they arrive, whatever becomes of those before
// them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace shortq::bench {

// How service times are spread. The mean of all is set apart from this.
enum class Mix : std::uint8_t {
    kOneIn20,      // 95 % take 1, 5 % take 100.
    kOneIn200,     // 99.5 % take 1, 0.5 % take 100.
    kExponential,  // Standard deviation = mean.
    kLognormal,    // Squared coefficient of variation 8.5, as long-tailed as measured query logs.
};
[[nodiscard]] std::string_view name_of(Mix mix);  // "95-5", "99.5-0.5", "exponential", "lognormal"

struct TraceRequest {
    std::chrono::nanoseconds arrival{0};  // Since the trace's start.
    std::chrono::nanoseconds service{0};
    bool is_short = true;  // One that takes 1; of the two spread smoothly: less than the mean.
};
using Trace = std::vector<TraceRequest>;

struct TraceOptions {
    Mix mix = Mix::kOneIn20;
    std::chrono::nanoseconds mean = std::chrono::milliseconds(10);
    unsigned servers = 4;
    double load = 0.8;  // Of the servers' time, on average.
    std::chrono::nanoseconds length = std::chrono::seconds(5);
    std::uint64_t seed = 1;
};

// Poisson arrivals, in order. The same options give the same trace.
[[nodiscard]] Trace make_trace(const TraceOptions& options);

// How long each request of the trace stays, from its arrival to its end, with so many servers, one
// queue before all of them, first come first served, and nothing that costs time but the service.
[[nodiscard]] std::vector<std::chrono::nanoseconds> ideal_stays(const Trace& trace,
                                                                unsigned servers);

}  // namespace shortq::bench
