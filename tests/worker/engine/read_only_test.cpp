// tests/worker/engine/read_only_test.cpp: a read-only engine answers questions and refuses the
// rest.
#include <gmock/gmock.h>

#include "tests/worker/engine/fixture.h"

namespace shortq::engine::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A script in a folder that queries may read, so that the settings alone would let files be
// written.
class ReadOnlyTest : public ::testing::Test {
protected:
    ReadOnlyTest() {
        folder_.write("startup.sql",
                      "create table t as select i % 3 as k, i as v from range(10) r(i);\n"
                      "create sequence s;\n"
                      "create macro twice(x) as x * 2;\n"
                      "create macro next() as nextval('s');\n"
                      "create macro nexts() as table select nextval('s') as n;\n"
                      "create view numbered as select nextval('s') as n, v from t;\n");
        engine_ = start(folder_.path() / "startup.sql");
        before_ = folder_.list();
        rows_before_ = ask(*engine_, "select * from t order by v");
    }

    // `text` is refused, and neither a file nor a row has changed.
    void expect_refused(const std::string& text) {
        EXPECT_THAT(ask(*engine_, text), StartsWith("read_only: ")) << text;
        EXPECT_EQ(folder_.list(), before_) << text;
        EXPECT_EQ(ask(*engine_, "select * from t order by v"), rows_before_) << text;
    }

    std::string in_folder(const std::string& name) const {
        return "'" + (folder_.path() / name).string() + "'";
    }

    TempFolder folder_;
    std::unique_ptr<Engine> engine_;
    std::vector<std::string> before_;
    std::string rows_before_;
};

// Whatever would write a file is refused although its folder may be read. Method: each statement,
// plain and inside EXPLAIN ANALYZE; then the folder is compared.
TEST_F(ReadOnlyTest, FilesAreNotWritten) {
    for (const std::string& statement : std::vector<std::string>{
             "copy t to " + in_folder("out.csv"),
             "copy (select 1) to " + in_folder("out.parquet") + " (format parquet)",
             "export database " + in_folder("dump"),
             "attach " + in_folder("other.duckdb") + " as other",
             "copy from database memory to other",
             "checkpoint",
             "force checkpoint",
             "import database " + in_folder("dump"),
             "install json",
             "load json",
             "update extensions",
         }) {
        expect_refused(statement);
        expect_refused("explain analyze " + statement);
        expect_refused("explain " + statement);
        expect_refused("EXPLAIN (ANALYZE, FORMAT json) " + statement);
        expect_refused("select 1; " + statement);
        expect_refused(statement + "; select 1");
    }
    expect_refused("select * from enable_logging(storage='file', storage_path=" + in_folder("log") +
                   ")");
}

// Whatever would change data or leave state behind is refused. Method: each statement of that kind.
TEST_F(ReadOnlyTest, StateIsNotChanged) {
    for (const char* statement : {
             "insert into t values (1, 2)",
             "INSERT INTO t SELECT * FROM t",
             "update t set v = 0",
             "delete from t",
             "truncate t",
             "merge into t using (select 1 as k, 5 as v) s on t.k = s.k when matched then delete",
             "with x as (select 1) insert into t select 1, 2",
             "with x as (select 1), y(a) as materialized (select 2) delete from t",
             "explain analyze insert into t values (1, 2)",
             "explain analyze with x as (select 1) insert into t select 1, 2",
             "explain analyze (format json) delete from t",
             "create table u (i int)",
             "create temp table u (i int)",
             "create or replace view u as select 1",
             "create macro m() as 1",
             "create type e as enum ('a')",
             "alter table t add column x int",
             "drop table t",
             "comment on table t is 'x'",
             "set variable x = 1",
             "reset variable x",
             "set threads = 1",
             "set schema = 'main'",
             "use memory",
             "prepare p as select 1",
             "execute p",
             "deallocate p",
             "begin",
             "begin transaction read only",
             "start transaction",
             "commit",
             "rollback",
             "abort",
             "end",
             "vacuum",
             "analyze",
             "call pragma_version()",
             "call enable_logging()",
             "detach memory",
             "pragma enable_profiling",
             "pragma \"enable_profiling\"",
             "pragma enable_profiling = 'json'",
             "pragma memory_limit = '1GB'",
             "pragma threads = 1",
             "pragma verify_parallelism",
             "pragma force_checkpoint",
             "pragma version = 1",
         }) {
        expect_refused(statement);
    }
}

