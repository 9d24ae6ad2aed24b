// Goal: queries on the command line do on a terminal and in a pipe what people expect there.
// Method: the real program and a real server; a pseudo-terminal, or a shell's pipe.
#include <gmock/gmock.h>

#include <clocale>

#include "tests/end-to-end/harness.h"
#include "tests/tools/cli/terminal.h"

namespace shortq::cli {
namespace {

using shortq::test::Server;
using shortq::test::TemporaryFolder;
using test::kCtrlC;
using test::Terminal;
using test::VirtualScreen;
using ::testing::HasSubstr;
using ::testing::Not;

// 10^12 rows, of which the engine knows how many are done.
constexpr const char* kEndless = "select sum(a.i % 7) from t a, t b, t c, t d";

class OneShotTest : public ::testing::Test {
protected:
    OneShotTest() { std::setlocale(LC_CTYPE, "C.UTF-8"); }

    Terminal start(std::vector<std::string> arguments, Terminal::Setup setup = {}) const {
        arguments.insert(arguments.begin(), {"-p", std::to_string(server_.port())});
        return Terminal(setup, std::move(arguments));
    }
    [[nodiscard]] std::string running() const {
        auto client = server_.connect();
        const auto table = client.sync(
            "select count(*) from shortq.queries where mode = 'deferred' and state = 'running'");
        return table ? table->text(0, 0) : "?";
    }
    // A shell's line, in which CLI is the program with its port.
    [[nodiscard]] shortq::test::Outcome shell(const std::string& line) const {
        const auto cli = std::string(SHORTQ_CLI_PROGRAM) + " -p " + std::to_string(server_.port());
        return shortq::test::run("/bin/bash", {"-c", "CLI='" + cli + "'; " + line});
    }

    TemporaryFolder folder_;
    Server server_{{"1", folder_.write("startup.sql", "create table t as from range(1000) t(i);")}};
};

// Only a program that prints while rows arrive can end at all.
TEST_F(OneShotTest, ReaderThatLeavesEndsAnEndlessExport) {
    for (const auto* format : {"csv", "json", "ndjson", "markdown"}) {
        const auto outcome =
            shell(std::string("$CLI --format ") + format +
                  " 'select i from range(100000000000) t(i)' | head -1 >/dev/null; "
                  "echo ${PIPESTATUS[0]}");
        EXPECT_EQ(outcome.out, "0\n") << format;
        EXPECT_EQ(outcome.err, "") << format;
    }
    EXPECT_TRUE(shortq::test::wait_until([&] { return running() == "0"; }));
}

TEST_F(OneShotTest, LargeExportsAreComplete) {
    const auto outcome = shell(
        "$CLI --format csv 'select i from range(300000) t(i)' | md5sum; "
        "{ echo i; seq 0 299999; } | md5sum");
    const auto half = outcome.out.size() / 2;
    EXPECT_EQ(outcome.out.substr(0, half), outcome.out.substr(half));
    EXPECT_EQ(outcome.err, "");
}

TEST_F(OneShotTest, LongTablesGoThroughThePagerOnATerminalOnly) {
    const Terminal::Setup setup{80, 24, {{"SHORTQ_PAGER", "echo paged; head -n 3"}}};
    auto terminal = start({"from t"}, setup);
    EXPECT_EQ(terminal.end(), 0);
    EXPECT_EQ(terminal.screen().text(), "paged\n i\n-----\n   0");
    auto other = start({"--format", "csv", "from t"}, setup);
    EXPECT_EQ(other.end(), 0);
    EXPECT_THAT(other.bytes(), HasSubstr("999"));
    EXPECT_THAT(other.bytes(), Not(HasSubstr("paged")));
    EXPECT_THAT(shell("SHORTQ_PAGER='echo paged' $CLI --format table 'from t'").out,
                HasSubstr("(1000 rows)"));
}

TEST_F(OneShotTest, ProgressIsShownOnATerminalAndTakenAway) {
    auto terminal = start({kEndless});
    ASSERT_TRUE(terminal.wait_until([](const VirtualScreen& screen) {
        const auto row = screen.row(0);
        return row.ends_with(" s") && row.find('%') != std::string::npos;
    })) << "a progress that the engine knows: "
        << terminal.screen().text();
    terminal.type(kCtrlC);
    EXPECT_EQ(terminal.end(), 1);
    EXPECT_THAT(terminal.screen().text(), HasSubstr("cancelled: "));
    EXPECT_THAT(terminal.screen().text(), Not(HasSubstr("%")));
    EXPECT_EQ(running(), "0");
    auto silent = start({"--progress", "off", "--timeout", "1", kEndless});
    EXPECT_EQ(silent.end(), 1);
    EXPECT_THAT(silent.bytes(), Not(HasSubstr(" s\x1b")));
    EXPECT_THAT(silent.bytes(), HasSubstr("timeout: "));
}

TEST_F(OneShotTest, ProgressInALogIsLines) {
    const auto outcome = shell(std::string("$CLI --progress on --timeout 2 '") + kEndless + "'");
    EXPECT_THAT(outcome.err,
                testing::MatchesRegex("(( *[0-9]+ % \\[[=> ]+\\] )?[0-9.]+ s\n)+timeout: .*"));
    const auto without = shell(std::string("$CLI --timeout 1 '") + kEndless + "'");
    EXPECT_THAT(without.err, testing::StartsWith("timeout: ")) << "no terminal, not asked for";
}

TEST_F(OneShotTest, RepetitionsTellTheirQuantiles) {
    const auto outcome = shell("$CLI --repeat 50 --concurrency 4 'select 1 as x'");
    EXPECT_EQ(outcome.out, "x\n1\n");
    EXPECT_THAT(outcome.err,
                testing::MatchesRegex("n=50 errors=0 p50_ms=[0-9.]+ p90_ms=[0-9.]+ p99_ms=[0-9.]+ "
                                      "max_ms=[0-9.]+ per_second=[0-9]+\n"));
}

}  // namespace
}  // namespace shortq::cli
