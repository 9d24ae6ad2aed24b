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
    std::string endpoint;       // ipc://... of the primary.
    int fork_server_fd = -1;    // Not -1: be a fork server; its channel.
    std::uint32_t workers = 1;  // That share the memory of --memory-limit, in a fork server.
    engine::Warm warm = engine::Warm::kAuto;
    unsigned worker_threads = 1;  // Of each forked worker; engine_options.threads load.
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
