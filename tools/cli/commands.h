// tools/cli/commands.h: the backslash commands of the prompt: their names, and what \? says.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace shortq::cli {

enum class CommandKind : std::uint8_t {
    kHelp,
    kQuit,
    kSync,
    kDeferred,
    kDescribe,
    kFormat,
    kTiming,
    kStats,
    kConnect
};

struct Command {
    std::string_view name;  // With its backslash.
    CommandKind kind;
    std::string_view argument;  // For people: "[TABLE]".
    std::string_view help;
};

[[nodiscard]] std::span<const Command> commands();

// "\format csv" as the command and "csv". None: there is no such command.
struct CommandLineTyped {
    const Command* command = nullptr;
    std::string name;
    std::string argument;
};
[[nodiscard]] CommandLineTyped parse_command(std::string_view line);

// The command that a line at the beginning of a statement stands for: itself, or "\q" for "exit"
// and "quit", "\?" for "help", which people type who come from elsewhere. Empty: none.
[[nodiscard]] std::string_view command_meant(std::string_view line);

// The text of \?.
[[nodiscard]] std::string prompt_help();

}  // namespace shortq::cli
