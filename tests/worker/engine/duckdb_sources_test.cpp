// tests/worker/engine/duckdb_sources_test.cpp: scripts, databases, data files and folders as
// sources.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "tests/worker/engine/fixture.h"

namespace shortq::engine::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class DuckDbSourcesTest : public ::testing::Test {
protected:
    // Runs a script that makes files in the folder.
    void make_files(const std::string& script) {
        TempFolder elsewhere;
        (void)start(elsewhere.write("make.sql", script));
    }
    std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

    Error load_error(const std::filesystem::path& source) {
        const auto engine = make();
        const auto loaded = engine->load(source);
        EXPECT_FALSE(loaded);
        return loaded ? Error{} : loaded.error();
    }

    TempFolder folder_;
};

// A failing script names file, line, statement and the engine's own text. Method: an error on a
// known line behind comments, quotes with semicolons and a statement of several lines.
TEST_F(DuckDbSourcesTest, ScriptErrorsNameTheirLine) {
    const auto script = folder_.write("startup.sql",
                                      "-- a comment; with a semicolon\n"
                                      "create table t as\n"
                                      "  select ';' as a;\n"
                                      "\n"
                                      "/* more */ insert into nosuch\n"
                                      "  values (1);\n"
                                      "select 1;\n");
    const Error error = load_error(script);
    EXPECT_EQ(error.code, ErrorCode::kQueryError);
    EXPECT_EQ(error.where, script.string() + ":5");
    EXPECT_THAT(error.message, StartsWith("Catalog Error: Table with name nosuch does not exist!"));
    EXPECT_THAT(error.message, EndsWith("in the statement: insert into nosuch\n  values (1)"));
    EXPECT_EQ(load_error(folder_.write("b.sql", "select 1;\nselec 2;")).where,
              file("b.sql") + ":2");
}

// A script may do anything, and what it made is served. Method: settings, files, macros, variables,
// a PIVOT, an attached database.
TEST_F(DuckDbSourcesTest, ScriptsMayDoAnything) {
    const auto script =
        folder_.write("startup.sql",
                      "set threads = 2;\n"
                      "copy (select 1 as a) to '" +
                          file("out.parquet") +
                          "';\n"
                          "attach '" +
                          file("x.duckdb") +
                          "' as x;\n"
                          "create table x.t as select 5 as b;\n"
                          "detach x;\n"
                          "attach '" +
                          file("x.duckdb") +
                          "' as x (read_only);\n"
                          "create macro twice(v) as v * 2;\n"
                          "create table p as pivot (values (1, 'k')) v(i, k) on k using sum(i);\n"
                          "pragma enable_object_cache;\n"
                          "create view v as from read_parquet('out.parquet');\n");
    const auto engine = start(script);
    EXPECT_EQ(ask(*engine, "select a, twice(b), k from v, x.t, p"), "1|10|1\n");
}

// A script that ends inside a transaction would lose what it has made: it is refused, with the line
// that began it. Method: scripts that leave one open in several ways, some that do not, and a load
// for a fork server.
TEST_F(DuckDbSourcesTest, ScriptsLeaveNoTransactionOpen) {
    const auto script = folder_.write("startup.sql",
                                      "begin; create table a as select 1 as i; commit;\n"
                                      "-- the one that stays open:\n"
                                      "Begin Transaction;\n"
                                      "create table b as select 2 as i;\n");
    const Error error = load_error(script);
    EXPECT_EQ(error.code, ErrorCode::kBadRequest);
    EXPECT_EQ(error.where, script.string() + ":3");
    EXPECT_THAT(error.message, AllOf(HasSubstr("inside a transaction"), HasSubstr("COMMIT")));
    const auto base = make()->load_base(script);
    ASSERT_FALSE(base);
    EXPECT_EQ(base.error().where, script.string() + ":3");
    EXPECT_EQ(load_error(folder_.write("b.sql", "start transaction;")).where, file("b.sql") + ":1");
    EXPECT_EQ(ask(*start(folder_.write("d.sql", "begin; create table t as select 1 as i; end;")),
                  "from t"),
              "1\n");
    EXPECT_EQ(ask(*start(folder_.write("e.sql", "begin; create table t as select 1; abort;")),
                  "show tables"),
              "");
}

