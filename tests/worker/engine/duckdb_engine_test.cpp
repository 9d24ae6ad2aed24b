// tests/worker/engine/duckdb_engine_test.cpp: interrupts, progress, session state, and the
// settings.
#include "worker/engine/duckdb_engine.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/worker/engine/fixture.h"

namespace shortq::engine::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kEndless =
    "select count(*) from range(100000000) a(i), range(100000000) b(j) where (i * j) % 7 = 3";

// Interrupts every 10 ms from when it is made until it is destroyed, as the worker does.
class Interrupter {
public:
    explicit Interrupter(Engine& engine)
        : thread_([this, &engine] {
              std::unique_lock lock(mutex_);
              while (!stopped_.wait_for(lock, 10ms, [this] { return stop_; })) engine.interrupt();
          }) {}
    ~Interrupter() {
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
        }
        stopped_.notify_all();
        thread_.join();
    }

private:
    std::mutex mutex_;
    std::condition_variable stopped_;
    bool stop_ = false;
    std::thread thread_;
};

// A query that would run for hours ends with kCancelled, and the engine serves on. Method: a cross
// join with one and with two engine threads; interrupts from another thread.
TEST(DuckDbEngineTest, InterruptsEndALongQuery) {
    for (const unsigned threads : {1U, 2U}) {
        const auto engine = start("", {.threads = threads});
        {
            const Interrupter interrupter(*engine);
            EXPECT_THAT(ask(*engine, kEndless), StartsWith("cancelled: "));
        }
        EXPECT_EQ(ask(*engine, "select 1"), "1\n");
        EXPECT_FALSE(engine->sick());
    }
}

// A pause between two statements is no hiding place. Method: a text of very many short statements.
TEST(DuckDbEngineTest, InterruptsEndATextOfManyStatements) {
    const auto engine = start("", {.access = Access::kSync});
    std::string text;
    for (int i = 0; i < 4096; ++i) text += "select count(*) from range(1000000);";
    const Interrupter interrupter(*engine);
    EXPECT_THAT(ask(*engine, text), StartsWith("cancelled: "));
}

// The number of statements in a text is bounded. Method: one too many.
TEST(DuckDbEngineTest, StatementsOfATextAreBounded) {
    const auto engine = start("");
    std::string text;
    for (int i = 0; i < 4096; ++i) text += "select 1;";
    EXPECT_EQ(ask(*engine, text), "1\n");
    EXPECT_EQ(ask(*engine, text + "select 2"),
              "too_large: a query holds at most 4096 statements, this one 4097");
}

// A streamed result ends too. Method: interrupt from within the sink, after the first batch.
TEST(DuckDbEngineTest, InterruptEndsAStreamedResult) {
    class InterruptingSink : public Collector {
    public:
        explicit InterruptingSink(Engine& engine) : engine_(engine) {}
        bool batch(Batch batch) override {
            engine_.interrupt();
            return Collector::batch(std::move(batch));
        }

    private:
        Engine& engine_;
    };
    const auto engine = start("");
    InterruptingSink sink(*engine);
    const auto done = engine->run({"select i from range(100000000) r(i)", {}}, sink);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::kCancelled);
    EXPECT_EQ(sink.batches.size(), 1U);
    EXPECT_EQ(ask(*engine, "select 2"), "2\n");
}

// A sink that says stop ends the run with kCancelled. Method: a sink that refuses its second batch.
TEST(DuckDbEngineTest, SinkEndsTheRun) {
    class ShortSink : public Collector {
    public:
        bool batch(Batch batch) override {
            return Collector::batch(std::move(batch)) && batches.size() < 2;
        }
    };
    const auto engine = start("");
    ShortSink sink;
    const auto done = engine->run({"select i from range(100000000) r(i)", {}}, sink);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::kCancelled);
    EXPECT_EQ(sink.batches.size(), 2U);
}

// An interrupt that comes without a run does nothing to the next one. Method: interrupt, then ask.
TEST(DuckDbEngineTest, LateInterruptsDoNotHitTheNextRun) {
    const auto engine = start("");
    for (int i = 0; i < 50; ++i) {
        engine->interrupt();
        EXPECT_EQ(ask(*engine, "select count(*) from range(1000)"), "1000\n");
    }
}

