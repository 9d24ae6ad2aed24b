// tests/faults/source_faults_test.cpp: the data that a server is to read is broken, or is not
// there.
#include <fstream>
#include <sstream>

#include "tests/faults/faults.h"

namespace shortq::test {
namespace {

using ::testing::HasSubstr;

class SourceFaultsTest : public Faults {
protected:
    struct Broken {
        const char* how;
        std::string content;
    };
    // What may become of a good file.
    [[nodiscard]] static std::vector<Broken> broken(const std::string& good, Seed& seed) {
        auto garbage = good;
        for (std::size_t i = 0; i < 64; ++i)
            garbage.at(seed.between(0, 3) * 4096 + i + 8) = static_cast<char>(seed.next());
        auto wrong_magic = good;
        std::ranges::fill(wrong_magic.begin(), wrong_magic.begin() + 16, '?');
        std::string noise(good.size(), '\0');
        for (auto& byte : noise) byte = static_cast<char>(seed.next());
        return {{"truncated", good.substr(0, good.size() / 3)},
                {"overwritten in its headers", garbage},
                {"of another kind", wrong_magic},
                {"noise", noise},
                {"empty", ""}};
    }
    // A folder with two tables.
    [[nodiscard]] std::string write_folder() const {
        const auto folder = folder_.path() / "data";
        std::filesystem::create_directory(folder);
        folder_.write("data/other.csv", "i\n1\n2\n3\n");
        write_parquet(folder / "t.parquet");
        return folder.string();
    }
    void write_parquet(const std::filesystem::path& file) const {
        const auto script = folder_.write(
            "copy.sql", "copy (select range as i from range(1000)) to '" + file.string() +
                            "' (format parquet);\nselect error('it was written');\n");
        const auto outcome = run(shortq_program(), {"--port", "0", "--spawn", "exec", "--log-level",
                                                    "error", "1", script});
        ASSERT_THAT(outcome.err, HasSubstr("it was written"));
    }
    [[nodiscard]] static std::string reload(Client& client) {
        const auto reply = client.sync("call shortq_reload()");
        return reply ? "ok" : summary(reply) + " at " + reply.error().where;
    }
    [[nodiscard]] static std::string rows(Client& client) {
        return cell(client.deferred("select count(*) from t where i < 1000000"));
    }
    // Kills what can bring a new worker forth without reading the source, and one worker.
    static void kill_one(const Server& server) {
        for (const auto loader : server.fork_servers()) (void)send_signal(loader, SIGKILL);
        ASSERT_TRUE(send_signal(server.workers().front(), SIGKILL));
    }
};

// Goal: a reload of what cannot be read changes nothing and names the file. Method: a database file
// is replaced by broken ones, under load, and by nothing; then by a good one.
TEST_F(SourceFaultsTest, AReloadOfABrokenDatabaseLeavesTheOldOneServing) {
    Seed seed;
    const auto file = write_database("served.duckdb");
    const auto good = read_file(file);
    const Server server({"2", file});
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, 2));
    const auto workers = server.workers();
    Ledger ledger(server.endpoint(), seed,
                  {.clients = 1, .each = {.asks = {Ask::kShort, Ask::kWork, Ask::kSync}}});
    for (const auto& [how, content] : broken(good, seed)) {
        SCOPED_TRACE(how);
        rewrite("served.duckdb", content);
        EXPECT_THAT(reload(client), HasSubstr("served.duckdb"));
        EXPECT_EQ(rows(client), "1000");
    }
    std::filesystem::remove(file);
    EXPECT_THAT(reload(client), HasSubstr("served.duckdb"));
    EXPECT_EQ(rows(client), "1000");
    EXPECT_TRUE(wait_until([&] { return server.workers() == workers; })) << "those that served";
    rewrite("served.duckdb", good);
    EXPECT_EQ(reload(client), "ok");
    EXPECT_EQ(rows(client), "1000");
    expect_kept(ledger.finish(), {});
    expect_at_rest(client);
}

// Goal: a database that is broken inside gives errors, never wrong answers. Method: overwrite a
// page of the file somewhere; the reload says so, and the old generation serves; or, where workers
// load without reading everything, the queries do.
TEST_F(SourceFaultsTest, ADatabaseThatIsBrokenInsideGivesNoWrongAnswer) {
    Seed seed;
    auto file = (folder_.path() / "inside.duckdb").string();
    ASSERT_THAT(attempt_to_write(file,
                                 "create table f.t as select (hash(range) % 1000000007)::bigint as "
                                 "i from range(200000)"),
                HasSubstr("it was written"));
    const auto good = read_file(file);
    const Server server({"2", file});
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, 2));
    const auto sum = [&] { return cell(client.deferred("select sum(i) from t")); };
    const auto right = sum();
    bool taken_over = false;
    for (int round = 0; round < 3; ++round) {
        auto content = good;
        const auto at = seed.between(3 * 4096, good.size() - 4096);
        for (std::size_t i = 0; i < 4096; ++i) content.at(at + i) = static_cast<char>(seed.next());
        rewrite("inside.duckdb", content);
        const auto said = reload(client);
        const auto answer = sum();
        if (said != "ok") {
            EXPECT_THAT(said, HasSubstr("inside.duckdb"));
            if (!taken_over) {
                EXPECT_EQ(answer, right) << "the old generation serves";
            }
        } else if (answer != right) {
            EXPECT_FALSE(forks()) << "what was read in advance is right";
            EXPECT_THAT(answer, HasSubstr("Corrupt database file"));
        }
        taken_over = taken_over || said == "ok";
    }
    rewrite("inside.duckdb", good);
    EXPECT_EQ(reload(client), "ok");
    EXPECT_EQ(sum(), right);
    expect_all_back(client, 2);
    expect_at_rest(client);
}