// Functions with effects are refused however they are written. Method: case, quotes, schema,
// comments, Unicode spaces, dot calls and nesting around the same few names.
TEST_F(ReadOnlyTest, FunctionsWithEffectsAreNotCalled) {
    for (const char* statement : {
             "select nextval('s')",
             "select NEXTVAL ('s')",
             "select \"nextval\"('s')",
             "select \"NextVal\" /* x */ ('s')",
             "select 's'.nextval()",
             "select main.nextval('s')",
             "select nextval--\n('s')",
             "select nextval\xC2\xA0('s')",
             "select nextval\xE2\x80\x83('s')",
             "select /* /* */ ' */ nextval('s') --'",
             "select E'\\' ', nextval('s') --'",
             "select '\\', nextval('s'), '",
             "select $a$ $a$, nextval('s')",
             "select 1 where (select setseed(0.5)) is null",
             "select twice(nextval('s'))",
             "from enable_logging()",
             "select * from enable_logging(level = 'debug')",
             "select * from disable_logging()",
             "select * from enable_profiling()",
             "select * from truncate_duckdb_logs()",
             "select write_log('x')",
             "select * from checkpoint()",
             "select * from force_checkpoint('memory')",
             "select * from json_execute_serialized_sql('{}')",
             "pragma json_execute_serialized_sql('{}')",
             "select json_serialize_plan('select 1')",
             "select * from query('select 1')",
             "select * from read_duckdb('x.duckdb')",
             "select * from arrow_scan(0, 0, 0)",
             "explain analyze select nextval('s')",
             "select 1; select nextval('s')",
         }) {
        expect_refused(statement);
    }
    EXPECT_EQ(ask(*engine_, "select coalesce(last_value, 0) from duckdb_sequences()"), "0\n");
}

// The script's own views and macros keep no state either, although the words of the query that uses
// them are harmless. Method: each, uncached, cached, among other statements and in a PIVOT; then
// the sequence, and queries that only read.
TEST_F(ReadOnlyTest, ViewsAndMacrosThatCountAreNotRun) {
    for (const char* text :
         {"select next()", "select next()", "select * from nexts()", "from numbered",
          "from numbered", "select n from numbered where n is not null",
          "from query_table('numbered')", "explain analyze from numbered",
          "select 1; select next()", "pivot numbered on v using sum(n)",
          "with x as (select next() as n) from x"}) {
        EXPECT_THAT(ask(*engine_, text), StartsWith("read_only: ")) << text;
        EXPECT_EQ(ask(*engine_, "select coalesce(last_value, 0) from duckdb_sequences()"), "0\n");
        EXPECT_EQ(ask(*engine_, "select 1; select 2"), "2\n");
        EXPECT_EQ(ask(*engine_, "pivot t on k using sum(v)"), "18|12|15\n");
    }
}

// A database file is not read by its bare name, which is a call of read_duckdb() that no word
// shows: a second query would wait for the first one's statement to be forgotten. Method: two
// queries in each spelling, and through a view of the script.
TEST(ReadOnlyFenceTest, DatabaseFilesAreNotReadByName) {
    const TempFolder folder;
    const auto script =
        folder.write("a.sql",
                     "attach 'x.duckdb' as x; create table x.t as select 1 as i; detach x;"
                     "attach 'y.db' as y; create table y.t as select 1 as i; detach y;"
                     "create view v as from 'x.duckdb';");
    const auto engine = start(script);
    for (const std::string& text : std::vector<std::string>{
             "from 'x.duckdb'", "from \"x.duckdb\"", "select i from 'x.duckdb' limit 1",
             "from 'y.db'", "from query_table('x.duckdb')",
             "from query_table(['x.duckdb', 'y.db'])", "summarize 'y.db'", "from v",
             "select 1; from '" + (folder.path() / "x.duckdb").string() + "'"}) {
        EXPECT_THAT(ask(*engine, text), HasSubstr("startup script that attaches it")) << text;
    }
    EXPECT_EQ(ask(*engine, "select count(*) from duckdb_databases() where path <> ''"), "0\n");
}

// Secrets are listed without a look at the files that might hold some. Method: list them twice.
TEST_F(ReadOnlyTest, SecretsAreListedWithoutTheirFiles) {
    EXPECT_EQ(ask(*engine_, "select count(*) from duckdb_secrets()"), "0\n");
    EXPECT_EQ(ask(*engine_, "select count(*) from duckdb_secrets()"), "0\n");
}

