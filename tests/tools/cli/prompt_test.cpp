// Goal: the prompt does what a person expects: statements, history, completion, colours, Ctrl-C and
// Ctrl-D, a server that comes back. Method: the real program on a pseudo-terminal, with a real
// server; what is checked is the screen.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <clocale>
#include <csignal>

#include "tests/end-to-end/harness.h"
#include "tests/end-to-end/program.h"
#include "tests/tools/cli/terminal.h"
#include "tools/cli/history.h"

namespace shortq::cli {
namespace {

using shortq::test::Server;
using shortq::test::TemporaryFolder;
using test::kCtrlC;
using test::kCtrlD;
using test::kUp;
using test::Terminal;
using test::VirtualScreen;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kScript = R"sql(
create table trade as select i as id, 'S' || i % 10 as sym, i / 4 as price from range(1000) t(i);
create schema ref;
create table ref.airports as select 1 as id, 'x' as "full name";
create view sales as select * from trade;
create table wide as select 1 as a1, 'two' as a2, 3 as a3, repeat('x', 300) as a4, 5 as a5, 6 as a6,
    7 as a7, 8 as a8, 9 as a9, 10 as a10, 11 as a11, 12 as a12, 13 as a13, 14 as a14, 15 as a15,
    16 as a16, 17 as a17, 18 as a18, 19 as a19, 20 as a20, 21 as a21, 22 as a22, 23 as a23;
)sql";
constexpr const char* kEndless = "select sum(i % 7) from range(100000000000) t(i);\r";

// One server for all of them: what one leaves there disturbs no other.
class PromptTest : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        std::setlocale(LC_CTYPE, "C.UTF-8");
        folder = new TemporaryFolder;
        server = new Server({"2", folder->write("startup.sql", kScript)});
    }
    static void TearDownTestSuite() {
        delete server;
        delete folder;
    }

    static Terminal open(Terminal::Setup setup = {}) {
        return Terminal(setup, {"-p", std::to_string(server->port())});
    }

    static TemporaryFolder* folder;
    static Server* server;
};
TemporaryFolder* PromptTest::folder = nullptr;
Server* PromptTest::server = nullptr;

// Types it, with a Tab behind it, until the row is as expected: names come in the background, a Tab
// too early completes nothing yet.
bool completes(Terminal& terminal, const std::string& typed, const std::string& expected) {
    const auto end = std::chrono::steady_clock::now() + shortq::test::kPatience;
    for (std::string row; std::chrono::steady_clock::now() < end;) {
        terminal.type("\x15" + typed + "\t#");
        const bool shown = terminal.wait_until([&](const VirtualScreen& screen) {
            row = screen.row(screen.cursor_row());
            return row.ends_with("#");
        });
        terminal.type("\x7f");
        if (!shown || !terminal.wait_until([&](const VirtualScreen& screen) {
                return !screen.row(screen.cursor_row()).ends_with("#");
            })) {
            return false;
        }
        if (row == expected + " #") return true;
    }
    return false;
}

class PromptSizeTest : public PromptTest, public ::testing::WithParamInterface<Terminal::Setup> {};

TEST_P(PromptSizeTest, RunsStatementsUntilCtrlD) {
    auto terminal = open(GetParam());
    ASSERT_TRUE(terminal.asks("shortq>"));
    EXPECT_THAT(terminal.screen().row(0), HasSubstr("2 workers. \\? for help."));
    terminal.type("select id, sym from trade where id = 42;\r");
    ASSERT_TRUE(terminal.shows(" 42 | S2\n(1 row)\nshortq>")) << terminal.screen().text();
    terminal.type("selec;\r");
    ASSERT_TRUE(terminal.shows("query_error: Parser Error: syntax error"));
    ASSERT_TRUE(terminal.shows("  at worker "));
    ASSERT_TRUE(terminal.asks("shortq>"));
    terminal.type(kCtrlD);
    EXPECT_EQ(terminal.end(), 0);
}

