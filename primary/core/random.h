// primary/core/random.h: mixing of bits, and numbers that are the same for the same seed on every
// machine. Private to the core. Source: SplitMix64 (Steele, Lea, Flood 2014).
#pragma once

#include <cstdint>

namespace shortq::core {

[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t x) noexcept {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ULL;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

class SplitMix64 {
public:
    explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
    [[nodiscard]] std::uint64_t next() { return mix_bits(state_ += 0x9e3779b97f4a7c15ULL); }
    // In [0, bound); the bias is below bound / 2^64. Pre: bound > 0.
    [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return next() % bound; }

private:
    std::uint64_t state_;
};

}  // namespace shortq::core
