// tools/cli/options.h: what the user asked for.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shortq/client.h"
#include "tools/cli/writer.h"

namespace shortq::cli {

enum class Switch : std::uint8_t { kAuto, kOn, kOff };

struct Options {
    ConnectOptions connect;
    std::string password_file;
    bool hash_password = false;  // Only that: a line for the users file.
    bool sync = false;
    std::string file;  // "-" is stdin; empty: none.
    std::vector<std::string> queries;
    Parameters parameters;
    std::optional<Format> format;  // None: table on a terminal, csv elsewhere.
    QueryOptions query;
    std::uint64_t repeat = 1;
    std::uint64_t concurrency = 1;
    bool stats = false;
    Switch progress = Switch::kAuto;
};

// What a command line asks for: to run, or only to print a text and leave.
struct CommandLine {
    Options options;
    std::string print;  // --help, --version: not empty.
};

// Touches nothing outside this process. Errors: kBadRequest with the text for the user.
[[nodiscard]] Result<CommandLine> parse_options(int argc, const char* const* argv);

// Every option as it is written: "--sync", "-p", ...
[[nodiscard]] std::vector<std::string> option_names();

// "csv" ... "markdown"; nothing for other names.
[[nodiscard]] const std::vector<std::string>& format_names();
[[nodiscard]] std::optional<Format> format_from(std::string_view name);

// A --param: canonical integers that fit 64 bits are BIGINT ("7", not "007"), decimals with a
// point are DOUBLE, everything else is text.
[[nodiscard]] Value parse_parameter(const std::string& text);

}  // namespace shortq::cli
