#include "tools/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>

namespace shortq::cli {
namespace {

using enum CommandKind;

constexpr auto kCommands = std::to_array<Command>({
    {"\\?", kHelp, "", "this text"},
    {"\\d", kDescribe, "[TABLE]", "lists tables and views, or the columns of one"},
    {"\\sync", kSync, "[QUERY]", "evaluates at the primary from now on, or this query"},
    {"\\deferred", kDeferred, "[QUERY]", "evaluates on the least-busy worker from now on"},
    {"\\format", kFormat, "[NAME]", "table, csv, json, ndjson or markdown"},
    {"\\timing", kTiming, "[on|off]", "shows or hides how long each query took"},
    {"\\stats", kStats, "[on|off]", "shows or hides who answered, and what it cost"},
    {"\\connect", kConnect, "[HOST:]PORT", "goes to another server"},
    {"\\q", kQuit, "", "leaves"},
});

constexpr std::string_view kKeys = R"(
Statements end with ; and may take several lines.
  Tab         completes tables, columns, functions, keywords, settings
  Up, Ctrl-R  earlier statements, and a search in them
  Ctrl-C      drops what is typed; cancels a running query on the server, and
              a second one stops waiting for it
  Ctrl-D      leaves
Tables fit the terminal: long ones are paged, and what is left out is counted.
\format csv has it all.
)";

}  // namespace

std::span<const Command> commands() { return kCommands; }

CommandLineTyped parse_command(std::string_view line) {
    line = line.substr(0, line.find_last_not_of(" \t\n;") + 1);
    const auto end = std::min(line.find_first_of(" \t\n"), line.size());
    CommandLineTyped typed;
    typed.name = line.substr(0, end);
    line.remove_prefix(end);
    const auto first = line.find_first_not_of(" \t\n");
    if (first != std::string_view::npos) {
        typed.argument = line.substr(first);
    }
    const auto found = std::ranges::find(kCommands, typed.name, &Command::name);
    if (found != kCommands.end()) typed.command = &*found;
    return typed;
}

std::string_view command_meant(std::string_view line) {
    line = line.substr(0, line.find_last_not_of(" \t\n;") + 1);
    if (line == "exit" || line == "quit") return "\\q";
    if (line == "help") return "\\?";
    return line.starts_with('\\') ? line : std::string_view();
}

std::string prompt_help() {
    std::string text;
    for (const auto& command : kCommands) {
        text += fmt::format("  {:<21} {}\n", fmt::format("{} {}", command.name, command.argument),
                            command.help);
    }
    return text + std::string(kKeys);
}

}  // namespace shortq::cli
