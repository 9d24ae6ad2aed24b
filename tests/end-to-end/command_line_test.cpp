#include <csignal>
#include <regex>
#include <string>

#include "tests/end-to-end/fixture.h"

namespace shortq::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CommandLineTest : public EndToEnd {
protected:
    // Runs `shortq` with arguments that cannot work; nothing may be left of it.
    static Outcome refused(const std::vector<std::string>& arguments) {
        Program program(shortq_program(), with_spawn(arguments));
        const auto outcome = program.finish();
        EXPECT_EQ(outcome.out, "");
        EXPECT_TRUE(wait_until([&] { return program.family().empty(); }));
        EXPECT_EQ(sanitizer_reports(outcome.err), "");
        return outcome;
    }
};

// Goal: usage errors exit with 2 and name the culprit. Method: one wrong argument each.
TEST_F(CommandLineTest, UsageErrorsNameTheCulprit) {
    const auto script = folder_.write("startup.sql", "select 1;");
    struct Wrong {
        std::vector<std::string> arguments;
        std::string named;
    };
    for (const auto& wrong : std::vector<Wrong>{{{"--no-such-flag", "2", script}, "no-such-flag"},
                                                {{"0", script}, "1 to 1024"},
                                                {{"abc", script}, "abc"},
                                                {{"1025", script}, "1025"},
                                                {{"--port", "70000", "2", script}, "--port"},
                                                {{"--engine", "sqlite", "2", script}, "--engine"},
                                                {{"2"}, "SOURCE"}}) {
        const auto outcome = refused(wrong.arguments);
        EXPECT_EQ(outcome.status, kUsage) << outcome.err;
        EXPECT_THAT(outcome.err, AllOf(StartsWith("shortq: "), HasSubstr(wrong.named)));
    }
}

// Goal: a source that is not there is a failure, told by name. Method: a missing file.
TEST_F(CommandLineTest, AMissingSourceIsNamed) {
    const auto outcome = refused({"--port", "0", "2", "/nonexistent/startup.sql"});
    EXPECT_EQ(outcome.status, kFailed);
    EXPECT_THAT(outcome.err, HasSubstr("/nonexistent/startup.sql"));
}

// Goal: a failing startup script stops the start with file, line and the engine's message. Method:
// the third statement, in line 4, uses a table that is not there.
TEST_F(CommandLineTest, AFailingScriptIsToldWithFileAndLine) {
    const auto script = folder_.write("startup.sql",
                                      "create table a (x integer);\n\ninsert into a values (1);\n"
                                      "insert into b values (1);\n");
    const auto outcome = refused({"--port", "0", "2", script});
    EXPECT_EQ(outcome.status, kFailed);
    EXPECT_THAT(outcome.err, HasSubstr("startup.sql:4"));
    EXPECT_THAT(outcome.err, HasSubstr("Table with name b does not exist"));
}

// Case 28. Goal: data that does not fit into the memory given is told with the figure and the ways
// out, and what is proposed is enough. Method: half the memory that a table takes; then the
// proposal.
TEST_F(CommandLineTest, DataThatDoesNotFitIsToldWithWhatItNeeds) {
    const auto script = folder_.write(
        "startup.sql", "create table t as select hash(i) as h from range(6000000) r(i);\n");
    const auto outcome = refused({"--port", "0", "--memory-limit", "24M", "2", script});
    EXPECT_EQ(outcome.status, kFailed);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("startup.sql:"), HasSubstr("READ_ONLY")));
    static const std::regex kFigures(R"(needs (\d+) MiB.*--memory-limit (\d+)M or above)");
    std::smatch match;
    ASSERT_TRUE(std::regex_search(outcome.err, match, kFigures)) << outcome.err;
    EXPECT_GE(std::stoi(match[1]), 40);
    const Server server({"--memory-limit", match[2].str() + "M", "2", script});
    EXPECT_EQ(cell(server.connect().deferred("select count(*) from t")), "6000000");
}

// Goal: a hanging startup script is stopped. Method: a load without end and a short limit.
TEST_F(CommandLineTest, AHangingScriptIsStoppedByTheLoadTimeout) {
    const auto outcome =
        refused(test_engine(1, {"--port", "0", "--load-timeout", "1"}, "load-hang\n"));
    EXPECT_EQ(outcome.status, kFailed);
    EXPECT_THAT(outcome.err, HasSubstr("load"));
}

// Case 19. Goal: a taken port is a clear failure. Method: start a second server on the first one's.
TEST_F(CommandLineTest, ATakenPortIsAClearFailure) {
    const Server server(test_engine(1));
    const auto start = Clock::now();
    const auto outcome = refused(test_engine(1, {"--port", std::to_string(server.port())}));
    EXPECT_EQ(outcome.status, kFailed);
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("already in use"), HasSubstr(std::to_string(server.port()))));
    EXPECT_LT(since(start), std::chrono::seconds(10));
    EXPECT_EQ(cell(server.connect().deferred("echo the first serves on")), "the first serves on");
}