TEST_P(PromptSizeTest, ColoursNeverChangeTheText) {
    const std::string line =
        "select 'one', \"q\", 12.5 /* 漢字かな */ as x, '漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字"
        "漢字漢字漢字漢字漢字', e'\\n', 'ü', 'e\u0301' -- 漢字 and a comment that goes on and on";
    auto plain_setup = GetParam();
    plain_setup.environment["NO_COLOR"] = "1";
    auto plain = open(plain_setup);
    auto coloured = open(GetParam());
    for (auto* terminal : {&plain, &coloured}) {
        ASSERT_TRUE(terminal->asks("shortq>"));
        terminal->type(line);
        ASSERT_TRUE(terminal->shows("on and on"));
        terminal->type("\x01!\x05!");  // To the beginning, and to the end again.
        ASSERT_TRUE(terminal->shows("on and on!"));
        ASSERT_TRUE(terminal->shows("> !select"));
    }
    EXPECT_EQ(coloured.screen().text(), plain.screen().text());
    EXPECT_EQ(coloured.screen().cursor_row(), plain.screen().cursor_row());
    EXPECT_EQ(coloured.screen().cursor_column(), plain.screen().cursor_column());
    EXPECT_THAT(plain.screen().styles(1), Not(Contains("32")));
    EXPECT_THAT(coloured.screen().styles(1), Contains("32")) << "strings";
    EXPECT_THAT(coloured.screen().styles(1), Contains("36")) << "numbers";
    EXPECT_EQ(coloured.screen().styles(1)[10], "1;34") << "select";
}

INSTANTIATE_TEST_SUITE_P(Sizes, PromptSizeTest,
                         ::testing::Values(Terminal::Setup{80, 24, {}},
                                           Terminal::Setup{200, 50, {}},
                                           Terminal::Setup{66, 12, {}}),
                         [](const auto& size) {
                             return std::to_string(size.param.columns) + "x" +
                                    std::to_string(size.param.rows);
                         });

TEST_F(PromptTest, StatementsMayTakeSeveralLines) {
    auto terminal = open();
    ASSERT_TRUE(terminal.asks("shortq>"));
    terminal.type("select 'a;\r");
    ASSERT_TRUE(terminal.asks("   ...>"));
    terminal.type("b' as x,\r");
    ASSERT_TRUE(terminal.asks("   ...>"));
    terminal.type("1 as y; select 2 as z;\r");
    ASSERT_TRUE(terminal.shows(" a;\\nb | 1\n(1 row)"));
    ASSERT_TRUE(terminal.shows(" z\n---\n 2\n(1 row)\nshortq>"));
}