// Goal: a worker whose data has vanished or broken is replaced once it is back; until then the
// others serve. Method: take the file away, or break it, and kill a worker, and the fork server.
TEST_F(SourceFaultsTest, AWorkerIsReplacedOnceItsDataIsBack) {
    Seed seed;
    const auto file = write_database("served.duckdb");
    const auto good = read_file(file);
    const Server server({"2", file});
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, 2));
    Ledger ledger(server.endpoint(), seed,
                  {.clients = 1, .each = {.asks = {Ask::kShort, Ask::kWork}}});
    std::size_t logged = 0;
    const auto told = [&] {
        const auto log = server.log().substr(logged);
        const auto at = log.find("cannot load");
        return at != std::string::npos && log.find("served.duckdb", at) != std::string::npos;
    };
    const std::vector<std::function<void()>> faults{
        [&] { std::filesystem::remove(file); },
        [&] { rewrite("served.duckdb", good.substr(0, good.size() / 3)); }};
    for (const auto& fault : faults) {
        fault();
        kill_one(server);
        ASSERT_TRUE(wait_until(told)) << server.log();
        EXPECT_EQ(rows(client), "1000") << "by the other one";
        rewrite("served.duckdb", good);
        expect_all_back(client, 2);
        for (int i = 0; i < 4; ++i) EXPECT_EQ(rows(client), "1000");
        logged = server.log().size();
    }
    expect_kept_through_losses(ledger.finish(), faults.size());
    expect_at_rest(client);
}

// Case 36. Goal: nobody writes a database that is served, however workers are started. Method:
// another process tries, before and after those who opened it first were killed.
TEST_F(SourceFaultsTest, AServedDatabaseCannotBeWritten) {
    const auto file = write_database("served.duckdb");
    {
        const Server server({"2", file});
        auto client = server.connect();
        ASSERT_TRUE(wait_until_ready(client, 2));
        EXPECT_THAT(attempt_to_write(file), HasSubstr("lock"));
        kill_one(server);
        EXPECT_THAT(attempt_to_write(file), HasSubstr("lock"));
        expect_all_back(client, 2);
        EXPECT_EQ(rows(client), "1000");
    }
    EXPECT_THAT(attempt_to_write(file), HasSubstr("it was written"));
}

// Goal: a file of a folder that vanishes or breaks is an error of the queries that read it, with
// its name. Method: break it, take it away; the other table is served; a reload says what it cannot
// read.
TEST_F(SourceFaultsTest, AFileOfAFolderThatBreaksIsNamed) {
    Seed seed;
    const auto folder = write_folder();
    const auto good = read_file(folder + "/t.parquet");
    const Server server({"2", folder});
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, 2));
    EXPECT_EQ(rows(client), "1000");
    const auto other = [&] { return cell(client.deferred("select sum(i) from other")); };
    for (const auto& content :
         {good.substr(0, good.size() / 2), std::string(), std::string(5000, '?')}) {
        rewrite("data/t.parquet", content);
        EXPECT_THAT(reload(client), HasSubstr("t.parquet"));
        for (int i = 0; i < 4; ++i) {
            EXPECT_THAT(rows(client), HasSubstr("t.parquet"));
            EXPECT_EQ(other(), "6");
        }
    }
    std::filesystem::remove(folder + "/t.parquet");
    for (int i = 0; i < 4; ++i) {
        EXPECT_THAT(rows(client), HasSubstr("t.parquet"));
        EXPECT_EQ(other(), "6");
    }
    rewrite("data/t.parquet", good);
    EXPECT_EQ(rows(client), "1000");
    EXPECT_EQ(reload(client), "ok");
    EXPECT_EQ(rows(client), "1000");
    expect_at_rest(client);
}

// Goal: a folder that is gone is named, and the old generation lives until it is back. Method: move
// it away, reload, move it back, reload.
TEST_F(SourceFaultsTest, AFolderThatVanishesIsNamed) {
    const auto folder = write_folder();
    const Server server({"1", folder});
    auto client = server.connect();
    std::filesystem::rename(folder, folder + "-away");
    EXPECT_THAT(reload(client), HasSubstr(folder));
    EXPECT_THAT(rows(client), HasSubstr("t.parquet"));
    EXPECT_EQ(cell(client.deferred("select 42")), "42");
    std::filesystem::rename(folder + "-away", folder);
    EXPECT_EQ(rows(client), "1000");
    EXPECT_EQ(reload(client), "ok");
    EXPECT_EQ(rows(client), "1000");
    expect_at_rest(client);
}

}  // namespace
}  // namespace shortq::test