// Goal: clients come through a socket of the file system, which nobody else takes meanwhile.
// Method: a query through it, and a second server on it.
TEST_F(CommandLineTest, ASocketServesInsteadOfAPort) {
    const auto endpoint = "ipc://" + (folder_.path() / "clients").string();
    const auto arguments = test_engine(1, {"--listen", endpoint});
    Program server(shortq_program(), with_spawn(arguments));
    ASSERT_TRUE(wait_until([&] { return server.out().ends_with('\n'); })) << server.err();
    EXPECT_THAT(server.out(), StartsWith("ready " + endpoint + " workers=1"));
    EXPECT_THAT(refused(arguments).err, HasSubstr(endpoint + ": address already in use"));
    {
        auto client = Client::connect({.endpoints = {endpoint}, .wait_until_ready = true});
        ASSERT_TRUE(client) << client.error().message;
        EXPECT_EQ(cell(client->deferred("echo through a socket")), "through a socket");
    }
    server.signal(SIGTERM);
    EXPECT_TRUE(server.finish().status.success());
}

// Goal: stdout has the ready line and nothing else. Method: Server matches the whole of it; look at
// the figures.
TEST_F(CommandLineTest, TheReadyLineTellsWhereAndWhat) {
    const Server server(test_engine(3));
    EXPECT_THAT(server.ready_line(), StartsWith("ready " + server.endpoint() + " workers=3"));
}

// Case 30. Goal: Ctrl-C in the terminal drains. Method: send INT to the whole family, the fork
// server included, with queries under way; they end well, new ones are refused, and the exit status
// is 0.
TEST_F(CommandLineTest, CtrlCLetsRunningQueriesFinish) {
    Server server(test_engine(2));
    auto client = server.connect();
    ASSERT_TRUE(server.wait_for_workers(2));
    auto first = client.submit("sleep 3000");
    auto second = client.submit("sleep 3000");
    ASSERT_TRUE(wait_until_running(client, 2));
    for (const auto& process : server.family()) ASSERT_EQ(::kill(process.pid, SIGINT), 0);
    ASSERT_TRUE(wait_until([&] { return server.log().find("draining") != std::string::npos; }));
    EXPECT_EQ(summary(client.deferred("echo late")).substr(0, 11), "unavailable");
    EXPECT_EQ(cell(first), "3000");
    EXPECT_EQ(cell(second), "3000");
    EXPECT_EQ(server.wait(), kSucceeded);
}

// Goal: what runs longer than the drain is cut off with an answer. Method: a drain of half a
// second.
TEST_F(CommandLineTest, DrainEndsAfterItsTime) {
    Server server(test_engine(1, {"--drain", "0.5"}));
    auto client = server.connect();
    auto submitted = client.submit("sleep 600000");
    ASSERT_TRUE(wait_until_running(client, 1));
    server.signal(SIGTERM);
    EXPECT_FALSE(reply_of(submitted));
    EXPECT_EQ(server.wait(), kSucceeded);
}

// Goal: a text over the limit is refused with the limit. Method: one byte more, and just fitting.
TEST_F(CommandLineTest, ATextOverTheLimitIsTooLarge) {
    const Server server(test_engine(1, {"--max-query-bytes", "1000"}));
    const std::string fitting = "echo " + std::string(995, 'x');
    EXPECT_EQ(server.cli({fitting}).status, kSucceeded);
    const auto outcome = server.cli({fitting + "x"});
    EXPECT_EQ(outcome.status, kFailed);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("too_large: "), HasSubstr("1000")));
}

// Goal: the client's exit status tells what went wrong. Method: each way once.
TEST_F(CommandLineTest, TheClientsExitStatusTellsWhatWentWrong) {
    std::uint16_t port = 0;
    {
        const Server server(duckdb(1, "create table t as select 1 as a;"));
        port = server.port();
        EXPECT_EQ(server.cli({"select a from t"}).status, kSucceeded);
        const auto failed = server.cli({"select * from nothing"});
        EXPECT_EQ(failed.status, kFailed);
        EXPECT_THAT(
            failed.err,
            HasSubstr("query_error: Catalog Error: Table with name nothing does not exist"));
        EXPECT_EQ(server.cli({"--no-such-flag", "select 1"}).status, kUsage);
    }
    const auto gone =
        run(shortq_cli_program(), {"--port", std::to_string(port), "--wait", "1", "select 1"});
    EXPECT_EQ(gone.status, kNoConnection);
    EXPECT_NE(gone.err, "");
}

// Goal: facts on demand, and standard input as a script. Method: --stats with two queries.
TEST_F(CommandLineTest, StatsTellWhoAnswered) {
    const Server server(duckdb(1, "create table t as select 7 as a;"));
    const auto outcome = server.cli({"--format", "csv", "--stats", "-f", "-"},
                                    "select a from t;\nselect a + 1 as b from t;\n");
    EXPECT_EQ(outcome.status, kSucceeded) << outcome.err;
    EXPECT_EQ(outcome.out, "a\n7\nb\n8\n");
    EXPECT_THAT(outcome.err, HasSubstr("worker=1 generation=1 queued_ms="));
    EXPECT_THAT(outcome.err, HasSubstr("rows=1 bytes="));
}

}  // namespace
}  // namespace shortq::test
