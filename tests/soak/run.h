// tests/soak/run.h: one soak from its start to its account.
#pragma once

#include "tests/soak/options.h"

namespace shortq::soak {

// Returns the exit status. INT and TERM end it early.
[[nodiscard]] int run(const Options& options);

}  // namespace shortq::soak
