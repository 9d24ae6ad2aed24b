// primary/sync_routing.h: which of the primary's engines evaluates a sync text. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proto/error.h"

namespace shortq::primary {

enum class LaneName : std::uint8_t {
    kMain,   // Session state, everything.
    kLook,   // Only looks at shortq.* or calls shortq_*: answers while the main one is busy.
    kReload  // call shortq_reload(), which takes as long as a load.
};

// A text that is not understood goes to the main lane, which understands everything. A text sent to
// kLook by mistake fails there with a catalog error, and should then be tried in the main lane.
[[nodiscard]] LaneName lane_for(std::string_view text);

// Refuses to change the schema `shortq`, which all clients of the primary look at, and to put
// macros in the place of its procedures. Errors: kReadOnly.
[[nodiscard]] Result<void> check_sync_text(std::string_view text);

// The table that this engine error says is missing, as the query named it; empty: another error.
[[nodiscard]] std::string missing_table(std::string_view message);

// What a person who asked the primary for a worker's table should read.
[[nodiscard]] std::string exists_on_workers(std::string_view table);

// A query for a worker: one row if it has a table or view of that name.
[[nodiscard]] std::string has_table_query(std::string_view table);

}  // namespace shortq::primary