// A database file that stays attached is attached read-only, whatever the workers may do: they
// would share the file. Method: a script that leaves one writable; its error; the statement that it
// proposes, which loads.
TEST_F(DuckDbSourcesTest, ScriptsLeaveNoFileAttachedThatCanBeWritten) {
    make_files("attach '" + file("my x.duckdb") + "' as o; create table o.t as select 1 as i;" +
               "create sequence o.s; detach o;");
    const auto script =
        folder_.write("startup.sql", "attach '" + file("my x.duckdb") + "' as \"a b\";\n");
    for (const Access access : {Access::kReadOnly, Access::kWritable}) {
        const auto loaded = make({.access = access})->load(script);
        ASSERT_FALSE(loaded);
        EXPECT_EQ(loaded.error().code, ErrorCode::kBadRequest);
        EXPECT_THAT(loaded.error().message,
                    HasSubstr("ATTACH '" + file("my x.duckdb") + "' AS \"a b\" (READ_ONLY)"));
        const auto engine =
            start(folder_.write("b.sql", "ATTACH '" + file("my x.duckdb") +
                                             "' AS \"a b\" (READ_ONLY);"
                                             "attach ':memory:' as m; create view v as select "
                                             "nextval('\"a b\".s') as n;"),
                  {.access = access});
        EXPECT_EQ(ask(*engine, "select i from \"a b\".t"), "1\n");
        EXPECT_THAT(ask(*engine, "from v"), HasSubstr("attached in read-only mode"));
    }
}

// An empty script serves an empty database; one that cannot be read says so. Method: the files.
TEST_F(DuckDbSourcesTest, OddScriptsAreToldApart) {
    EXPECT_EQ(ask(*start(folder_.write("empty.sql", "-- nothing\n")), "select 1"), "1\n");
    EXPECT_THAT(load_error(file("nosuch.sql")).message,
                AllOf(HasSubstr(file("nosuch.sql")), HasSubstr("no such file or folder"),
                      HasSubstr("a source is a .sql script")));
    const std::string binary("select\0 1", 9);
    EXPECT_THAT(load_error(folder_.write("bin.sql", binary)).message, HasSubstr("NUL byte"));
}

// A database file is attached read-only, is the default one, and stays as it was. Method: query it
// by bare names; two engines at once; compare its bytes.
TEST_F(DuckDbSourcesTest, DatabasesAreServedReadOnly) {
    make_files("attach '" + file("my hdb.duckdb") +
               "' as o; create table o.t as select 7 as i;"
               "create schema o.s; create table o.s.u as select 8 as i; detach o;");
    const auto size = std::filesystem::file_size(file("my hdb.duckdb"));
    const auto one = start(file("my hdb.duckdb"));
    const auto two = start(file("my hdb.duckdb"), {.access = Access::kWritable});
    EXPECT_EQ(ask(*one, "select t.i, u.i from t, s.u"), "7|8\n");
    EXPECT_EQ(ask(*one, "select i from \"my hdb\".t"), "7\n");
    EXPECT_EQ(ask(*one, "pivot t on i using count(*)"), "1\n");
    EXPECT_EQ(ask(*one, "show tables"), "t\n");
    EXPECT_THAT(ask(*two, "insert into t values (1)"), HasSubstr("read-only"));
    EXPECT_EQ(ask(*two, "create temp table mine as from t; from mine"), "7\n");
    EXPECT_EQ(std::filesystem::file_size(file("my hdb.duckdb")), size);
    EXPECT_THAT(folder_.list(), ElementsAre("my hdb.duckdb"));
}

