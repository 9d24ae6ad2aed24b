// tests/worker/engine/forked_engine_test.cpp: an engine that is loaded once and forked: each child
// of this process becomes an engine of its own.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <thread>

#include "tests/worker/engine/fixture.h"

namespace shortq::engine::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// What `work` says in a child of this process.
std::string in_a_child(const std::function<std::string()>& work) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::runtime_error("pipe");
    const pid_t child = ::fork();
    if (child == 0) {
        const auto said = work();
        const bool written =
            ::write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
        ::_exit(written ? 0 : 1);
    }
    ::close(ends[1]);
    std::string said;
    std::array<char, 4096> buffer{};
    for (ssize_t size = 0; (size = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
        said.append(buffer.data(), static_cast<std::size_t>(size));
    }
    ::close(ends[0]);
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "the child died";
    return said;
}

class ForkedEngineTest : public ::testing::Test {
protected:
    // Loads, and makes ready to be forked.
    void load(std::string_view script, Warm warm = Warm::kAuto) {
        engine_ = make({.threads = 2, .memory_limit_bytes = std::uint64_t{1} << 30});
        const auto loaded = engine_->load_base(folder_.write("startup.sql", script));
        if (!loaded) throw std::runtime_error(loaded.error().message);
        const auto base = engine_->prepare_fork(warm);
        if (!base) throw std::runtime_error(base.error().message);
        base_ = *base;
    }
    [[nodiscard]] EngineOptions worker_options() const {
        return {.threads = 1, .temp_directory = folder_.path() / "spill", .seat = 1};
    }
    // The answer of an engine in a child.
    [[nodiscard]] std::string forked(const std::string& sql, EngineOptions options) const {
        return in_a_child([&]() -> std::string {
            const auto started = engine_->start_forked(options);
            if (!started) return "does not start: " + started.error().message;
            return ask(*engine_, sql);
        });
    }
    [[nodiscard]] std::string forked(const std::string& sql) const {
        return forked(sql, worker_options());
    }

    TempFolder folder_;
    std::unique_ptr<Engine> engine_;
    ForkBase base_;
};

// Goal: children have the data, and no more threads or files than they need. Method: load, count in
// several children; in the parent one thread is left.
TEST_F(ForkedEngineTest, ChildrenHaveTheData) {
    load("CREATE TABLE t AS SELECT range AS i FROM range(1000000);");
    EXPECT_GT(base_.memory_bytes, 1'000'000U);
    for (int child = 0; child < 3; ++child) {
        EXPECT_EQ(forked("SELECT count(*), sum(i) FROM t"), "1000000|499999500000\n");
    }
}

// Goal: nothing random is the same in two children. Method: ask several children for everything
// that is random.
TEST_F(ForkedEngineTest, RandomDiffersBetweenChildren) {
    load("CREATE TABLE t AS SELECT random() AS r FROM range(1000); SELECT setseed(0.5);");
    const std::string sql =
        "SELECT random()::VARCHAR UNION ALL SELECT uuid()::VARCHAR UNION ALL "
        "SELECT gen_random_uuid()::VARCHAR UNION ALL SELECT uuidv7()::VARCHAR UNION ALL "
        "SELECT string_agg(r::VARCHAR, ' ') FROM (FROM t USING SAMPLE 3 ROWS)";
    std::set<std::string> seen;
    constexpr int kChildren = 5;
    for (int child = 0; child < kChildren; ++child) {
        std::istringstream lines(forked(sql));
        for (std::string line; std::getline(lines, line);) {
            EXPECT_TRUE(seen.insert(line).second) << line;
        }
    }
    EXPECT_EQ(seen.size(), 5U * kChildren);
}

// Goal: the session of the script goes along. Method: variables and settings.
TEST_F(ForkedEngineTest, ChildrenHaveTheSession) {
    load(
        "SET VARIABLE v = ['it''s', NULL]; SET SESSION default_null_order = 'nulls_first'; "
        "SET TimeZone = 'Asia/Kathmandu';");
    EXPECT_EQ(forked("SELECT getvariable('v')[1], current_setting('default_null_order'), "
                     "current_setting('TimeZone')"),
              "it's|NULLS_FIRST|Asia/Kathmandu\n");
}

// Goal: a child has its own limits. Method: read them, and spill.
TEST_F(ForkedEngineTest, ChildrenHaveTheirOwnLimits) {
    load("CREATE TABLE t AS SELECT hash(range) AS h FROM range(1000000);");
    auto options = worker_options();
    options.threads = 2;
    options.memory_limit_bytes = 64'000'000;
    options.temp_bytes_max = 500'000'000;
    EXPECT_EQ(forked("SELECT current_setting('threads'), current_setting('temp_directory'), "
                     "current_setting('memory_limit'), current_setting('max_temp_directory_size')",
                     options),
              "2|" + (folder_.path() / "spill").string() + "|61.0 MiB|476.8 MiB\n");
    EXPECT_EQ(
        forked("SELECT count(*) FROM (SELECT DISTINCT range, hash(range) FROM range(3000000))",
               options),
        "3000000\n");
}

