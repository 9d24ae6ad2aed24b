// proto/validate.h: proves that an array of untrusted buffers is safe to read. Private to proto/.
// Source: Apache Arrow columnar format, "Physical memory layout".
#pragma once

#include <optional>
#include <string>

#include "proto/columnar.h"

namespace shortq::proto {

// What is wrong, and in which field: "a.b", outermost first.
struct Problem {
    std::string path;
    std::string what;
};

// Nothing if every cell of `array` can be read without leaving a buffer.
// Pre:    lengths are within kNodeLengthMax and null counts within lengths; `array` has the
//         children and dictionaries that `field` has; nesting is bounded.
[[nodiscard]] std::optional<Problem> validate(const Field& field, const Array& array);

}  // namespace shortq::proto
