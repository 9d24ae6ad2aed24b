// Goal: a kdb+ client that others wrote gets what it expects. Method: node-q, in a process of its
// own (node_client.js), against a real server; the same queries through shortq-cli where that tells
// more than a literal.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "tests/end-to-end/harness.h"
#include "tests/end-to-end/kdb/kdb_client.h"
#include "tests/temporary_folder.h"

namespace shortq::test {
namespace {

using nlohmann::json;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

json deferred(const std::string& text, const json& arguments = json::array()) {
    return {{"mode", "deferred"}, {"text", text}, {"arguments", arguments}};
}
json sync(const std::string& text) { return {{"mode", "sync"}, {"text", text}}; }

constexpr const char* kEndless = "select count(*) from range(1000000000000) a, range(1000) b";

class NodeTest : public ::testing::Test {
protected:
    explicit NodeTest(std::vector<std::string> options = {})
        : server_(arguments(std::move(options))) {}

    std::vector<std::string> arguments(std::vector<std::string> options) const {
        options.insert(options.begin(), {"--kdb-port", "0"});
        options.insert(options.end(),
                       {"2", folder_.write("startup.sql",
                                           "create table trade as select 'S' || (i % 7) as sym, "
                                           "i * 0.25 as price, i * 10 as size "
                                           "from range(10000) t(i)")});
        return options;
    }
    // How many of the dispatcher's requests are unanswered.
    [[nodiscard]] static bool wait_for_unanswered(Client& client, const std::string& count) {
        return wait_until([&] {
            return cell(client.sync("select count(*) from shortq.queries "
                                    "where mode = 'deferred'")) == count;
        });
    }
    [[nodiscard]] std::vector<std::string> program() const {
        return {NODE_CLIENT, NODE_Q, std::to_string(kdb_port(server_.log()))};
    }
    static std::string lines_of(const std::vector<json>& requests) {
        std::string lines;
        for (const auto& request : requests) lines += request.dump() + "\n";
        return lines;
    }
    static std::vector<json> parsed(const std::string& out) {
        std::vector<json> lines;
        std::istringstream stream(out);
        for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
        return lines;
    }
    // The replies; the last line says that it has closed.
    [[nodiscard]] std::vector<json> ask(const std::vector<json>& requests) const {
        const auto outcome = run(NODE_PROGRAM, program(), lines_of(requests));
        EXPECT_EQ(outcome.err, "");
        auto replies = parsed(outcome.out);
        EXPECT_THAT(replies, SizeIs(requests.size() + 1)) << outcome.out;
        if (replies.empty()) return replies;
        EXPECT_EQ(replies.back(), json({{"closed", true}}));
        replies.pop_back();
        return replies;
    }

