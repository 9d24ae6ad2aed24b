// primary/sync_routing.h: which of the primary's engines evaluates a sync text. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace shortq::primary {

enum class LaneName : std::uint8_t {
    kMain,   // Session state, everything.
    kLook,   // Only looks at shortq.* or calls shortq_*: answers while the main one is busy.
    kReload  // call shortq_reload(), which takes as long as a load.
};

// A text that is not understood goes to the main lane, which understands everything. A text sent to
// kLook by mistake fails there with a catalog error, and should then be tried in the main lane.
[[nodiscard]] LaneName lane_for(std::string_view text);

// Whether this engine error says that a table is missing.
[[nodiscard]] bool is_missing_table(std::string_view message);

}  // namespace shortq::primary
