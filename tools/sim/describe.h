// tools/sim/describe.h: events and actions as text, for traces and for the hash of a run.
#pragma once

#include <string>

#include "primary/core/events.h"

namespace shortq::sim {

[[nodiscard]] std::string describe(const core::Event& event);
[[nodiscard]] std::string describe(const core::Action& action);

}  // namespace shortq::sim
