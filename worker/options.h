// worker/options.h: the command line of shortq-worker. The primary writes it, not people.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "worker/engine/engine.h"

namespace shortq::worker {

struct Options {
    std::string endpoint;  // ipc://... of the primary.
    int board_fd = -1;
    std::string engine = "duckdb";
    std::filesystem::path source;  // Empty: nothing to load.
    std::uint32_t seat = 1;
    std::uint32_t generation = 1;
    engine::EngineOptions engine_options;
    std::string log_level = "info";
    bool log_json = false;
};

// The exit status to leave with at once: after --help, or after a usage error that was reported.
struct ExitNow {
    int status = 0;
};

[[nodiscard]] std::variant<Options, ExitNow> parse_options(int argc, char** argv);

}  // namespace shortq::worker
