// tests/proto/walk.h: reads every cell of an array the way clients do, to let a sanitizer see it.
#pragma once

#include <cstdint>

#include "proto/columnar.h"

namespace shortq::test {

// A checksum of all that can be reached from the array's rows.
std::uint64_t walk(const Field& field, const Array& array);

}  // namespace shortq::test
