// tests/soak/random.h: draws from a seed.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>

namespace shortq::soak {

// Threads: one at a time; each thread has its own, from the run's seed and its own number.
class Random {
public:
    Random(std::uint64_t seed, std::uint64_t stream) {
        std::seed_seq both{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                           static_cast<std::uint32_t>(stream)};
        engine_.seed(both);
    }
    // Pre: from <= to.
    [[nodiscard]] std::int64_t between(std::int64_t from, std::int64_t to) {
        return std::uniform_int_distribution<std::int64_t>(from, to)(engine_);
    }
    [[nodiscard]] bool one_in(std::int64_t n) { return between(1, n) == 1; }
    [[nodiscard]] std::chrono::milliseconds milliseconds(std::int64_t from, std::int64_t to) {
        return std::chrono::milliseconds(between(from, to));
    }
    // One of a non-empty container.
    template <class Container>
    [[nodiscard]] const auto& one_of(const Container& all) {
        const auto last = static_cast<std::int64_t>(all.size()) - 1;
        return all[static_cast<std::size_t>(between(0, last))];
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace shortq::soak
