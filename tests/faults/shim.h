// tests/faults/shim.h: how a program gets the faults of shim.cpp.
#pragma once

#include <cstdlib>
#include <string>

#include "tests/end-to-end/program.h"

namespace shortq::test {

// The environment of a program that runs with the shim, and what the shim is to do.
[[nodiscard]] inline Environment with_shim(Environment faults) {
    faults["LD_PRELOAD"] = FAULTS_SHIM;
    // AddressSanitizer wants to be the first library there is; the shim is no such library.
    const char* set = std::getenv("ASAN_OPTIONS");
    faults["ASAN_OPTIONS"] =
        (set == nullptr ? std::string() : std::string(set) + ":") + "verify_asan_link_order=0";
    return faults;
}

}  // namespace shortq::test
