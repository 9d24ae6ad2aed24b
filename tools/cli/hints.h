// tools/cli/hints.h: what a message can add to help its reader.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proto/error.h"

namespace shortq::cli {

// The known name that a mistyped one is most likely meant to be; empty if none is near.
[[nodiscard]] std::string nearest_name(std::string_view name,
                                       const std::vector<std::string>& known);

// Why a deferred query may have failed: the views and calls of the primary's own are not known to
// workers. Empty: no idea. `advice`: how to send a sync query, "use --sync".
[[nodiscard]] std::string hint_for_deferred(const Error& error, std::string_view query,
                                            std::string_view advice);

}  // namespace shortq::cli