// A table function that nobody has judged, as extensions bring them, is refused by name; the script
// may offer it. Method: one that the host adds, called directly and through a view.
TEST(ReadOnlyFenceTest, TableFunctionsOfExtensionsAreNotCalled) {
    int calls = 0;
    EngineOptions options;
    options.host_calls.push_back({"dbgen", {"BIGINT"}, {{"a", "BIGINT"}}, [&](auto) {
                                      ++calls;
                                      return Result<std::vector<Value>>({Value(std::int64_t{7})});
                                  }});
    const TempFolder folder;
    const auto engine =
        start(folder.write("a.sql", "create view offered as from dbgen(1);"), std::move(options));
    for (const char* text : {"from dbgen(1)", "select 1; from main.\"DBGen\" (1)",
                             "explain analyze select * from dbgen(1)"}) {
        EXPECT_THAT(ask(*engine, text), StartsWith("read_only: the function dbgen() is refused"));
    }
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(ask(*engine, "from offered"), "7\n");
    EXPECT_EQ(ask(*engine, "select count(*) from range(3)"), "3\n");
}

// Names of refused things are no crime by themselves. Method: as texts, columns and comments.
TEST_F(ReadOnlyTest, NamesAloneAreNotRefused) {
    EXPECT_EQ(ask(*engine_, "select 'nextval(''s'')', 'copy'"), "nextval('s')|copy\n");
    EXPECT_EQ(ask(*engine_, "select 1 as nextval, 2 as \"insert\" /* checkpoint() */"), "1|2\n");
    EXPECT_EQ(ask(*engine_, "select $$ drop table t; $$"), " drop table t; \n");
}

// Everything that reads is answered. Method: each kind of statement on the whitelist.
TEST_F(ReadOnlyTest, ReadingStatementsAreAnswered) {
    for (const char* statement : {
             "select 1",
             "(select 1)",
             "from t",
             "from t select v where v < 3",
             "values (1), (2)",
             "table t",
             "with x as (select 1 as a), y(b) as not materialized (select a from x) select * from "
             "y",
             "with recursive x as (select 1 as a union all select a + 1 from x where a < 3) from x",
             "with x as (from t) pivot x on k using sum(v)",
             "pivot t on k using sum(v)",
             "pivot t on k in (0, 1) using sum(v)",
             "from (pivot t on k using sum(v))",
             "unpivot (select 1 as a, 2 as b) on a, b",
             "explain select 1",
             "explain (format json) select 1",
             "explain analyze select 1",
             "explain (select 1)",
             "explain pivot t on k using sum(v)",
             "explain analyze pivot t on k using sum(v)",
             "describe t",
             "desc select 1",
             "describe",
             "show tables",
             "show all tables",
             "show databases",
             "summarize t",
             "pragma table_info('t')",
             "pragma version",
             "pragma database_size",
             "pragma show_tables",
             "select current_setting('threads')",
             "select random() < 2, uuid() is not null, now() is not null",
         }) {
        const std::string answer = ask(*engine_, statement);
        EXPECT_THAT(answer, Not(HasSubstr("_error: "))) << statement;
        EXPECT_THAT(answer, Not(StartsWith("read_only: "))) << statement;
        EXPECT_THAT(answer, Not(StartsWith("internal: "))) << statement;
    }
}

// A PIVOT without IN is split by the parser, answered, and leaves no type behind. Method: the types
// of the catalog before and after; then a repeat and a plain query.
TEST_F(ReadOnlyTest, PivotIsAnsweredAndLeavesNothing) {
    const std::string types = "select count(*) from duckdb_types()";
    const std::string before = ask(*engine_, types);
    EXPECT_EQ(ask(*engine_, "pivot t on k using sum(v)"), "18|12|15\n");
    EXPECT_EQ(ask(*engine_, "pivot t on k using sum(v)"), "18|12|15\n");
    EXPECT_EQ(ask(*engine_, "select 1; pivot (select k from t) on k using count(*)"), "4|3|3\n");
    EXPECT_THAT(ask(*engine_, "pivot t on nosuch using sum(v)"), StartsWith("query_error: "));
    EXPECT_EQ(ask(*engine_, types), before);
    EXPECT_EQ(ask(*engine_, "select 7"), "7\n");
}

// A table cannot be smuggled in as one of a PIVOT's parts. Method: a CREATE next to one.
TEST_F(ReadOnlyTest, PivotDoesNotCoverOtherStatements) {
    expect_refused("create table p as pivot t on k using sum(v)");
    expect_refused("pivot t on k using sum(v); drop table t");
    expect_refused("explain analyze create table p as pivot t on k using sum(v)");
}