// Progress of a running query can be asked from another thread. Method: ask until it is known or
// the query is interrupted; it must lie in [0, 1], and be negative without a run.
TEST(DuckDbEngineTest, ProgressIsAFraction) {
    TempFolder folder;
    const auto engine = start(folder.write("a.sql", "create table t as from range(3000000) r(i);"));
    EXPECT_LT(engine->progress(), 0);
    std::atomic<bool> seen{false};
    std::atomic<bool> done{false};
    std::thread watcher([&] {
        while (!done) {
            const double progress = engine->progress();
            EXPECT_LE(progress, 1.0);
            if (progress >= 0) {
                seen = true;
                engine->interrupt();
            }
            std::this_thread::yield();
        }
    });
    (void)ask(*engine, "select max(a.i * b.i % 7) from t a, t b where a.i + b.i > 5");
    done = true;
    watcher.join();
    EXPECT_TRUE(seen);
}

// Sync sessions keep variables, tables and prepared statements. Method: set in one run, use in the
// next.
TEST(DuckDbEngineTest, SyncStatePersists) {
    const auto engine = start("", {.access = Access::kSync});
    EXPECT_EQ(ask(*engine, "set variable xs = range(9)"), "");
    EXPECT_EQ(ask(*engine, "select getvariable('xs')"), "[0, 1, 2, 3, 4, 5, 6, 7, 8]\n");
    EXPECT_EQ(ask(*engine, "create table t (i int); insert into t values (1), (2)"), "2\n");
    EXPECT_EQ(ask(*engine, "select sum(i) from t"), "3\n");
    EXPECT_EQ(ask(*engine, "create temp table u as from t; from u order by i"), "1\n2\n");
    EXPECT_EQ(ask(*engine, "prepare p as select i + $1 from t order by i"), "");
    EXPECT_EQ(ask(*engine, "execute p(10)"), "11\n12\n");
    EXPECT_EQ(ask(*engine, "create sequence s; select nextval('s')"), "1\n");
    EXPECT_EQ(ask(*engine, "select nextval('s')"), "2\n");
    EXPECT_EQ(ask(*engine, "pivot t on i using count(*)"), "1|1\n");
}

// A transaction left open is rolled back; one that is closed counts. Method: both, then look.
TEST(DuckDbEngineTest, OpenTransactionsAreRolledBack) {
    const auto engine = start("", {.access = Access::kSync});
    ASSERT_EQ(ask(*engine, "create table t (i int)"), "");
    EXPECT_EQ(ask(*engine, "begin; insert into t values (1); commit"), "");
    EXPECT_EQ(ask(*engine, "begin; insert into t values (2)"), "1\n");
    EXPECT_EQ(ask(*engine, "from t"), "1\n");
    EXPECT_THAT(ask(*engine, "begin; insert into t values (3); select error('x')"),
                StartsWith("query_error"));
    EXPECT_EQ(ask(*engine, "from t"), "1\n");
    EXPECT_EQ(ask(*engine, "insert into t values (4)"), "1\n");
    EXPECT_EQ(ask(*engine, "select count(*) from t"), "2\n");
}

// Engines that may change their memory still cannot reach files, extensions or settings. Method:
// each such statement, plain, explained and prepared.
TEST(DuckDbEngineTest, WritableEnginesStayInMemory) {
    for (const Access access : {Access::kWritable, Access::kSync}) {
        TempFolder folder;
        const auto engine =
            start(folder.write("a.sql", "create table t (i int);"), {.access = access});
        const auto before = folder.list();
        const std::string out = "'" + (folder.path() / "out").string() + "'";
        for (const std::string& statement :
             std::vector<std::string>{"copy t to " + out,
                                      "copy t from " + out,
                                      "export database " + out,
                                      "import database " + out,
                                      "attach " + out + " as o",
                                      "detach memory",
                                      "install json",
                                      "load json",
                                      "checkpoint",
                                      "set threads = 2",
                                      "set global threads = 2",
                                      "reset threads",
                                      "pragma threads = 2",
                                      "pragma enable_profiling",
                                      "select * from enable_logging()",
                                      "call enable_logging()",
                                      "create secret (type s3)",
                                      "create or replace persistent secret x (type s3)",
                                      "drop secret x",
                                      "from query('copy t to x')",
                                      "update extensions"}) {
            for (const char* prefix : {"", "explain analyze ", "select 1; ", "prepare p as "}) {
                EXPECT_THAT(ask(*engine, prefix + statement), StartsWith("read_only: "))
                    << prefix << statement;
            }
        }
        EXPECT_EQ(folder.list(), before);
        EXPECT_EQ(ask(*engine, "insert into t values (1); from t"), "1\n");
    }
}

