#include <filesystem>
#include <functional>

#include "tests/end-to-end/fixture.h"
#include "tests/end-to-end/raw_peer.h"

namespace shortq::test {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

class SqlTest : public EndToEnd {};

// Case 16. Goal: results that look like markers arrive as themselves. Method: ask for each, through
// the library, of workers and primary, and where texts show it through the command-line client.
TEST_F(SqlTest, ResultsThatLookLikeMarkersArriveAsThemselves) {
    const Server server(duckdb(1, "create table empty (a integer, b varchar);"));
    auto client = server.connect();
    const auto created = client.sync("create table empty (a integer, b varchar)");
    ASSERT_TRUE(created) << summary(created);
    const std::vector<std::function<Result<Table>(std::string_view)>> ways{
        [&](std::string_view text) { return client.deferred(text); },
        [&](std::string_view text) { return client.sync(text); }};
    for (const auto& ask : ways) {
        const auto null = ask("select null::varchar as x");
        ASSERT_TRUE(null) << summary(null);
        EXPECT_EQ(null->rows(), 1U);
        EXPECT_TRUE(null->is_null(0, 0));
        EXPECT_EQ(cell(ask("select '00000000-0000-0000-0000-000000000000'::uuid")),
                  "00000000-0000-0000-0000-000000000000");
        EXPECT_EQ(cell(ask("select 'error'")), "error");
        const auto text = ask("select ''");
        ASSERT_TRUE(text) << summary(text);
        EXPECT_FALSE(text->is_null(0, 0));
        EXPECT_EQ(cell(text), "");
        const auto empty = ask("from empty");
        ASSERT_TRUE(empty) << summary(empty);
        EXPECT_EQ(empty->rows(), 0U);
        EXPECT_EQ(empty->columns(), 2U);
    }
    EXPECT_EQ(server.cli({"--format", "csv", "select null as a, '' as b, 'error' as c"}).out,
              "a,b,c\n,\"\",error\n");
    EXPECT_EQ(server.cli({"--format", "csv", "from empty"}).out, "a,b\n");
}

// Case 17. Goal: exactly one reply to each odd text. Method: send them all at once; each future
// gets its own reply, and the server has none left.
TEST_F(SqlTest, OddTextsGetOneReplyEach) {
    const Server server(duckdb(2, "create table t as select 1 as a;", {"--writable"}));
    auto client = server.connect();
    auto no_result = client.submit("create table u (a integer)");
    auto syntax_error = client.submit("selec 1");
    auto empty = client.submit("");
    auto comment = client.submit("-- nothing here");
    auto semicolons = client.submit(";;");
    auto two = client.submit("select 1; select 2 as two");
    const auto done = reply_of(no_result);
    ASSERT_TRUE(done) << summary(done);
    EXPECT_THAT(summary(reply_of(syntax_error)), StartsWith("query_error: Parser Error"));
    EXPECT_THAT(summary(reply_of(empty)), StartsWith("bad_request: "));
    EXPECT_THAT(summary(reply_of(comment)), StartsWith("bad_request: "));
    EXPECT_THAT(summary(reply_of(semicolons)), StartsWith("bad_request: "));
    EXPECT_EQ(cell(two), "2");
    EXPECT_EQ(cell(client.sync("select count(*) from shortq.queries where mode = 'deferred'")),
              "0");
}

// Case 17. Goal: there is no second reply either, at either engine. Method: a peer that sees all
// that comes sends the odd texts and then one more; replies of one worker come in order.
TEST_F(SqlTest, OddTextsGetNoSecondReply) {
    const Server server(duckdb(1, "create table t as select 1 as a;", {"--writable"}));
    RawPeer peer(server.endpoint());
    const auto session = peer.hello();
    for (const auto mode : {proto::Mode::kDeferred, proto::Mode::kSync}) {
        std::uint64_t id = 0;
        for (const char* text : {"create table u (a integer)", "selec 1", "", "-- nothing here",
                                 ";;", "select 1; select 2 as two", "select 'last'"})
            peer.send(
                {encoded(proto::Request{.id = ++id, .session = session, .mode = mode}), text});
        std::vector<std::uint64_t> replies;
        while (replies.empty() || replies.back() != id) {
            const auto message = peer.next();
            ASSERT_TRUE(message);
            const auto* reply = std::get_if<proto::Reply>(&*message);
            const auto* error = std::get_if<proto::ErrorReply>(&*message);
            if (reply != nullptr && reply->last) replies.push_back(reply->id);
            if (error != nullptr) replies.push_back(error->id);
        }
        EXPECT_THAT(replies, ElementsAre(1, 2, 3, 4, 5, 6, 7));
    }
}

// Case 17. Goal: of several statements all are checked before the first runs. Method: a read before
// a write on a read-only worker is refused as a whole, with the worker unharmed.
TEST_F(SqlTest, AWriteBehindAReadRefusesTheWholeText) {
    const Server server(duckdb(1, "create table t as select 1 as a;"));
    auto client = server.connect();
    EXPECT_THAT(summary(client.deferred("select a from t; insert into t values (2)")),
                StartsWith("read_only: "));
    EXPECT_EQ(cell(client.deferred("select count(*) from t")), "1");
}

// Case 37. Goal: what hides a write is refused, what looks like one is answered. Method: run each;
// afterwards nothing has been written and the same worker serves.
TEST_F(SqlTest, HiddenWritesAreRefused) {
    const Server server(
        duckdb(1, "create table t as select 1 as a; create table s as select 'x' as k, 1 as v;"));
    auto client = server.connect();
    ASSERT_TRUE(server.wait_for_workers(1));
    const auto before = server.workers();
    const auto out = (folder_.path() / "stolen.csv").string();
    const auto log = (folder_.path() / "log").string();
    for (const auto& text : std::vector<std::string>{
             "explain analyze insert into t values (2)", "explain analyze copy t to '" + out + "'",
             "copy t to '" + out + "'",
             "merge into t using (select 2 as a) as n on t.a = n.a when not matched then insert",
             "select * from enable_logging(storage='file', storage_path='" + log + "')",
             "attach '" + out + ".duckdb' as stolen", "create table u (a integer)", "drop table t",
             "update t set a = 3", "set threads = 2", "begin"}) {
        EXPECT_THAT(summary(client.deferred(text)), StartsWith("read_only: ")) << text;
        EXPECT_EQ(server.cli({text}).status, (ExitStatus{.signalled = false, .value = 1})) << text;
    }
    const auto pivot = client.deferred("pivot s on k using sum(v)");
    ASSERT_TRUE(pivot) << summary(pivot);
    EXPECT_TRUE(pivot->column("x")) << pivot->column("x").error().message;
    EXPECT_THAT(summary(client.deferred("select nothing from t")), StartsWith("query_error: "));
    EXPECT_EQ(cell(client.deferred("select count(*) from t")), "1");
    EXPECT_FALSE(std::filesystem::exists(out));
    EXPECT_FALSE(std::filesystem::exists(log));
    EXPECT_EQ(server.workers(), before);
}

// Case 34. Goal: a hung sync query blocks nothing but the sync queries behind it. Method: with one
// under way, the views, the calls and the workers answer another client; then it is cancelled.
TEST_F(SqlTest, AHungSyncQueryBlocksNeitherViewsNorCallsNorWorkers) {
    const Server server(duckdb(1, "create table t as select 1 as a;"));
    auto victim = server.connect();
    auto client = server.connect();
    auto hung = victim.submit_sync(
        "select sum(a.range * b.range) from range(10000000) a, "
        "range(10000000) b");
    std::string id;
    ASSERT_TRUE(wait_until([&] {
        id = cell(
            client.sync("select id from shortq.queries where mode = 'sync' and state = 'running' "
                        "and text like 'select sum(a.range%'"));
        return !id.empty() && id.find_first_not_of("0123456789") == std::string::npos;
    })) << id;
    EXPECT_EQ(cell(client.sync("select count(*) from shortq.workers")), "1");
    EXPECT_EQ(cell(client.deferred("select a from t")), "1");
    const auto called = client.sync("call shortq_cancel(" + id + ")");
    ASSERT_TRUE(called) << summary(called);
    EXPECT_EQ(called->text(0, 0), id);
    EXPECT_THAT(summary(reply_of(hung)), StartsWith("cancelled"));
    EXPECT_EQ(cell(client.sync("select 42")), "42");
}

}  // namespace
}  // namespace shortq::test