    TemporaryFolder folder_;
    Server server_;
};

TEST_F(NodeTest, EveryTypeComesWithItsNull) {
    const auto replies = ask({deferred(
        "select * from (values (1::tinyint, 2::smallint, 3, 4::bigint, 5::hugeint, 1.5::float, "
        "2.5::double, 1.25::decimal(5,2), true, 'x', date '2024-02-29', "
        "timestamp '2024-02-29 12:34:56.789', time '01:02:03', interval 90 minute, "
        "'6f287435-9a59-4c01-ae15-45709ef4d91d'::uuid, 'ab'::blob, [1,2], {'a': 1, 'b': 'y'}), "
        "(null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,"
        "null)) t(ti, s, i, l, h, f, d, n, b, v, dt, ts, tm, iv, u, bl, li, st)")});
    ASSERT_THAT(replies, SizeIs(1));
    const auto expected = json::parse(R"({
        "ti": [1, null], "s": [2, null], "i": [3, null], "l": ["4", null], "h": ["5", null],
        "f": [1.5, null], "d": [2.5, null], "n": [1.25, null], "b": [1, null], "v": ["x", null],
        "dt": ["2024-02-29T00:00:00.000Z", null], "ts": ["2024-02-29T12:34:56.789Z", null],
        "tm": ["2000-01-01T01:02:03.000Z", null], "iv": ["2000-01-01T01:30:00.000Z", null],
        "u": ["6f287435-9a59-4c01-ae15-45709ef4d91d", null], "bl": [[97, 98], []],
        "li": [[1, 2], []], "st": [{"a": 1, "b": "y"}, {"a": null, "b": null}]})");
    EXPECT_EQ(replies[0]["columns"], expected);
}

TEST_F(NodeTest, AnEmptyTableHasItsColumns) {
    const auto replies = ask({deferred("select 1::bigint l, 'x' v, true b where false")});
    EXPECT_EQ(replies.at(0)["columns"], json::parse(R"({"l": [], "v": [], "b": []})"));
}

TEST_F(NodeTest, DeferredRepliesAreInOrderThoughTheFirstIsSlow) {
    std::vector<json> requests{
        deferred("select sum(a.i * b.i) > 0 as n from range(3000) a(i), range(20000) b(i)")};
    for (int i = 1; i < 20; ++i) requests.push_back(deferred("select " + std::to_string(i) + " n"));
    const auto replies = ask(requests);
    EXPECT_EQ(replies.at(0)["columns"]["n"], json::array({true}));
    for (std::size_t i = 1; i < replies.size(); ++i)
        EXPECT_EQ(replies[i]["columns"]["n"], json::array({i})) << i;
}

TEST_F(NodeTest, SyncAndDeferredTakeTurnsAndErrorsAreRaised) {
    const auto replies =
        ask({deferred("select 1 n"), deferred("select nonsense"), sync("select 2 n"),
             sync("select more_nonsense"), deferred("select 3 n"),
             deferred("select ?::int + ?::int as n", json::array({40, 2})), sync("select 4 n")});
    EXPECT_EQ(replies.at(0)["columns"]["n"], json::array({1}));
    EXPECT_THAT(replies.at(1)["error"].get<std::string>(), HasSubstr("\"nonsense\" was not found"));
    EXPECT_EQ(replies.at(2)["columns"]["n"], json::array({2}));
    EXPECT_THAT(replies.at(3)["error"].get<std::string>(), HasSubstr("more_nonsense"));
    EXPECT_EQ(replies.at(4)["columns"]["n"], json::array({3}));
    EXPECT_EQ(replies.at(5)["columns"]["n"], json::array({42}));
    EXPECT_EQ(replies.at(6)["columns"]["n"], json::array({4}));
}

TEST_F(NodeTest, RowsAreThoseOfTheCommandLine) {
    const std::string query = "select sym, price from trade where size > 50000 order by size";
    const auto columns = ask({deferred(query)}).at(0)["columns"];
    std::string text = "sym,price\n";
    for (std::size_t i = 0; i < columns["sym"].size(); ++i) {
        text += fmt::format("{},{:.2f}\n", columns["sym"][i].get<std::string>(),
                            columns["price"][i].get<double>());
    }
    const auto cli = server_.cli({"--format", "csv", query});
    EXPECT_EQ(cli.err, "");
    EXPECT_EQ(text, cli.out);
    EXPECT_THAT(columns["sym"], SizeIs(4999));
}

TEST_F(NodeTest, ABlankTextIsAnsweredWithNothing) {
    const auto replies = ask({sync(""), deferred(""), deferred("select 1 n"), sync(""), sync(" ")});
    for (const std::size_t blank : {0U, 1U, 3U, 4U}) {
        ASSERT_TRUE(replies.at(blank).contains("columns")) << replies[blank];
        EXPECT_TRUE(replies[blank]["columns"].is_null()) << replies[blank];
    }
    EXPECT_EQ(replies.at(2)["columns"]["n"], json::array({1}));
}

TEST_F(NodeTest, ALargeResultComesWhole) {
    constexpr std::uint64_t kRows = 850'000;  // Of 12 bytes: 10 MB.
    auto request = deferred("select i::int as i, i * 0.5::double as x from range(850000) t(i)");
    request["sums"] = true;
    const auto columns = ask({request}).at(0)["columns"];
    constexpr std::uint64_t kSum = kRows * (kRows - 1) / 2;
    EXPECT_EQ(columns["i"], json({{"rows", kRows}, {"sum", kSum}}));
    EXPECT_EQ(columns["x"]["rows"], kRows);
    EXPECT_EQ(columns["x"]["sum"].get<double>(), static_cast<double>(kSum) / 2);
}

// A client of the native door that is silent for four seconds has gone; a worker, for five.
TEST_F(NodeTest, AnIdleConnectionHearsNothingAndStaysOpen) {
    const auto replies = ask({deferred("select 1 n"), json({{"mode", "idle"}, {"ms", 5500}}),
                              deferred("select 2 n"), sync("select 3 n")});
    EXPECT_EQ(replies.at(0)["columns"]["n"], json::array({1}));
    EXPECT_EQ(replies.at(1), json({{"mode", "idle"}, {"bytes", 0}}));
    EXPECT_EQ(replies.at(2)["columns"]["n"], json::array({2}));
    EXPECT_EQ(replies.at(3)["columns"]["n"], json::array({3}));
}

// Two run, one is queued. What a client that closes has asked for is dropped, and its end answered:
// otherwise node-q would wait for ever.
TEST_F(NodeTest, WhoClosesWithRequestsUnderWayIsLetGo) {
    auto client = server_.connect();
    Program node(NODE_PROGRAM, program(),
                 lines_of({deferred(kEndless), deferred(kEndless), deferred(kEndless)}));
    ASSERT_TRUE(wait_for_unanswered(client, "3"));
    node.signal(SIGTERM);
    EXPECT_EQ(node.wait(kPatience), (ExitStatus{.signalled = false, .value = 0}));
    EXPECT_EQ(node.out(), "{\"closed\":true}\n");
    EXPECT_TRUE(wait_for_unanswered(client, "0"));
}

// As it stands there, but for the port.
TEST_F(NodeTest, TheReadmesProgramRuns) {
    const auto readme = read_file(README);
    const std::string begin = "```js\n";
    const std::string port = "5010";
    auto from = readme.find(begin);
    ASSERT_NE(from, std::string::npos);
    from += begin.size();
    auto text = readme.substr(from, readme.find("```", from) - from);
    ASSERT_NE(text.find(port), std::string::npos);
    text.replace(text.find(port), port.size(), std::to_string(kdb_port(server_.log())));
    Program node(NODE_PROGRAM, {folder_.write("program.js", text)}, {},
                 {{"NODE_PATH", NODE_Q "/node_modules"}});
    const auto outcome = node.finish();
    EXPECT_TRUE(outcome.status.success()) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out, HasSubstr("{ sym: 'S3', price: 1250.25 }"));
}

