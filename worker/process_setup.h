// worker/process_setup.h: what this process owes to the primary that started it.
#pragma once

#include <cstdint>

#include "proto/error.h"

namespace shortq::worker {

// Ignores INT, TERM and HUP (a terminal sends them to the whole group; the primary says when to
// leave), sets an empty signal mask of its own, writes no core files, and arranges to be killed
// with the primary. Call on the main thread before any other exists.
// Errors: kUnavailable if the primary is gone already.
[[nodiscard]] Result<void> bind_to_primary(std::int64_t primary_pid);

}  // namespace shortq::worker
