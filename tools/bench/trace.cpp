// tools/bench/trace.cpp: the dice, and the queue that nobody can beat without knowing the future.
#include "tools/bench/trace.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <random>

namespace shortq::bench {
namespace {

using std::chrono::nanoseconds;

constexpr double kLong = 100;              // Of the two mixes of short and long ones.
constexpr double kSquaredVariation = 8.5;  // Of the lognormal one.

double share_of_long(Mix mix) { return mix == Mix::kOneIn20 ? 0.05 : 0.005; }

// Service times whose mean is 1.
class Service {
public:
    explicit Service(Mix mix) : mix_(mix) {}

    struct Drawn {
        double time;
        bool is_short;
    };
    Drawn operator()(std::mt19937_64& dice) {
        if (mix_ == Mix::kExponential) return smooth(exponential_(dice));
        if (mix_ == Mix::kLognormal) return smooth(lognormal_(dice));
        const auto share = share_of_long(mix_);
        const bool is_long = std::bernoulli_distribution(share)(dice);
        return {(is_long ? kLong : 1) / (1 - share + share * kLong), !is_long};
    }

private:
    static Drawn smooth(double time) { return {time, time < 1}; }

    Mix mix_;
    std::exponential_distribution<double> exponential_{1};
    std::lognormal_distribution<double> lognormal_{-std::log(1 + kSquaredVariation) / 2,
                                                   std::sqrt(std::log(1 + kSquaredVariation))};
};

nanoseconds scaled(nanoseconds mean, double factor) {
    return nanoseconds(std::llround(static_cast<double>(mean.count()) * factor));
}

}  // namespace

std::string_view name_of(Mix mix) {
    switch (mix) {
        case Mix::kOneIn20:
            return "95-5";
        case Mix::kOneIn200:
            return "99.5-0.5";
        case Mix::kExponential:
            return "exponential";
        case Mix::kLognormal:
            return "lognormal";
    }
    return "";
}

Trace make_trace(const TraceOptions& options) {
    std::mt19937_64 dice(options.seed);
    std::exponential_distribution<double> gap(options.load * options.servers);
    Service service(options.mix);
    Trace trace;
    for (nanoseconds now = scaled(options.mean, gap(dice)); now < options.length;
         now += scaled(options.mean, gap(dice))) {
        const auto [time, is_short] = service(dice);
        trace.push_back({now, scaled(options.mean, time), is_short});
    }
    return trace;
}

std::vector<nanoseconds> ideal_stays(const Trace& trace, unsigned servers) {
    // When each server is free.
    std::priority_queue<nanoseconds, std::vector<nanoseconds>, std::greater<>> free(
        std::greater<>(), std::vector<nanoseconds>(servers, nanoseconds(0)));
    std::vector<nanoseconds> stays;
    stays.reserve(trace.size());
    for (const auto& request : trace) {
        const auto end = std::max(free.top(), request.arrival) + request.service;
        free.pop();
        free.push(end);
        stays.push_back(end - request.arrival);
    }
    return stays;
}

}  // namespace shortq::bench