// Each of them is waiting: two run, one is queued.
TEST_F(NodeTest, WhoWaitsWhenTheServerStopsHearsOfIt) {
    Program node(NODE_PROGRAM, program(),
                 lines_of({deferred(kEndless), deferred(kEndless), deferred(kEndless)}));
    auto client = server_.connect();
    ASSERT_TRUE(wait_for_unanswered(client, "3"));
    server_.signal(SIGTERM);
    EXPECT_TRUE(wait_until([&] { return server_.log().find("draining") != std::string::npos; }));
    server_.signal(SIGTERM);
    EXPECT_TRUE(node.wait(kPatience));
    const auto replies = parsed(node.out());
    ASSERT_THAT(replies, SizeIs(4)) << node.out();
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(replies[i].contains("error")) << replies[i];
}

TEST_F(NodeTest, WhoIsKilledTakesItsRequestsWithIt) {
    auto client = server_.connect();
    Program node(NODE_PROGRAM, program(),
                 lines_of({deferred(kEndless), deferred(kEndless), deferred(kEndless)}));
    ASSERT_TRUE(wait_for_unanswered(client, "3"));
    node.signal(SIGKILL);
    EXPECT_TRUE(wait_for_unanswered(client, "0"));
}

// ---- Many tables, compressed

class NodeCompressedTest : public NodeTest {
protected:
    NodeCompressedTest() : NodeTest({"--kdb-compress", "always"}) {}
};

// A table of random columns whose values print alike everywhere.
std::string random_query(std::mt19937& random) {
    static const std::vector<std::string> kColumns{
        "(hash(i, {}) % 100000)::int - 50000", "(hash(i, {}) % 1000000000000)::bigint",
        "(hash(i, {}) % 300)::smallint", "'name ' || (hash(i, {}) % 50)",
        "(hash(i, {}) % 1000)::varchar || 'é'"};
    const auto rows = 1 + random() % 400;
    std::string query = "select i";
    for (std::size_t column = 0; column < 1 + random() % 4; ++column) {
        const auto seed = std::to_string(random() % 1'000'000);
        auto text = kColumns[random() % kColumns.size()];
        text.replace(text.find("{}"), 2, seed);
        const auto nulls = random() % 3 == 0 ? "case when i % 5 = 2 then null else {} end" : "{}";
        std::string value = nulls;
        value.replace(value.find("{}"), 2, text);
        query += ", " + value + " as c" + std::to_string(column);
    }
    return query + " from range(" + std::to_string(rows) + ") t(i)";
}

std::string text_of(const json& value) {
    if (value.is_null()) return "";
    return value.is_string() ? value.get<std::string>() : value.dump();
}

// As CSV, without its head.
std::string lines_of_columns(const json& columns) {
    std::string text;
    for (std::size_t row = 0; row < columns["i"].size(); ++row) {
        text += text_of(columns["i"][row]);
        for (std::size_t c = 0; columns.contains("c" + std::to_string(c)); ++c)
            text += "," + text_of(columns["c" + std::to_string(c)][row]);
        text += "\n";
    }
    return text;
}

TEST_F(NodeCompressedTest, TwoHundredTablesAreThoseOfTheCommandLine) {
    constexpr int kTables = 200;
    std::mt19937 random(7);  // NOLINT: the same tables each time.
    std::vector<json> requests;
    std::string script;
    for (int i = 0; i < kTables; ++i) {
        const auto query = random_query(random);
        requests.push_back(deferred(query));
        script += query + ";\n";
    }
    std::string by_node;
    for (const auto& reply : ask(requests)) {
        ASSERT_TRUE(reply.contains("columns")) << reply;
        by_node += lines_of_columns(reply["columns"]);
    }
    std::string by_cli;
    const auto cli = server_.cli({"--format", "csv", "-f", folder_.write("queries.sql", script)});
    EXPECT_EQ(cli.err, "");
    std::istringstream lines(cli.out);
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty() && !line.starts_with("i,")) by_cli += line + "\n";
    }
    EXPECT_EQ(std::hash<std::string>{}(by_node), std::hash<std::string>{}(by_cli));
    EXPECT_GT(by_node.size(), 100'000U);
}

}  // namespace
}  // namespace shortq::test