TEST_F(PromptTest, HistoryOutlivesThePromptAndKeepsStatementsWhole) {
    const auto file = (folder->path() / "state" / "history").string();
    const Terminal::Setup setup{80, 24, {{"SHORTQ_HISTORY", file}}};
    {
        auto terminal = open(setup);
        ASSERT_TRUE(terminal.asks("shortq>"));
        terminal.type("select 7 as seven;\r");
        ASSERT_TRUE(terminal.shows(" 7\n(1 row)"));
        terminal.type("select 8\ras eight;\r");
        ASSERT_TRUE(terminal.shows(" 8\n(1 row)"));
        terminal.type(kCtrlD);
        EXPECT_EQ(terminal.end(), 0);
    }
    struct stat status {};
    ASSERT_EQ(::stat(file.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
    auto terminal = open(setup);
    ASSERT_TRUE(terminal.asks("shortq>"));
    terminal.type(kUp);
    ASSERT_TRUE(terminal.shows("shortq> select 8\nas eight;"));
    terminal.type(kUp);
    ASSERT_TRUE(terminal.asks("shortq> select 7 as seven;"));
    terminal.type("\r");
    ASSERT_TRUE(terminal.shows(" 7\n(1 row)"));
}

TEST_F(PromptTest, TabCompletesNames) {
    auto terminal = open();
    ASSERT_TRUE(terminal.asks("shortq>"));
    ASSERT_TRUE(completes(terminal, "select * from tra", "shortq> select * from trade"));
    terminal.type("t where t.pr\t");
    ASSERT_TRUE(terminal.asks("shortq> select * from trade t where t.price"));
    terminal.type(kCtrlC);
    ASSERT_TRUE(terminal.shows("t.price ^C\nshortq>"));
    terminal.type("SEL\tsy\t, regexp_full_m\tsym, 'x') FROM ref.air\t");
    ASSERT_TRUE(terminal.asks("shortq> SELECT sy, regexp_full_match(sym, 'x') FROM ref.airports"))
        << terminal.screen().text();
}

TEST_F(PromptTest, TabKnowsThePrimarysNamesInSyncMode) {
    auto terminal = open();
    ASSERT_TRUE(terminal.asks("shortq>"));
    terminal.type("\\sync\r");
    ASSERT_TRUE(terminal.asks("shortq sync>"));
    ASSERT_TRUE(completes(terminal, "from shortq.wo", "shortq sync> from shortq.workers"));
    terminal.type(
        "\x15"
        "call shortq_re\t");
    ASSERT_TRUE(terminal.asks("shortq sync> call shortq_reload()"));
    terminal.type(
        "\x15"
        "create or replace table made_here as select 1 as x;\r");
    ASSERT_TRUE(terminal.shows("\ndone\n"));
    ASSERT_TRUE(terminal.asks("shortq sync>"));
    ASSERT_TRUE(completes(terminal, "from made", "shortq sync> from made_here"));
}

TEST_F(PromptTest, CtrlCDropsWhatIsTyped) {
    auto terminal = open();
    ASSERT_TRUE(terminal.asks("shortq>"));
    terminal.type("select 1\rfrom");
    ASSERT_TRUE(terminal.asks("   ...> from"));
    terminal.type(kCtrlC);
    ASSERT_TRUE(terminal.asks("shortq>"));
    ASSERT_TRUE(terminal.shows("from^C"));
    terminal.type("select 'still here' as x;\r");
    ASSERT_TRUE(terminal.shows(" still here\n(1 row)"));
}

TEST_F(PromptTest, CtrlCCancelsOnTheServer) {
    auto terminal = open();
    auto client = server->connect();
    const auto running = [&] {
        const auto table = client.sync(
            "select count(*) from shortq.queries where mode = 'deferred' and state = 'running'");
        return table ? table->text(0, 0) : "?";
    };
    ASSERT_TRUE(terminal.asks("shortq>"));
    terminal.type(kEndless);
    ASSERT_TRUE(shortq::test::wait_until([&] { return running() == "1"; }));
    ASSERT_TRUE(terminal.wait_until([](const VirtualScreen& screen) {
        return screen.row(screen.cursor_row()).ends_with(" s");  // The progress line.
    }));
    terminal.type(kCtrlC);
    ASSERT_TRUE(terminal.shows("cancelled: ")) << terminal.screen().text();
    ASSERT_TRUE(terminal.asks("shortq>"));
    EXPECT_EQ(running(), "0");
    EXPECT_THAT(terminal.screen().text(), Not(HasSubstr(" s\n"))) << "the progress line is gone";
}

TEST_F(PromptTest, CtrlCEndsALongPrintout) {
    auto terminal = open();
    ASSERT_TRUE(terminal.asks("shortq>"));
    terminal.type("\\format csv\rselect 'row ' || i from range(2000000) t(i);\r");
    ASSERT_TRUE(terminal.shows("\nrow 1"));
    terminal.type(kCtrlC);
    ASSERT_TRUE(terminal.shows("(the rest is left out)\nshortq>"));
    terminal.type("select 'whole' as x;\r");
    ASSERT_TRUE(terminal.shows("x\nwhole\nshortq>"));
}

TEST_F(PromptTest, StoppedAndContinuedItGoesOn) {
    auto terminal = open();
    ASSERT_TRUE(terminal.asks("shortq>"));
    terminal.type("select 'half");
    ASSERT_TRUE(terminal.asks("shortq> select 'half"));
    ASSERT_EQ(::kill(terminal.pid(), SIGSTOP), 0);
    ASSERT_EQ(::kill(terminal.pid(), SIGCONT), 0);
    terminal.type(" and half' as x;\r");
    ASSERT_TRUE(terminal.shows(" half and half\n(1 row)"));
    ASSERT_TRUE(terminal.asks("shortq>"));
    EXPECT_FALSE(terminal.echoes());
}

// A server that is stopped answers nothing, not even a cancel.
TEST_F(PromptTest, SecondCtrlCStopsWaiting) {
    Server own({"1", folder->write("own.sql", kScript)});
    Terminal terminal({}, {"-p", std::to_string(own.port())});
    ASSERT_TRUE(terminal.asks("shortq>"));
    own.signal(SIGSTOP);
    terminal.type("select 1;\r");
    ASSERT_TRUE(terminal.wait_until([](const VirtualScreen& screen) {
        return screen.row(screen.cursor_row()).ends_with(" s");
    }));
    terminal.type(kCtrlC);
    ASSERT_TRUE(terminal.shows("cancelling; Ctrl-C again stops waiting"));
    terminal.type(kCtrlC);
    ASSERT_TRUE(terminal.shows("no longer waiting"));
    ASSERT_TRUE(terminal.asks("shortq>"));
    own.signal(SIGCONT);
    terminal.type("select 'on it goes' as x;\r");
    ASSERT_TRUE(terminal.shows(" on it goes\n(1 row)"));
}

TEST_F(PromptTest, ServerThatComesBackIsFoundAgain) {
    const std::vector<std::string> arguments{"1", folder->write("own.sql", kScript)};
    auto own = std::make_unique<Server>(arguments);
    const auto port = own->port();
    Terminal terminal({}, {"-p", std::to_string(port)});
    ASSERT_TRUE(terminal.asks("shortq>"));
    own.reset();
    terminal.type("select 'again' as x;\r");
    ASSERT_TRUE(terminal.shows("no server answers at tcp://127.0.0.1:"));
    own = std::make_unique<Server>(arguments, port);
    ASSERT_TRUE(terminal.shows(" again\n(1 row)\nshortq>")) << terminal.screen().text();
    EXPECT_THAT(terminal.screen().text(), HasSubstr("the server is back"));
    terminal.type(kCtrlD);
    EXPECT_EQ(terminal.end(), 0);
}

TEST_F(PromptTest, CommandsDoWhatTheHelpSays) {
    auto terminal = open({120, 60, {}});
    ASSERT_TRUE(terminal.asks("shortq>"));
    terminal.type("\\?\r");
    for (const auto* command : {"\\d [TABLE]", "\\sync", "\\deferred", "\\format", "\\timing",
                                "\\stats", "\\connect", "\\q", "Ctrl-D"}) {
        EXPECT_TRUE(terminal.shows(command));
    }
    terminal.type("\\nonsense\r");
    ASSERT_TRUE(terminal.shows("\\nonsense: no such command; \\? lists them"));
    terminal.type("\\d ref.airports\r");
    ASSERT_TRUE(terminal.shows("full name"));
    terminal.type("\\format ndjson\rselect 1 as x;\r");
    ASSERT_TRUE(terminal.shows("{\"x\":1}"));
    terminal.type("\\timing\r\\stats\rselect 2 as x;\r");
    ASSERT_TRUE(terminal.shows("{\"x\":2}\nworker="));
    ASSERT_TRUE(terminal.shows("\ntime: "));
    terminal.type("from shortq.workers;\r");
    ASSERT_TRUE(
        terminal.shows("hint: the views and calls of shortq are at the primary: use \\sync"));
    ASSERT_TRUE(terminal.shows("error=query_error total_ms="));
    terminal.type("\\sync\r");
    ASSERT_TRUE(terminal.asks("shortq sync>"));
    terminal.type("select count(*) as workers from shortq.workers;\r");
    ASSERT_TRUE(terminal.shows("{\"workers\":2}\nworker=0"));
    terminal.type("\\deferred\r");
    ASSERT_TRUE(terminal.asks("shortq>"));
    terminal.type("\\connect 1\r");
    ASSERT_TRUE(terminal.shows("connection: cannot connect to tcp://127.0.0.1:1"));
    terminal.type("\\q\r");
    EXPECT_EQ(terminal.end(), 0);
}

TEST_F(PromptTest, WideTablesFitAndSayWhatIsLeftOut) {
    auto small = open({80, 24, {}});
    ASSERT_TRUE(small.asks("shortq>"));
    small.type("from wide;\r");
    ASSERT_TRUE(small.shows(" of 23 columns left out)")) << small.screen().text();
    EXPECT_EQ(small.screen().row(2).substr(0, 4), " a1 ");
    EXPECT_THAT(small.screen().row(2), HasSubstr("| … |"));
    EXPECT_THAT(small.screen().row(5), HasSubstr("(1 row; ")) << "nothing is wrapped";
    auto large = open({200, 50, {}});
    ASSERT_TRUE(large.asks("shortq>"));
    large.type("from wide;\r");
    ASSERT_TRUE(large.shows("\n(1 row)\n")) << large.screen().text();
    EXPECT_THAT(large.screen().row(4), HasSubstr("x… |")) << "the long text is cut";
    EXPECT_THAT(large.screen().row(4), HasSubstr("|  23"));
}

TEST_F(PromptTest, LongTablesGoThroughThePager) {
    auto terminal = open({80, 24, {{"SHORTQ_PAGER", "head -n 3"}}});
    ASSERT_TRUE(terminal.asks("shortq>"));
    terminal.type("select id from trade order by id;\r");
    ASSERT_TRUE(terminal.shows(" id\n-----\n   0\nshortq>")) << "a pager that is left is no fault";
    auto without = open({80, 50, {{"SHORTQ_PAGER", ""}}});
    ASSERT_TRUE(without.asks("shortq>"));
    without.type("select id from trade order by id;\r");
    ASSERT_TRUE(without.shows("(1000 rows, the first and last 100 shown)"));
}

TEST_F(PromptTest, DumbTerminalsGetNoControlSequences) {
    auto terminal = open({80, 24, {{"TERM", "dumb"}}});
    ASSERT_TRUE(terminal.asks("shortq>"));
    terminal.type("select 1 as x;\r");
    ASSERT_TRUE(terminal.shows(" 1\n(1 row)\nshortq>"));
    EXPECT_THAT(terminal.bytes(), Not(HasSubstr("\x1b[3")));
}

TEST_F(PromptTest, TerminatedItLeavesTheTerminalAsItWas) {
    auto terminal = open();
    ASSERT_TRUE(terminal.asks("shortq>"));
    EXPECT_FALSE(terminal.echoes());
    ASSERT_EQ(::kill(terminal.pid(), SIGTERM), 0);
    EXPECT_EQ(terminal.end(), 0);
    EXPECT_TRUE(terminal.echoes());
}

// Goal: whoever changes his mind at a password has a terminal that shows what he types. Method:
// each signal, with nobody else who takes it; the program dies by it.
TEST_F(PromptTest, APasswordLeavesTheTerminalAsItWas) {
    for (const int signal : {SIGINT, SIGTERM}) {
        Terminal terminal({}, {"--hash-password", "--user", "alice"});
        ASSERT_TRUE(terminal.asks("New password for alice:"));
        ASSERT_FALSE(terminal.echoes());
        if (signal == SIGINT) {
            terminal.type(kCtrlC);
        } else {
            ASSERT_EQ(::kill(terminal.pid(), signal), 0);
        }
        EXPECT_EQ(terminal.end(), 128 + signal);
        EXPECT_TRUE(terminal.echoes());
    }
}

// The same where a server wants one, with the program's own handling of signals, of both kinds.
TEST_F(PromptTest, APasswordForAServerLeavesTheTerminalAsItWas) {
    const auto line = shortq::test::run(shortq::test::shortq_cli_program(),
                                        {"--hash-password", "--user", "a"}, "wonderland\n");
    const auto users = folder->write("users", line.out);
    ASSERT_EQ(::chmod(users.c_str(), 0600), 0);
    const Server guarded({"--users", users, "1", folder->write("empty.sql", "")});
    for (const bool one_shot : {true, false}) {
        for (const int signal : {SIGINT, SIGTERM}) {
            std::vector<std::string> arguments{"-p", std::to_string(guarded.port()), "--user", "a"};
            if (one_shot) arguments.emplace_back("select 1");
            Terminal terminal({}, arguments);
            ASSERT_TRUE(terminal.asks("Password for a:"));
            ASSERT_FALSE(terminal.echoes());
            ASSERT_EQ(::kill(terminal.pid(), signal), 0);
            EXPECT_EQ(terminal.end(), 128 + signal);
            EXPECT_TRUE(terminal.echoes());
        }
    }
}

TEST_F(PromptTest, NoPasswordIsAskedForAgain) {
    Terminal terminal({}, {"--hash-password", "--user", "alice"});
    ASSERT_TRUE(terminal.asks("New password for alice:"));
    terminal.type(kCtrlD);
    EXPECT_EQ(terminal.end(), 2);
    EXPECT_TRUE(terminal.echoes());
    EXPECT_THAT(terminal.bytes(), HasSubstr("no password was typed"));
    EXPECT_THAT(terminal.bytes(), Not(HasSubstr("Again")));
}

TEST_F(PromptTest, NewSizesAreTakenUp) {
    auto terminal = open();
    ASSERT_TRUE(terminal.asks("shortq>"));
    terminal.resize(60, 24);
    terminal.type("select repeat('x', 200) as x;\r");
    ASSERT_TRUE(terminal.shows("…\n(1 row)"));
    EXPECT_EQ(terminal.screen().row(terminal.screen().cursor_row() - 3).size(), 60U);
}

}  // namespace
}  // namespace shortq::cli
