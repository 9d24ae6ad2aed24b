// tests/worker/engine/duckdb_base_test.cpp: locks, warming and figures of a loaded database.
#include "worker/engine/duckdb_base.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <vector>

#include "tests/worker/engine/fixture.h"
#include "worker/engine/duckdb_catalog.h"
#include "worker/engine/duckdb_errors.h"
#include "worker/engine/duckdb_handles.h"

namespace shortq::engine::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kMega = 1'000'000;

// A process of its own opens the file for writing. True: it could.
bool another_process_can_write(const std::filesystem::path& file) {
    const pid_t child = ::fork();
    if (child == 0) {
        duckdb_database database = nullptr;
        ::_exit(duckdb_open(file.c_str(), &database) == DuckDBSuccess ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << status;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class DuckDbBaseTest : public ::testing::Test {
protected:
    DuckDbBaseTest() {
        if (duckdb_open(nullptr, database_.out()) != DuckDBSuccess ||
            duckdb_connect(database_.get(), connection_.out()) != DuckDBSuccess) {
            throw std::runtime_error("no database");
        }
        must("SET threads=1");  // So that this process can be forked.
    }
    void must(const std::string& sql) const {
        const auto done = execute(connection_.get(), sql);
        if (!done) throw std::runtime_error(sql + ": " + done.error().message);
    }
    // Makes a file with these tables and attaches it as "base", for reading.
    std::filesystem::path attach(const std::vector<std::string>& tables) const {
        auto file = folder_.path() / "base.duckdb";
        must("ATTACH '" + file.string() + "' AS base");
        for (const auto& table : tables) must(table);
        must("DETACH base");
        must("ATTACH '" + file.string() + "' AS base (READ_ONLY)");
        return file;
    }
    [[nodiscard]] std::uint64_t used() const { return memory_used(connection_.get()).value(); }
    // What warming adds to the memory in use.
    std::uint64_t warmed_bytes(Warm warm, std::uint64_t limit = 0) {
        const auto before = used();
        const auto warmed = warm_tables(connection_.get(), warm, limit, stop_, notes_);
        if (!warmed) throw std::runtime_error(warmed.error().message);
        return used() - before;
    }

    TempFolder folder_;
    Database database_;
    Connection connection_;
    std::atomic<bool> stop_{false};
    std::vector<std::string> notes_;
};

// Eight megabytes that do not compress.
std::string table_of_8_mb(const std::string& name, const std::string& column = "v") {
    return "CREATE TABLE base." + name + " AS SELECT hash(range) AS " + column +
           " FROM range(1000000)";
}

// Goal: no other process writes a file as long as a lock lives, whatever DuckDB itself does.
// Method: another process tries with the lock alone (the file is detached), and after it has gone.
TEST_F(DuckDbBaseTest, ALockKeepsOtherProcessesFromWriting) {
    const auto file = attach({"CREATE TABLE base.t AS SELECT 1 AS a"});
    auto locks = lock_database_files(connection_.get());
    ASSERT_TRUE(locks) << locks.error().message;
    EXPECT_EQ(locks->size(), 1U);
    must("DETACH base");
    EXPECT_FALSE(another_process_can_write(file));
    locks->clear();
    EXPECT_TRUE(another_process_can_write(file));
}

// Goal: a process that inherits a lock has it when the one that made it is gone. Method: a child
// inherits it and waits; this process gives its own up; then the child ends.
TEST_F(DuckDbBaseTest, ALockIsInherited) {
    const auto file = attach({"CREATE TABLE base.t AS SELECT 1 AS a"});
    auto locks = lock_database_files(connection_.get());
    ASSERT_TRUE(locks);
    must("DETACH base");
    int gate[2];
    ASSERT_EQ(::pipe(gate), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(gate[1]);
        char byte = 0;
        ::_exit(::read(gate[0], &byte, 1) == 0 ? 0 : 1);  // Until the other end is closed.
    }
    locks->clear();
    // The process that tries to write must not hold the gate open.
    EXPECT_FALSE(another_process_can_write(file));
    ::close(gate[0]);
    ::close(gate[1]);
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(another_process_can_write(file));
}

// Goal: `off` reads nothing, `all` everything. Method: a table of 8 MB, and the memory in use.
TEST_F(DuckDbBaseTest, WarmingReadsTablesOfFiles) {
    attach({table_of_8_mb("t")});
    EXPECT_LT(warmed_bytes(Warm::kOff), kMega);
    EXPECT_GT(warmed_bytes(Warm::kAll), 7 * kMega);
    EXPECT_LT(warmed_bytes(Warm::kAll), kMega) << "it has been read";
    EXPECT_THAT(notes_, IsEmpty());
}

// Goal: names never keep a table cold. Method: tables, schemas and columns with odd names, among
// them a column with the name that the warming query might give to its table.
TEST_F(DuckDbBaseTest, WarmingCopesWithNames) {
    attach({table_of_8_mb("\"a \"\"b.c's\""), "CREATE SCHEMA base.\"s.\"\"x\"",
            table_of_8_mb("\"s.\"\"x\".\"select\"", "\"from\""),
            "CREATE TABLE base.u AS SELECT 1 AS t, hash(range) AS v FROM range(1000000)"});
    EXPECT_GT(warmed_bytes(Warm::kAll), 3 * 7 * kMega);
}

// Goal: `auto` stays within half of the limit and says what it left out; small tables come first.
// Method: a limit with room for one of two tables.
TEST_F(DuckDbBaseTest, WarmingStopsWhereThereIsNoRoom) {
    attach({"CREATE TABLE base.big AS SELECT hash(range) AS v FROM range(5000000)",
            table_of_8_mb("small")});
    EXPECT_THAT(warmed_bytes(Warm::kAuto, 40 * kMega),
                AllOf(::testing::Gt(7 * kMega), ::testing::Lt(20 * kMega)));
    EXPECT_THAT(notes_, ElementsAre(AllOf(HasSubstr("\"big\""), HasSubstr("--warm all"))));
    EXPECT_GT(warmed_bytes(Warm::kAuto), 30 * kMega) << "no limit, all fits";
    EXPECT_THAT(notes_, ::testing::SizeIs(1));
}

// Goal: an interrupt ends the warming. Method: raised before.
TEST_F(DuckDbBaseTest, WarmingObeysAnInterrupt) {
    attach({table_of_8_mb("t")});
    stop_ = true;
    const auto warmed = warm_tables(connection_.get(), Warm::kAll, 0, stop_, notes_);
    ASSERT_FALSE(warmed);
    EXPECT_EQ(warmed.error().code, ErrorCode::kCancelled);
}

// Goal: data in temporary files is seen. Method: more than fits, with a folder to spill into.
TEST_F(DuckDbBaseTest, SpilledBytesAreCounted) {
    EXPECT_EQ(bytes_spilled(connection_.get()), 0U);
    must("SET temp_directory='" + (folder_.path() / "spill").string() + "'");
    must("SET memory_limit='20MB'");
    must("CREATE TABLE t AS SELECT hash(range) AS v FROM range(5000000)");
    const auto spilled = bytes_spilled(connection_.get());
    ASSERT_TRUE(spilled);
    EXPECT_GT(*spilled, kMega);
}

// Goal: what can be read again from a file is no burden, what cannot is one, spilled or not.
// Method: a table of a file, read; the same in memory; then so little memory that it spills.
TEST_F(DuckDbBaseTest, OnlyWhatIsInNoFileIsHeld) {
    attach({table_of_8_mb("t")});
    EXPECT_GT(warmed_bytes(Warm::kAll), 7 * kMega);
    const auto held = [&] { return memory_held(connection_.get()).value(); };
    EXPECT_LT(held(), kMega);
    must("CREATE TABLE mine AS FROM base.t");
    EXPECT_GT(held(), 7 * kMega);
    must("SET temp_directory='" + (folder_.path() / "spill").string() + "'");
    must("SET memory_limit='4MB'");
    EXPECT_LT(used(), 4 * kMega);
    EXPECT_GT(held(), 7 * kMega);
}

// Goal: what a script has read of files does not take the room of queries; tables in memory stay,
// and the limit is as it was. Method: as much of both as leaves less than half.
TEST_F(DuckDbBaseTest, PagesOfFilesMakeRoom) {
    must("SET temp_directory=''");  // As in a fork server.
    attach({table_of_8_mb("t"), table_of_8_mb("u")});
    must("CREATE TABLE mine AS FROM base.t");
    EXPECT_GT(warmed_bytes(Warm::kAll), 7 * kMega);
    must("SET memory_limit='64MB'");
    const auto all = used();
    drop_file_pages(connection_.get(), 64 * kMega);
    EXPECT_EQ(used(), all) << "there is room";
    must("SET memory_limit='40MB'");
    drop_file_pages(connection_.get(), 40 * kMega);
    EXPECT_LE(used(), 20 * kMega);
    const auto limit = [&] {
        return texts(connection_.get(), "SELECT current_setting('memory_limit')").value().front();
    };
    EXPECT_EQ(limit(), "38.1 MiB");
    must("SET memory_limit='16MB'");
    drop_file_pages(connection_.get(), 16 * kMega);
    EXPECT_THAT(used(), AllOf(::testing::Gt(7 * kMega), ::testing::Lt(14 * kMega)));
    EXPECT_EQ(limit(), "15.2 MiB") << "though the half of it cannot be reached";
    must("SET memory_limit='64MB'");
    EXPECT_GT(warmed_bytes(Warm::kAll), 7 * kMega) << "it can be read again";
}

}  // namespace
}  // namespace shortq::engine::testing