// What only looks like a database, or is broken, is refused with its name. Method: such files.
TEST_F(DuckDbSourcesTest, BrokenDatabasesAreRefused) {
    EXPECT_THAT(load_error(folder_.write("a.duckdb", "not one")).message,
                HasSubstr("not a DuckDB file"));
    const Error error = load_error(folder_.write("b.duckdb", "12345678DUCKrubbish"));
    EXPECT_EQ(error.code, ErrorCode::kBadRequest);
    EXPECT_THAT(error.message, HasSubstr(file("b.duckdb") + ": cannot be opened: "));
    EXPECT_THAT(load_error(folder_.write("x.docx", "?")).message, HasSubstr("of an unknown kind"));
}

// A data file is a table named after it. Method: CSV, TSV, packed CSV and Parquet; a name to quote.
TEST_F(DuckDbSourcesTest, DataFilesAreTables) {
    make_files("copy (select 1 as a, 'x' as b) to '" + file("my \"t\".parquet") +
               "';"
               "copy (select 2 as a) to '" +
               file("z.csv.gz") + "' (format csv, compression gzip);");
    EXPECT_EQ(ask(*start(file("my \"t\".parquet")), "select * from \"my \"\"t\"\"\""), "1|x\n");
    EXPECT_EQ(ask(*start(file("z.csv.gz")), "from z"), "2\n");
    EXPECT_EQ(ask(*start(folder_.write("c.csv", "a,b\n3,4\n")), "from c"), "3|4\n");
    EXPECT_EQ(ask(*start(folder_.write("d.tsv", "a\tb\n5\t6\n")), "select b from d"), "6\n");
    EXPECT_THAT(load_error(folder_.write("e.parquet", "rubbish")).message,
                HasSubstr(file("e.parquet") + ": cannot be read: "));
}

// In a folder each file and each hive-partitioned sub-folder is a table; the rest is noted. Method:
// a folder with all of it; a part added later is not seen.
TEST_F(DuckDbSourcesTest, FoldersServeTheirFilesAndPartitions) {
    std::filesystem::create_directories(folder_.path() / "trades");
    make_files(
        "copy (select i as price, i % 2 as day, 'x''' || i % 3 as sym from range(12) r(i)) to '" +
        file("trades") +
        "' (format parquet, partition_by (day, sym), overwrite_or_ignore);"
        "copy (select 1 as a) to '" +
        file("one.parquet") +
        "';"
        "attach '" +
        file("other.duckdb") + "' as o; create table o.t (i int); detach o;");
    folder_.write("two.csv", "b\n2\n");
    folder_.write("notes.txt", "text");
    folder_.write(".hidden.csv", "c\n3\n");
    folder_.write("plain/x.csv", "d\n4\n");
    const auto engine = start(folder_.path());
    EXPECT_EQ(ask(*engine, "show tables"), "one\ntrades\ntwo\n");
    EXPECT_EQ(ask(*engine, "select a, b from one, two"), "1|2\n");
    EXPECT_EQ(ask(*engine,
                  "select day, sym, count(*), sum(price) from trades group by all order by all "
                  "limit 2"),
              "0|x'0|2|6\n0|x'1|2|14\n");
    const auto notes = engine->notes();
    ASSERT_EQ(notes.size(), 3U);
    EXPECT_THAT(notes[0], AllOf(HasSubstr("notes.txt"), HasSubstr("left out")));
    EXPECT_THAT(notes[1], AllOf(HasSubstr("other.duckdb"), HasSubstr("left out")));
    EXPECT_THAT(notes[2], AllOf(HasSubstr("plain"), HasSubstr("no key=value folders")));

    std::filesystem::create_directories(folder_.path() / "trades/day=2/sym=y");
    make_files("copy (select 1 as price) to '" + file("trades/day=2/sym=y/late.parquet") + "';");
    EXPECT_EQ(ask(*engine, "select count(*) from trades"), "12\n");
    EXPECT_EQ(ask(*start(folder_.path()), "select count(*) from trades"), "13\n");
}