// Goal: a forked engine is as locked as any. Method: what each fence refuses.
TEST_F(ForkedEngineTest, ChildrenAreLockedDown) {
    load("CREATE TABLE t AS SELECT 1 AS a;");
    EXPECT_THAT(forked("INSERT INTO t VALUES (2)"), StartsWith("read_only: "));
    EXPECT_THAT(forked("SET threads = 8"), StartsWith("read_only: "));
    EXPECT_THAT(forked("FROM read_text('/etc/passwd')"), StartsWith("query_error: "));
    EXPECT_EQ(forked("SELECT current_setting('lock_configuration'), "
                     "current_setting('enable_external_access')"),
              "true|false\n");
    folder_.write("beside.csv", "a\n7\n");
    EXPECT_EQ(forked("FROM 'beside.csv'"), "7\n");
}

// Goal: an attached file that could be written is refused before the fork. Method: attach without
// READ_ONLY.
TEST_F(ForkedEngineTest, AWritableAttachmentIsRefused) {
    engine_ = make();
    const auto loaded = engine_->load_base(folder_.write("startup.sql", "ATTACH 'x.duckdb' AS x;"));
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, ErrorCode::kBadRequest);
    EXPECT_THAT(loaded.error().message, AllOf(HasSubstr("ATTACH '"), HasSubstr("(READ_ONLY)")));
}

// Goal: no two workers spill into one folder. Method: a script that names one, for the fork server
// and for a worker that loads for itself; and a script that sets what it had.
TEST_F(ForkedEngineTest, AScriptsOwnSpillFolderIsRefused) {
    const auto script = folder_.write("startup.sql", "SET temp_directory='spill';");
    const auto base = make()->load_base(script);
    ASSERT_FALSE(base);
    EXPECT_EQ(base.error().code, ErrorCode::kBadRequest);
    EXPECT_THAT(base.error().message, AllOf(HasSubstr("temp_directory"), HasSubstr("TMPDIR")));
    EXPECT_FALSE(make(worker_options())->load(script));
    const auto same = folder_.write(
        "same.sql", "SET temp_directory='" + (folder_.path() / "spill").string() + "';");
    EXPECT_TRUE(make(worker_options())->load(same));
}

// Goal: no child is forked from data that lies in a temporary file. Method: a folder to spill into,
// which no fork server has, and too small a limit.
TEST_F(ForkedEngineTest, SpilledDataCannotBeForked) {
    engine_ = make({.memory_limit_bytes = 20'000'000, .temp_directory = folder_.path() / "spill"});
    const auto loaded = engine_->load_base(folder_.write(
        "startup.sql", "CREATE TABLE t AS SELECT hash(range) AS v FROM range(5000000);"));
    ASSERT_TRUE(loaded) << loaded.error().message;
    const auto base = engine_->prepare_fork(Warm::kAuto);
    ASSERT_FALSE(base);
    EXPECT_THAT(base.error().message, HasSubstr("temporary file"));
}

// Goal: data that cannot be read is no data to serve. Method: a database file with a page that was
// overwritten after it was written; reading in advance finds it, and says it as a failed load.
TEST_F(ForkedEngineTest, DataThatCannotBeReadIsAFailedLoad) {
    const auto file = (folder_.path() / "broken.duckdb").string();
    {
        const auto writer = make({});
        ASSERT_TRUE(writer->load_base(
            folder_.write("write.sql", "ATTACH '" + file +
                                           "' AS d; CREATE TABLE d.t AS SELECT hash(range) AS h "
                                           "FROM range(200000); DETACH d;")));
    }
    std::fstream broken(file, std::ios::in | std::ios::out | std::ios::binary);
    broken.seekp(0, std::ios::end);
    broken.seekp(broken.tellp() / 2);
    broken << std::string(1000, '?');
    broken.close();
    const auto engine = make({});
    ASSERT_TRUE(
        engine->load_base(folder_.write("read.sql", "ATTACH '" + file + "' AS d (READ_ONLY);")));
    const auto base = engine->prepare_fork(Warm::kAuto);
    ASSERT_FALSE(base);
    EXPECT_EQ(base.error().code, ErrorCode::kQueryError);
    EXPECT_THAT(base.error().message,
                AllOf(HasSubstr("\"t\" cannot be read"), HasSubstr("Corrupt database file")));
}

// Goal: the test engine's lines are read where they belong. Method: lines for all and for a seat.
TEST(ForkedTestEngineTest, LinesForASeatAreTheChilds) {
    TempFolder folder;
    const auto load = [&](const std::string& lines, Engine& engine) {
        return engine.load_base(folder.write("source", lines));
    };
    const auto engine = make({.seat = 1}, "test");
    ASSERT_TRUE(load("load-fail-seat 1 not here\nload-fail-seat 3 a reason\n", *engine));
    ASSERT_TRUE(engine->prepare_fork(Warm::kAuto));
    EXPECT_TRUE(engine->start_forked({.seat = 2}));
    EXPECT_EQ(ask(*engine, "seat"), "2\n");
    const auto third = engine->start_forked({.seat = 3});
    ASSERT_FALSE(third);
    EXPECT_EQ(third.error().message, "a reason");
    EXPECT_EQ(third.error().where, (folder.path() / "source").string() + ":2");

    const auto failing = load("load-fail for all\n", *make({}, "test"));
    ASSERT_FALSE(failing);
    EXPECT_EQ(failing.error().message, "for all");

    const auto stubborn = make({}, "test");
    ASSERT_TRUE(load("cannot-fork it keeps threads\n", *stubborn));
    const auto base = stubborn->prepare_fork(Warm::kAuto);
    ASSERT_FALSE(base);
    EXPECT_EQ(base.error().message, "it keeps threads");
}

}  // namespace
}  // namespace shortq::engine::testing