// One client cannot hide the others' tables: the session looks names up where it always did.
// Method: each statement that would change that, plain, explained, after others and in a
// transaction; then tables by bare and by whole names.
TEST(DuckDbEngineTest, NamesMeanTheSameForAllClients) {
    for (const Access access : {Access::kWritable, Access::kSync}) {
        const auto engine = start("", {.access = access});
        EXPECT_EQ(ask(*engine, "create schema s; create table t as select 1 as i; from t"), "1\n");
        EXPECT_EQ(ask(*engine, "create table s.u as select 2 as i; from s.u"), "2\n");
        for (const std::string& statement : std::vector<std::string>{
                 "use s", "USE memory.s", "use \"s\"", "use temp", "set schema = 's'",
                 "set schema to s", "set search_path = 's'", "set search_path='temp'",
                 "set session schema = 's'", "set local search_path = 's'",
                 "set global schema = 's'", "set \"schema\" = 's'", "reset schema",
                 "reset search_path", "pragma search_path = 's'", "pragma schema = 's'",
                 "alter database memory set alias to other",
                 "alter database if exists memory set alias to other"}) {
            for (const char* prefix : {"", "explain analyze ", "select 1; ", "begin; "}) {
                EXPECT_THAT(ask(*engine, prefix + statement), StartsWith("read_only: "))
                    << prefix << statement;
            }
        }
        EXPECT_EQ(ask(*engine, "select t.i, u.i, current_schema() from t, memory.s.u"),
                  "1|2|main\n");
    }
}

// The primary's own engine reads no file at all. Method: a file in the working folder and one by
// its whole path.
TEST(DuckDbEngineTest, SyncEngineReadsNoFile) {
    TempFolder folder;
    const std::string file = folder.write("x.csv", "a\n1\n").string();
    const auto engine = start("", {.access = Access::kSync});
    EXPECT_THAT(ask(*engine, "from '" + file + "'"), HasSubstr("Permission Error"));
    EXPECT_THAT(ask(*engine, "from read_text('x')"), HasSubstr("Permission Error"));
}

// Options reach the engine. Method: ask it for its settings.
TEST(DuckDbEngineTest, OptionsReachTheEngine) {
    const auto engine = start("", {.threads = 2, .memory_limit_bytes = 256ULL << 20});
    EXPECT_EQ(ask(*engine, "select current_setting('threads')"), "2\n");
    EXPECT_EQ(ask(*engine, "select current_setting('memory_limit')"), "256.0 MiB\n");
    EXPECT_EQ(ask(*engine, "select current_setting('temp_directory')"), "\n");
    EXPECT_EQ(ask(*engine, "select current_setting('lock_configuration')"), "true\n");
    EXPECT_EQ(ask(*engine, "select current_setting('enable_external_access')"), "false\n");
    EXPECT_EQ(ask(*engine, "select current_setting('autoload_known_extensions')"), "false\n");
}

// A sort larger than memory fails without a temp folder and spills into its own with one. Method:
// the same sort in both engines.
TEST(DuckDbEngineTest, SpillsOnlyIntoItsTempFolder) {
    const std::string sort =
        "select count(*) from (select i, md5(i::varchar) m from range(1000000) r(i) order by m)"
        " where m > ''";
    const auto without = start("", {.memory_limit_bytes = 24ULL << 20});
    EXPECT_THAT(ask(*without, sort), AllOf(StartsWith("query_error"), HasSubstr("Out of Memory")));
    EXPECT_EQ(ask(*without, "select 1"), "1\n");

    TempFolder folder;
    const auto with =
        start("", {.memory_limit_bytes = 24ULL << 20, .temp_directory = folder.path() / "spill"});
    EXPECT_EQ(ask(*with, sort), "1000000\n");
}

