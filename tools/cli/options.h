// tools/cli/options.h: what the user asked for.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shortq/client.h"
#include "tools/cli/writer.h"

namespace shortq::cli {

struct Options {
    ConnectOptions connect;
    bool sync = false;
    std::string file;  // "-" is stdin; empty: none.
    std::vector<std::string> queries;
    Parameters parameters;
    std::optional<Format> format;  // None: table on a terminal, csv elsewhere.
    QueryOptions query;
    std::uint64_t repeat = 1;
    std::uint64_t concurrency = 1;
    bool stats = false;
};

// What a command line asks for: to run, or only to print a text and leave.
struct CommandLine {
    Options options;
    std::string print;  // --help, --version: not empty.
};

// Touches nothing outside this process. Errors: kBadRequest with the text for the user.
[[nodiscard]] Result<CommandLine> parse_options(int argc, const char* const* argv);

// A --param: canonical integers that fit 64 bits are BIGINT ("7", not "007"), decimals with a
// point are DOUBLE, everything else is text.
[[nodiscard]] Value parse_parameter(const std::string& text);

}  // namespace shortq::cli
