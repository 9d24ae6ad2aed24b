// worker/engine/log.h: how the programs log: spdlog to stderr, as text or as JSON lines. In this
// folder because the worker and the primary both stand on it.
#pragma once

#include <string>
#include <string_view>

#include "proto/error.h"

namespace shortq {

struct LogOptions {
    std::string name;            // Begins every line: "primary", "worker 2".
    std::string level = "info";  // trace, debug, info, warn, error or off.
    bool json = false;
};

// Makes spdlog's default logger (spdlog::info(...)) write as `options` say. Call once, before
// other threads log. Errors: kBadRequest for an unknown level.
[[nodiscard]] Result<void> set_up_logging(const LogOptions& options);

// Whether set_up_logging() would accept the name.
[[nodiscard]] bool is_log_level(std::string_view name) noexcept;

}  // namespace shortq
