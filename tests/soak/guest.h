// tests/soak/guest.h: this program as a client in a process of its own, started by the soak.
#pragma once

#include "tests/soak/options.h"

namespace shortq::soak {

// What a guest says of itself at its end, as client.py does.
inline constexpr const char* kGuestLine =
    "guest: requests={} ok={} errors={} left={} lost={} doubled={} wrong_client={}";

// Asks for as long as the options say, then prints its line. Returns the exit status.
[[nodiscard]] int be_guest(const Options& options);

}  // namespace shortq::soak