// A library of another version is told apart, with both versions and the ways out. Method: compare
// invented versions; then the real one, which must be the build's.
TEST(DuckDbEngineTest, OtherVersionOfTheLibraryIsRefused) {
    EXPECT_TRUE(check_duckdb_version("v1.5.6", "v1.5.6"));
    for (const char* found : {"v1.5.7", "v1.5.60", "v1.5", ""}) {
        const auto checked = check_duckdb_version(found, "v1.5.6");
        ASSERT_FALSE(checked) << found;
        EXPECT_EQ(checked.error().code, ErrorCode::kInternal);
        EXPECT_THAT(checked.error().message,
                    AllOf(HasSubstr("made for DuckDB v1.5.6,"),
                          HasSubstr("libduckdb.so is " + std::string(found) + ":"),
                          HasSubstr("-DSHORTQ_DUCKDB_VERSION=" + std::string(found))));
    }
    EXPECT_TRUE(check_duckdb_version());
}

// Names, versions and misuse give clear errors. Method: each wrong call.
TEST(DuckDbEngineTest, WrongUseIsToldApart) {
    const auto unknown = make_engine("q", {});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, ErrorCode::kBadRequest);
    EXPECT_THAT(unknown.error().message, HasSubstr("duckdb and test"));
    EXPECT_THAT(ask(*make(), "select 1"), StartsWith("internal: "));
}

// Two engines in one process know nothing of each other. Method: a table in one.
TEST(DuckDbEngineTest, EnginesAreSeparate) {
    const auto one = start("", {.access = Access::kSync});
    const auto two = start("", {.access = Access::kSync});
    EXPECT_EQ(ask(*one, "create table t (i int)"), "");
    EXPECT_THAT(ask(*two, "from t"), HasSubstr("Table with name t does not exist"));
    EXPECT_NE(ask(*one, "select uuid()"), ask(*two, "select uuid()"));
}

// Goal: a query that fails midway says why, though its own failure interrupts the rest of it.
// Method: many of them, on several threads, read as they come.
TEST(DuckDbEngineTest, TheErrorOfATaskIsNotLost) {
    const auto engine = start("", {.threads = 4});
    for (int i = 0; i < 100; ++i) {
        const auto answer = ask(*engine,
                                "select case when i = 900000 then error('too far') else i end "
                                "from range(1000000) t(i)");
        ASSERT_THAT(answer, AllOf(StartsWith("query_error"), HasSubstr("too far"))) << i;
    }
}

// Goal: an engine that finds no descriptor as it opens is an error, not the end of the process.
// Method: none is left, one, two, ... until it opens.
TEST(DuckDbOpenTest, WithoutDescriptorsItIsAnError) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const int first = ::dup(STDERR_FILENO);
    ::close(first);
    int left = 0;
    for (;; ++left) {
        ASSERT_LT(left, 100) << "it never opens";
        const rlimit limit{static_cast<rlim_t>(first + left), before.rlim_max};
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
        const auto loaded = make()->load("");
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
        if (loaded) break;
        EXPECT_THAT(loaded.error().message, HasSubstr("Too many open files"));
    }
    EXPECT_GT(left, 1);
}

// Goal: the limit on what may be spilled is kept, not only shown. Method: a sort that needs more.
TEST(DuckDbSpillTest, TheLimitOfSpillingIsKept) {
    TempFolder folder;
    const auto engine = make({.memory_limit_bytes = 20'000'000,
                              .temp_directory = folder.path() / "spill",
                              .temp_bytes_max = 1'000'000});
    ASSERT_TRUE(engine->load(""));
    EXPECT_THAT(ask(*engine,
                    "SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY hash(i), i) "
                    "FROM range(2000000) t(i))"),
                HasSubstr("max_temp_directory_size"));
}

}  // namespace
}  // namespace shortq::engine::testing
