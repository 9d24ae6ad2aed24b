// Goal: backslash commands are read, and each is documented. Method: examples; all of them.
#include "tools/cli/commands.h"

#include <gmock/gmock.h>

#include <sstream>

namespace shortq::cli {
namespace {

TEST(CommandsTest, ArgumentsAreTrimmed) {
    const auto typed = parse_command("\\d  ref.airports ; ");
    ASSERT_NE(typed.command, nullptr);
    EXPECT_EQ(typed.command->kind, CommandKind::kDescribe);
    EXPECT_EQ(typed.argument, "ref.airports");
    EXPECT_EQ(parse_command("\\q").command->kind, CommandKind::kQuit);
    EXPECT_EQ(parse_command("\\sync from x").argument, "from x");
}

TEST(CommandsTest, ASemicolonDoesNoHarm) {
    EXPECT_EQ(parse_command("\\q;").command->kind, CommandKind::kQuit);
    EXPECT_EQ(parse_command("\\sync ;").argument, "");
}

TEST(CommandsTest, WordsOfOtherPromptsAreUnderstood) {
    EXPECT_EQ(command_meant("exit"), "\\q");
    EXPECT_EQ(command_meant("quit;"), "\\q");
    EXPECT_EQ(command_meant("help"), "\\?");
    EXPECT_EQ(command_meant("\\d trade"), "\\d trade");
    EXPECT_EQ(command_meant("from exit"), "");
    EXPECT_EQ(command_meant(""), "");
}

TEST(CommandsTest, UnknownOnesAreNamed) {
    EXPECT_EQ(parse_command("\\quit now").command, nullptr);
    EXPECT_EQ(parse_command("\\quit now").name, "\\quit");
    EXPECT_EQ(parse_command("\\").command, nullptr);
}

TEST(CommandsTest, HelpHasThemAll) {
    for (const auto& command : commands()) {
        EXPECT_THAT("\n" + prompt_help(),
                    testing::HasSubstr("\n  " + std::string(command.name) + " "))
            << command.name;
    }
}

TEST(CommandsTest, HelpFitsASmallTerminal) {
    std::istringstream lines(prompt_help());
    for (std::string line; std::getline(lines, line);) EXPECT_LT(line.size(), 80U) << line;
}

}  // namespace
}  // namespace shortq::cli