// A folder without data, or with two files for one table, is refused. Method: such folders.
TEST_F(DuckDbSourcesTest, UselessFoldersAreRefused) {
    EXPECT_THAT(load_error(folder_.path()).message, HasSubstr("no Parquet or CSV file"));
    folder_.write("notes.txt", "text");
    EXPECT_THAT(load_error(folder_.path()).message, HasSubstr("notes.txt"));
    folder_.write("a.csv", "x\n1\n");
    folder_.write("A.tsv", "x\n1\n");
    EXPECT_THAT(load_error(folder_.path()).message, HasSubstr("would both be the table"));
}

// The source's folder and the allowed ones may be read, by relative and by whole paths, also when
// the source was given with a trailing slash. Method: read files in both, and outside.
TEST_F(DuckDbSourcesTest, AllowedFoldersMayBeRead) {
    TempFolder allowed;
    TempFolder other;
    const std::string in_allowed = allowed.write("x.csv", "a\n1\n").string();
    const std::string in_other = other.write("x.csv", "a\n1\n").string();
    folder_.write("a.csv", "a\n2\n");
    folder_.write("sub/y.csv", "a\n3\n");
    const auto engine = start(folder_.path().string() + "/", {.allowed_paths = {allowed.path()}});
    EXPECT_EQ(ask(*engine, "from '" + in_allowed + "'"), "1\n");
    EXPECT_EQ(ask(*engine, "from '" + file("sub/y.csv") + "'"), "3\n");
    EXPECT_EQ(ask(*engine, "from 'sub/y.csv'"), "3\n");
    EXPECT_THAT(ask(*engine, "from '" + in_other + "'"), HasSubstr("Permission Error"));
}

// A source given by a relative path, or through a symbolic link, works as by its whole one. Method:
// a script with relative paths, loaded from its parent folder; then through a link to its folder.
TEST_F(DuckDbSourcesTest, RelativeAndLinkedSourcesWork) {
    folder_.write("in/data/x.csv", "a\n1\n");
    folder_.write("in/startup.sql", "create view v as from 'data/*.csv';\nselect nosuch;\n");
    std::filesystem::current_path(folder_.path());
    EXPECT_EQ(load_error("in/startup.sql").where, "in/startup.sql:2");
    folder_.write("in/startup.sql", "create view v as from 'data/*.csv';\n");
    std::filesystem::current_path(folder_.path());
    EXPECT_EQ(ask(*start("in/startup.sql"), "from v"), "1\n");
    std::filesystem::create_directory_symlink(folder_.path() / "in", folder_.path() / "link");
    const auto linked = start(folder_.path() / "link" / "startup.sql");
    EXPECT_EQ(ask(*linked, "from v"), "1\n");
    EXPECT_EQ(ask(*linked, "from '" + file("link/data/x.csv") + "'"), "1\n");
    std::filesystem::current_path("/");
}

