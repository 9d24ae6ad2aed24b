// tools/sim/mutants/fault.h: the switch of the deliberate faults in the mutated copy of the core.
#pragma once

#include <string>
#include <vector>

namespace shortq::sim {

// Which one is on: its place in mutant_names(), from 1; 0: none. Set before threads begin.
inline int fault_on = 0;
[[nodiscard]] inline bool fault_is_on(int number) { return fault_on == number; }

[[nodiscard]] std::vector<std::string> mutant_names();

}  // namespace shortq::sim
