// tools/bench/rounds.h: sides that are measured in turn, round by round, so that a busy moment of
// the machine hurts all of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "proto/error.h"

namespace shortq::bench {

struct Rounds {
    unsigned count = 5;
    std::chrono::seconds limit{60};  // No round begins later than this, but for the first.
};

// Measures every side once in each round: A, B, B, A, A, B ..., since a side that always followed
// the same other one would always find what that one left. Element i of the result has what side i
// gave, one a round. Errors: the first that a side returns; the others are not asked any more.
template <class Sample>
[[nodiscard]] Result<std::vector<std::vector<Sample>>> interleave(
    const Rounds& rounds, const std::vector<std::function<Result<Sample>()>>& sides) {
    const auto end = std::chrono::steady_clock::now() + rounds.limit;
    std::vector<std::vector<Sample>> samples(sides.size());
    for (unsigned round = 0; round < rounds.count; ++round) {
        if (round > 0 && std::chrono::steady_clock::now() >= end) break;
        for (std::size_t turn = 0; turn < sides.size(); ++turn) {
            const auto side = round % 2 == 0 ? turn : sides.size() - 1 - turn;
            auto sample = sides[side]();
            if (!sample) return tl::unexpected(sample.error());
            samples[side].push_back(std::move(*sample));
        }
    }
    return samples;
}

}  // namespace shortq::bench
