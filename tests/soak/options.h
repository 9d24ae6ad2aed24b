// tests/soak/options.h: what the command line asks for.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace shortq::soak {

struct Options {
    std::chrono::milliseconds length{0};
    std::uint64_t seed = 0;
    std::string spawn = "fork";
    unsigned workers = 4;
    unsigned window = 1;
    bool light = false;          // A quarter of the clients.
    bool restarts = false;       // The primary is killed, too.
    std::filesystem::path keep;  // Where the primary's log goes after a violation.
    double rss_bound_mb = 0;
    std::int64_t fd_bound = 0;

    // As a client in a process of its own, started by the soak itself.
    std::string client_of;  // An endpoint.
    std::uint64_t first_number = 0;
};

// None: `status` is the exit status of what was printed (help 0, a mistake 2).
[[nodiscard]] std::optional<Options> parse_options(int argc, char** argv, int& status);

}  // namespace shortq::soak
