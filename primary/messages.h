// primary/messages.h: what people read when the dispatcher ends a request. Pure.
#pragma once

#include <string>

#include "primary/core/events.h"
#include "primary/options.h"
#include "proto/error.h"

namespace shortq::primary {

// The error that answers a request which the core ended for `reason`. `to` tells how long it
// queued and ran, and where; the options give the limits that the text names.
[[nodiscard]] Error describe(core::Reason reason, const core::Receipt& to, const Options& options);

// "0.200 s": a duration in texts for people.
[[nodiscard]] std::string seconds_text(std::chrono::nanoseconds duration);

}  // namespace shortq::primary