// Odd texts get exactly one reply each, and two statements the last one's result. Method: the
// texts; ask() counts the calls of begin().
TEST_F(ReadOnlyTest, OddTextsGetOneReplyEach) {
    EXPECT_THAT(ask(*engine_, "selec 1"), StartsWith("query_error: Parser Error: syntax error"));
    EXPECT_THAT(ask(*engine_, "select nosuch"), StartsWith("query_error: Binder Error"));
    EXPECT_EQ(ask(*engine_, ""), "bad_request: the query is empty");
    EXPECT_EQ(ask(*engine_, " ; ;"), "bad_request: the query is empty");
    EXPECT_EQ(ask(*engine_, "-- only a comment"), "bad_request: the query is empty");
    EXPECT_EQ(ask(*engine_, "select 1; select 2"), "2\n");
    EXPECT_EQ(ask(*engine_, "select 1; select 2; -- done"), "2\n");
    EXPECT_EQ(ask(*engine_, std::string_view("select 1\0; x", 12)),
              "bad_request: the query holds a NUL byte");
    // The second fails while it runs; the first one's rows are not given out.
    EXPECT_THAT(ask(*engine_, "select 1; select error('late')"), HasSubstr("late"));
}

// Results that look like markers arrive as themselves. Method: NULL, a UUID, the text error, an
// empty text, an empty table.
TEST_F(ReadOnlyTest, ResultsThatLookLikeMarkersArriveAsThemselves) {
    Collector collector;
    const std::string text =
        "select null, '11111111-2222-3333-4444-555555555555'::uuid, 'error', ''";
    ASSERT_TRUE(engine_->run({text, {}}, collector));
    const Table table = collector.table();
    ASSERT_EQ(table.rows(), 1U);
    EXPECT_TRUE(table.is_null(0, 0));
    EXPECT_EQ(table.text(0, 1), "11111111-2222-3333-4444-555555555555");
    EXPECT_EQ(table.text(0, 2), "error");
    EXPECT_FALSE(table.is_null(0, 3));
    EXPECT_EQ(table.text(0, 3), "");

    Collector empty;
    ASSERT_TRUE(engine_->run({"select 1 as a where false", {}}, empty));
    EXPECT_EQ(empty.result_schema.fields.size(), 1U);
    EXPECT_EQ(empty.table().rows(), 0U);
}

// The second fence holds where the gate does not look. Method: files outside the source's folder,
// and settings.
TEST_F(ReadOnlyTest, FilesOutsideTheFolderAreNotRead) {
    const TempFolder other;
    const std::string outside = other.write("x.csv", "a\n1\n").string();
    const std::string inside = folder_.write("x.csv", "a\n1\n").string();
    EXPECT_EQ(ask(*engine_, "from read_csv('" + inside + "')"), "1\n");
    EXPECT_THAT(ask(*engine_, "from read_csv('" + outside + "')"), HasSubstr("Permission Error"));
    EXPECT_THAT(ask(*engine_, "from read_text('" + folder_.path().string() + "/../" +
                                  other.path().filename().string() + "/x.csv')"),
                HasSubstr("Permission Error"));
    for (const char* function : {"read_text", "read_blob", "read_csv", "read_json", "read_parquet",
                                 "parquet_metadata", "parquet_schema", "sniff_csv", "glob"}) {
        const std::string text = std::string("from ") + function + "('/etc/host*')";
        EXPECT_THAT(ask(*engine_, text), HasSubstr("Permission Error")) << text;
    }
}

// Nesting ends before the stack does. Method: twenty thousand of each word that leads to
// another, and of brackets.
TEST_F(ReadOnlyTest, DeepNestingIsRefused) {
    const auto repeated = [](std::string_view text) {
        std::string out;
        for (int i = 0; i < 20000; ++i) out += text;
        return out;
    };
    for (const char* word :
         {"explain ", "explain analyze ", "with x as (select 1) ", "explain (format json) "}) {
        EXPECT_THAT(ask(*engine_, repeated(word) + "select 1"), StartsWith("bad_request: "))
            << word;
    }
    for (const auto& text :
         {repeated("(") + "select 1" + repeated(")"), "select " + repeated("[") + repeated("]"),
          "select " + repeated("abs(") + repeated(")")}) {
        EXPECT_THAT(ask(*engine_, text), StartsWith("query_error: "));
    }
    EXPECT_THAT(ask(*start("", {.access = Access::kSync}), repeated("prepare p as ") + "select 1"),
                StartsWith("bad_request: "));
    EXPECT_EQ(ask(*engine_, "select 1"), "1\n");
}

// A failing statement leaves the engine able to answer. Method: many failures, then a question.
TEST_F(ReadOnlyTest, FailuresDoNotStick) {
    for (int i = 0; i < 20; ++i) {
        EXPECT_THAT(ask(*engine_, "select error('x') from range(5000)"), StartsWith("query_error"));
        EXPECT_THAT(ask(*engine_, "select * from nosuch"), StartsWith("query_error"));
    }
    EXPECT_EQ(ask(*engine_, "select 42"), "42\n");
    EXPECT_FALSE(engine_->sick());
}

}  // namespace
}  // namespace shortq::engine::testing
