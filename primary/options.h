// primary/options.h: what the user asked for: command line, configuration file, defaults.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "primary/core/types.h"
#include "primary/kdb/door_options.h"
#include "proto/error.h"

namespace shortq::primary {

// One line of the `shortq.settings` view.
struct SettingFact {
    std::string name;    // As on the command line, without dashes.
    std::string value;   // As the user wrote it.
    std::string origin;  // "default", "config" or "command line".
};

enum class Spawn : std::uint8_t {
    kFork,  // A fork server per generation loads once, and forks the workers.
    kExec,  // Each worker loads for itself.
};

// Whether --listen names a socket of this machine's file system, which has no port.
[[nodiscard]] inline bool is_ipc(std::string_view listen) { return listen.starts_with("ipc://"); }

// The kdb+ door's part of the options.
struct KdbOptions {
    std::optional<std::uint16_t> port;  // None: no such door.
    std::string listen = "127.0.0.1";
    KdbSync sync = KdbSync::kPrimary;
    KdbCompress compress = KdbCompress::kAuto;
    kdb::TableOptions table{};
    std::uint64_t result_bytes_max = 0;
};

struct Options {
    std::uint32_t workers = 0;
    std::filesystem::path source;
    std::uint16_t port = 5001;
    std::string listen = "127.0.0.1";  // Or "ipc:///path", without a port.
    bool insecure = false;
    std::filesystem::path users;       // Empty: any name is let in.
    std::filesystem::path curve_keys;  // Empty: the native door does not encrypt.
    KdbOptions kdb;
    std::uint32_t window = core::kWindowAuto;
    core::Policy policy = core::Policy::kShortestQueue;
    std::chrono::nanoseconds timeout{0};
    std::chrono::nanoseconds grace{0};
    std::chrono::nanoseconds stall{0};
    std::chrono::nanoseconds drain{0};
    std::chrono::nanoseconds load_timeout{0};
    std::uint32_t pending_max = 0;
    std::uint32_t pending_per_client_max = 0;
    std::uint64_t pending_bytes_max = 0;
    std::uint64_t query_bytes_max = 0;
    std::uint64_t result_bytes_max = 0;  // 0: none.
    std::uint64_t memory_limit_bytes =
        0;  // For all workers together; 0: not known on this machine.
    std::vector<std::filesystem::path> allowed_paths;
    std::string engine = "duckdb";
    unsigned threads = 0;  // Per worker; 0 until resolved.
    Spawn spawn = Spawn::kFork;
    std::string warm = "auto";  // Or "off", "all": passed on to fork servers.
    bool writable = false;
    std::string log_level = "info";
    std::string log_format = "text";

    std::vector<SettingFact> facts;  // In the order of --help.
};

// What a command line asks for: to serve, or only to print a text and leave.
struct CommandLine {
    Options options;
    std::string print;  // --help, --version: not empty.
    // --make-keys: where to; none: not asked for.
    std::optional<std::filesystem::path> make_keys;
};

// Touches nothing outside this process but the file that --config names, and the machine's figures
// (cores, memory) that defaults depend on.
// Errors: kBadRequest whose `where` is the flag, argument or file and whose message says what is
//         wrong and what would do. Whether SOURCE exists is not looked at here.
[[nodiscard]] Result<CommandLine> parse_options(int argc, const char* const* argv);

// "--window: expected ...": the error as one line for people.
[[nodiscard]] std::string one_line(const Error& error);

// The core's part of the options.
[[nodiscard]] core::Options core_options(const Options& options);

// Values of options, as users write them. Errors: kBadRequest, message only.
[[nodiscard]] Result<std::uint64_t> parse_size(std::string_view text);  // 4096, 256M, 1.5G
[[nodiscard]] Result<std::chrono::nanoseconds> parse_seconds(std::string_view text);  // 2, 0.5
[[nodiscard]] Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t least,
                                                std::uint64_t most);

// The entry of `known` that a typing error most likely meant; empty if nothing is near.
[[nodiscard]] std::string nearest_name(std::string_view name,
                                       const std::vector<std::string>& known);

}  // namespace shortq::primary
