// tools/sim/dice.h: the simulator's dice: one seed, the same throws on every machine.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>

#include "primary/core/types.h"

namespace shortq::sim {

class Dice {
public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}
    [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
    [[nodiscard]] std::uint64_t between(std::uint64_t low, std::uint64_t high) {
        return low + below(high - low + 1);
    }
    [[nodiscard]] double unit() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }
    [[nodiscard]] bool chance(double probability) { return unit() < probability; }
    [[nodiscard]] core::Duration exponential(core::Duration mean) {
        return core::Duration{
            static_cast<std::int64_t>(-std::log(1.0 - unit()) * static_cast<double>(mean.count()))};
    }
    [[nodiscard]] core::Duration milliseconds(std::uint64_t low, std::uint64_t high) {
        return std::chrono::milliseconds(between(low, high));
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace shortq::sim
