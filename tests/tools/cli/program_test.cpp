// Goal: the program's exit statuses and streams. Method: the real program, run through a shell,
// with a scripted server or none.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <future>
#include <memory>

#include "tests/client/fake_server.h"

namespace shortq::cli {
namespace {

using ::testing::HasSubstr;

struct Outcome {
    int status = -1;
    std::string output;  // Both streams, unless the command sends one elsewhere.
};

Outcome run(const std::string& arguments, const std::string& input = {}) {
    const auto command =
        "{ printf '%s' '" + input + "' | " + SHORTQ_CLI_PROGRAM + " " + arguments + "; } 2>&1";
    Outcome outcome;
    FILE* stream = ::popen(command.c_str(), "r");
    if (stream == nullptr) return outcome;
    std::array<char, 4096> part;
    for (std::size_t got = 0; (got = std::fread(part.data(), 1, part.size(), stream)) > 0;) {
        outcome.output.append(part.data(), got);
    }
    const int status = ::pclose(stream);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
}

TEST(CliProgramTest, UsageErrorsEndWithTwo) {
    EXPECT_EQ(run("--nonsense x").status, 2);
    EXPECT_EQ(run("</dev/null").status, 2);
    EXPECT_EQ(run("--connect nonsense x").status, 2);
    const auto missing = run("-f /nonexistent.sql");
    EXPECT_EQ(missing.status, 2);
    EXPECT_THAT(missing.output, HasSubstr("cannot read /nonexistent.sql: No such file"));
    EXPECT_THAT(missing.output, HasSubstr("Try: shortq-cli --help"));
    const auto folder = run("-f /");
    EXPECT_EQ(folder.status, 2);
    EXPECT_THAT(folder.output, HasSubstr("shortq-cli: cannot read /: Is a directory"));
}

// What a shell makes of a variable that is not set must not mean "without encryption".
TEST(CliProgramTest, EmptyValuesAreUsageErrors) {
    for (const std::string option : {"--server-key", "--user", "--password-file", "--file",
                                     "--host", "--connect", "--format"}) {
        for (const auto* value : {" ''", "="}) {
            const auto outcome = run(option + value + " -p 1 --wait 0.2 'select 1'");
            EXPECT_EQ(outcome.status, 2) << option << value;
            EXPECT_THAT(outcome.output, HasSubstr(option)) << value;
        }
    }
}

// A parameter may well be an empty text.
TEST(CliProgramTest, EmptyParametersAreParameters) {
    EXPECT_EQ(run("--param '' -p 1 --wait 0.2 'select ?'").status, 3);
}

TEST(CliProgramTest, NoServerEndsWithThree) {
    const auto outcome = run("-p 1 --wait 0.2 'select 1'");
    EXPECT_EQ(outcome.status, 3);
    EXPECT_EQ(outcome.output,
              "connection: cannot connect to tcp://127.0.0.1:1: no shortq answered within 0.2 s; "
              "is it running? (start one with: shortq -p 1 2 startup.sql)\n");
}

TEST(CliProgramTest, ResultsAndErrorsGoTheirWays) {
    test::FakeServer server;
    auto program = std::async(std::launch::async, [&] {
        return run("--connect " + server.endpoint() + " 'select 1' 'selec'");
    });
    const auto identity = server.welcome();
    const auto first = server.next().value();
    EXPECT_EQ(test::text_of(first.frames[1]), "select 1");
    server.send(identity, test::number_reply({first.as<proto::Request>().id}, {1}));
    const auto second = server.next().value().as<proto::Request>().id;
    server.send(identity, test::error_reply(second, ErrorCode::kQueryError, "Parser Error: x"));
    EXPECT_TRUE(std::holds_alternative<proto::Goodbye>(server.next().value().header));
    const auto outcome = program.get();
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.output, "x\n1\nquery_error: Parser Error: x\n");
}

TEST(CliProgramTest, StandardInputIsAScript) {
    test::FakeServer server;
    auto program = std::async(std::launch::async, [&] {
        return run("--connect " + server.endpoint() + " --format ndjson", "select 1;\nb");
    });
    const auto identity = server.welcome();
    for (const auto* text : {"select 1", "b"}) {
        const auto heard = server.next().value();
        EXPECT_EQ(test::text_of(heard.frames[1]), text);
        server.send(identity, test::number_reply({heard.as<proto::Request>().id}, {1}));
    }
    const auto outcome = program.get();
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.output, "{\"x\":1}\n{\"x\":1}\n");
}

TEST(CliProgramTest, ReaderThatLeavesIsNoFault) {
    test::FakeServer server;
    auto program = std::async(
        std::launch::async, [&] { return run("--connect " + server.endpoint() + " a | head -1"); });
    const auto identity = server.welcome();
    const std::vector<std::int64_t> many(100000, 123456789);
    server.send(identity,
                test::number_reply({server.next().value().as<proto::Request>().id}, many));
    const auto outcome = program.get();
    EXPECT_EQ(outcome.output, "x\n");
}

// The same, with the program's own exit status behind it.
TEST(CliProgramTest, ReaderThatLeavesIsSuccess) {
    test::FakeServer server;
    auto program = std::async(std::launch::async, [&] {
        return run("--version >/dev/null; { " SHORTQ_CLI_PROGRAM " --connect " + server.endpoint() +
                   " a; echo status $? >&2; } | head -1");
    });
    const auto identity = server.welcome();
    const std::vector<std::int64_t> many(100000, 123456789);
    server.send(identity,
                test::number_reply({server.next().value().as<proto::Request>().id}, many));
    EXPECT_THAT(program.get().output, testing::AnyOf("x\nstatus 0\n", "status 0\nx\n"));
}

TEST(CliProgramTest, InterruptCancelsOnTheServer) {
    test::FakeServer server;
    auto program = std::async(std::launch::async,
                              [&] { return run("--connect " + server.endpoint() + " a b"); });
    const auto identity = server.welcome();
    const auto id = server.next().value().as<proto::Request>().id;
    ASSERT_EQ(::kill(static_cast<pid_t>(server.client_pid()), SIGINT), 0);
    EXPECT_EQ(server.next().value().as<proto::Cancel>().id, id);
    server.send(identity, test::error_reply(id, ErrorCode::kCancelled, "cancelled"));
    const auto outcome = program.get();
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.output, "cancelled: cancelled\n");
}

TEST(CliProgramTest, SecondInterruptLeaves) {
    test::FakeServer server;
    auto program = std::async(std::launch::async,
                              [&] { return run("--connect " + server.endpoint() + " a"); });
    server.welcome();
    ASSERT_TRUE(server.next());
    const auto pid = static_cast<pid_t>(server.client_pid());
    ASSERT_EQ(::kill(pid, SIGINT), 0);
    ASSERT_TRUE(std::holds_alternative<proto::Cancel>(server.next().value().header));
    ASSERT_EQ(::kill(pid, SIGINT), 0);
    EXPECT_EQ(program.get().status, 1) << "though the server never answered";
}

}  // namespace
}  // namespace shortq::cli
