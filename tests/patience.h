// tests/patience.h: how long tests wait for what has to happen.
#pragma once

#include <chrono>

namespace shortq::test {

// Long enough for a loaded machine under a sanitizer; reached only when something is broken.
inline constexpr std::chrono::seconds kPatience{60};

}  // namespace shortq::test
