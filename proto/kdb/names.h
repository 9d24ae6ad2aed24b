// proto/kdb/names.h: names that kdb+ clients can tell apart. Private to proto/kdb.
#pragma once

#include <string>
#include <vector>

namespace shortq::kdb {

// The names as symbols, none empty and no two alike: node-q merges columns of one name, qPython
// throws. As q does: an empty one becomes "x", a repeated one gets a number ("a", "a1"). A NUL,
// which would end the symbol, becomes "_".
[[nodiscard]] std::vector<std::string> distinct_names(std::vector<std::string> names);

}  // namespace shortq::kdb
