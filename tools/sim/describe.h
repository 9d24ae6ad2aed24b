// tools/sim/describe.h: events and actions as text for traces, and as a hash that tells runs apart.
#pragma once

#include <cstdint>
#include <string>

#include "primary/core/events.h"

namespace shortq::sim {

[[nodiscard]] std::string describe(const core::Event& event);
[[nodiscard]] std::string describe(const core::Action& action);

inline constexpr std::uint64_t kFirstHash = 0xcbf29ce484222325;
// `hash` so far, and one more.
[[nodiscard]] std::uint64_t hash_of(std::uint64_t hash, core::Time now, const core::Event& event);
[[nodiscard]] std::uint64_t hash_of(std::uint64_t hash, const core::Action& action);

}  // namespace shortq::sim