// No character in a path keeps a source from being served. Method: each kind of source, with names
// full of quotes, blanks and what means a pattern elsewhere, beside files that such a pattern fits.
TEST_F(DuckDbSourcesTest, OddPathsAreServed) {
    const std::string odd = "it's [1] \"a\" b*; c\\d %20 \xc3\xa9";
    folder_.write(odd + "/x[2]*.csv", "a\n1\n");
    folder_.write(odd + "/x2z.csv", "a\n2\n");
    folder_.write(odd + "/p/day=it's/y[0-9].csv", "a\n3\n");
    make_files("attach '" + file("made.duckdb") +
               "' as o; create table o.t as select 7 as i; detach o;");
    const auto folder = folder_.path() / odd;
    std::filesystem::rename(file("made.duckdb"), folder / "it's.duckdb");
    const auto engine = start(folder);
    EXPECT_EQ(ask(*engine, "show tables"), "p\nx2z\nx[2]*\n");
    EXPECT_EQ(ask(*engine, "select a from \"x[2]*\""), "1\n");
    EXPECT_EQ(ask(*engine, "select * from p"), "3|it's\n");
    EXPECT_EQ(ask(*engine, "from 'x2z.csv'"), "2\n");
    EXPECT_EQ(ask(*start(folder / "x[2]*.csv"), "select a from \"x[2]*\""), "1\n");
    EXPECT_EQ(ask(*start(folder / "it's.duckdb"), "select i from t"), "7\n");
    const auto script = folder_.write(odd + "/it's.sql", "create view v as from 'x2z.csv';\nselec");
    EXPECT_EQ(load_error(script).where, script.string() + ":2");
    folder_.write(odd + "/it's.sql", "create view v as from 'x2z.csv';");
    EXPECT_EQ(ask(*start(script), "from v"), "2\n");
}

// What a symbolic link leads to may be changed under way: who has loaded keeps what it had, the
// next load has the new. Method: a database behind a link; the link is replaced by a rename; its
// target is.
TEST_F(DuckDbSourcesTest, LinksMayBeReplaced) {
    const auto make_database = [&](const std::string& name, int value) {
        make_files("attach '" + file(name) + "' as o; create table o.t as select " +
                   std::to_string(value) + " as i; detach o;");
    };
    make_database("one.duckdb", 1);
    make_database("two.duckdb", 2);
    std::filesystem::create_symlink("one.duckdb", file("hdb.duckdb"));
    const auto first = start(file("hdb.duckdb"));
    std::filesystem::create_symlink("two.duckdb", file("new"));
    std::filesystem::rename(file("new"), file("hdb.duckdb"));
    const auto second = start(file("hdb.duckdb"));
    make_database("three.duckdb", 3);
    std::filesystem::rename(file("three.duckdb"), file("two.duckdb"));
    const auto third = start(file("hdb.duckdb"));
    EXPECT_EQ(ask(*first, "select i from hdb.t"), "1\n");
    EXPECT_EQ(ask(*second, "select i from hdb.t"), "2\n");
    EXPECT_EQ(ask(*third, "select i from hdb.t"), "3\n");
    std::filesystem::remove(file("two.duckdb"));
    EXPECT_THAT(load_error(file("hdb.duckdb")).message, HasSubstr("no such file or folder"));
}

// A file that leaves a folder leaves its table without data until the next load, which no longer
// has the table. Method: remove one of two; the other is served on.
TEST_F(DuckDbSourcesTest, FilesMayLeaveAFolder) {
    folder_.write("stays.csv", "a\n1\n");
    folder_.write("goes.csv", "a\n2\n");
    const auto engine = start(folder_.path());
    std::filesystem::remove(file("goes.csv"));
    EXPECT_THAT(ask(*engine, "from goes"), HasSubstr("goes.csv"));
    EXPECT_EQ(ask(*engine, "from stays"), "1\n");
    const auto next = start(folder_.path());
    EXPECT_EQ(ask(*next, "show tables"), "stays\n");
    std::filesystem::remove(file("stays.csv"));
    EXPECT_THAT(load_error(folder_.path()).message, HasSubstr("no Parquet or CSV file"));
}

// Interrupts end a load. Method: a script that would run for hours; interrupt from another thread.
TEST_F(DuckDbSourcesTest, InterruptsEndALoad) {
    const auto script = folder_.write(
        "long.sql",
        "create table t as select count(*) from range(100000000) a, range(100000000) b;");
    const auto engine = make();
    std::atomic<bool> done{false};
    std::thread interrupter([&] {
        while (!done) {
            engine->interrupt();
            std::this_thread::yield();
        }
    });
    const auto loaded = engine->load(script);
    done = true;
    interrupter.join();
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace shortq::engine::testing
