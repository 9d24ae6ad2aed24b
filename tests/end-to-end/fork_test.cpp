// tests/end-to-end/fork_test.cpp: workers that are forked from one loaded process.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/end-to-end/fixture.h"

namespace shortq::test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr milliseconds kOneSecond{1000};
const ExitStatus kSucceeded{.signalled = false, .value = 0};
const ExitStatus kFailed{.signalled = false, .value = 1};

class ForkTest : public EndToEnd {
protected:
    // As kill(2), for one process and no other number: -1 would mean every process there is.
    [[nodiscard]] static bool send_signal(pid_t pid, int signal) {
        if (pid <= 1) throw std::runtime_error("no process to send a signal to");
        return ::kill(pid, signal) == 0;
    }
    // Waits until a fork server, and only one, is there. Throws if it does not come.
    [[nodiscard]] static pid_t fork_server(const Server& server, pid_t other_than = -1) {
        pid_t found = -1;
        const bool came = wait_until([&] {
            const auto all = server.fork_servers();
            if (all.size() != 1 || all[0] == other_than) return false;
            found = all[0];
            return true;
        });
        if (!came) throw std::runtime_error("no fork server; log:\n" + server.log());
        return found;
    }
    [[nodiscard]] static bool wait_until_ready(Client& client, std::size_t workers) {
        return wait_until([&] {
            return cell(client.sync("select count(*) from shortq.workers where state = 'ready'")) ==
                   std::to_string(workers);
        });
    }
    // Ends a worker, and waits until its seat has another one that can answer.
    static void replace(const Server& server, Client& client, pid_t worker) {
        // By the primary's word: a fork server that has just begun still looks like a worker.
        const auto count = static_cast<std::size_t>(client.server().workers);
        ASSERT_TRUE(send_signal(worker, SIGKILL));
        ASSERT_TRUE(wait_until([&] {
            const auto now = server.workers();
            return now.size() == count && std::ranges::find(now, worker) == now.end();
        })) << server.log();
        ASSERT_TRUE(wait_until_ready(client, count));
    }
    // How many of the workers are processes that a kill has not collected yet, or nobody's.
    [[nodiscard]] static std::vector<std::string> zombies_of(pid_t parent) {
        std::vector<std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
            const auto stat = read_file(entry.path() / "stat");
            const auto close = stat.rfind(')');
            if (close == std::string::npos) continue;
            const auto rest = stat.substr(close);
            if (rest.starts_with(") Z " + std::to_string(parent) + " ")) found.push_back(stat);
        }
        return found;
    }
    [[nodiscard]] static std::size_t open_files(pid_t pid) {
        std::error_code ignored;
        const std::filesystem::directory_iterator files("/proc/" + std::to_string(pid) + "/fd",
                                                        ignored);
        return static_cast<std::size_t>(std::distance(begin(files), end(files)));
    }
    // Makes a database file with a table t of 1000 rows, by a script that ends with an error.
    [[nodiscard]] std::string write_database(const std::string& name) const {
        auto file = (folder_.path() / name).string();
        EXPECT_THAT(
            attempt_to_write(file, "create table f.t as select range as i from range(1000)"),
            HasSubstr("it was written"));
        return file;
    }
    // What another process says that opens the file for writing.
    [[nodiscard]] std::string attempt_to_write(const std::string& file,
                                               const std::string& sql = "select 1") const {
        const auto script = folder_.write("write.sql", "attach '" + file + "' as f;\n" + sql +
                                                           ";\ndetach f;\n"
                                                           "select error('it was written');\n");
        const auto outcome = run(shortq_program(), {"--port", "0", "--spawn", "exec", "--log-level",
                                                    "error", "1", script});
        EXPECT_EQ(outcome.status, kFailed) << outcome.err;
        return outcome.err;
    }
    void rewrite(const std::string& name, std::string_view content) const {
        folder_.write(name + ".new", content);
        std::filesystem::rename(folder_.path() / (name + ".new"), folder_.path() / name);
    }
};

// Goal: one process loads, however many workers there are. Method: a script whose load leaves a
// mark in a file each time that it runs; four workers; then one is replaced.
TEST_F(ForkTest, OneLoadServesAllWorkers) {
    const auto mark = (folder_.path() / "mark").string();
    const Server server(duckdb(4, "copy (select uuid() as u) to '" + mark +
                                      "' (format csv, per_thread_output false);"
                                      "create table t as from read_csv('" +
                                      mark + "');"));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, 4));
    EXPECT_THAT(server.fork_servers(), SizeIs(1));
    replace(server, client, server.workers().at(0));
    std::set<std::string> loads;
    std::set<std::uint32_t> seats;
    ASSERT_TRUE(wait_until([&] {
        const auto table = client.deferred("select u::varchar from t");
        loads.insert(cell(table));
        if (table) seats.insert(table->facts().worker);
        return seats.size() == 4;
    }));
    EXPECT_THAT(loads, SizeIs(1));
}

// Case 33. Goal: a fork server is no single point of failure. Method: kill it; its workers serve on
// as if nothing had been; workers that are killed at once and later are replaced all the same.
TEST_F(ForkTest, AKilledForkServerIsReplacedWhileItsWorkersServe) {
    const Server server(duckdb(2, "create table t as select range as i from range(100000);"));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, 2));
    const auto workers = server.workers();
    pid_t forker = fork_server(server);
    ASSERT_TRUE(send_signal(forker, SIGKILL));
    for (int i = 0; i < 50; ++i) {
        ASSERT_EQ(cell(client.deferred("select sum(i) from t")), "4999950000");
    }
    EXPECT_TRUE(wait_until([&] { return server.workers() == workers; }));
    for (int round = 0; round < 3; ++round) {
        const pid_t next = fork_server(server, forker);
        replace(server, client, server.workers().at(0));
        EXPECT_EQ(cell(client.deferred("select sum(i) from t")), "4999950000");
        // Both at once: the replacement has to wait for the next server.
        const pid_t victim = server.workers().at(1);
        ASSERT_TRUE(send_signal(next, SIGKILL));
        replace(server, client, victim);
        forker = next;
    }
    EXPECT_EQ(stat(client, "requests_retried"), 0);
}

// Goal: a fork server that does not answer is replaced like a dead one. Method: stop it and kill a
// worker; the other one serves, and soon there are two again, and another fork server.
TEST_F(ForkTest, AStoppedForkServerIsReplaced) {
    const Server server(test_engine(2));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, 2));
    const pid_t forker = fork_server(server);
    ASSERT_TRUE(send_signal(forker, SIGSTOP));
    ASSERT_TRUE(send_signal(server.workers().at(0), SIGKILL));
    ASSERT_TRUE(server.wait_for_workers(1));
    EXPECT_EQ(cell(client.deferred("echo on")), "on");
    EXPECT_TRUE(wait_until_ready(client, 2)) << server.log();
    EXPECT_THAT(server.log(), HasSubstr("does not answer"));
    EXPECT_THAT(server.fork_servers(), Not(Contains(forker)));
}

// Goal: a fork server that does not answer does not keep the primary from leaving. Method: stop it,
// kill a worker so that it has an order, and send TERM.
TEST_F(ForkTest, AStoppedForkServerDoesNotHoldUpTheEnd) {
    Server server(test_engine(2));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, 2));
    ASSERT_TRUE(send_signal(fork_server(server), SIGSTOP));
    ASSERT_TRUE(send_signal(server.workers().at(0), SIGKILL));
    ASSERT_TRUE(server.wait_for_workers(1));
    EXPECT_EQ(cell(client.sync("select count(*) from shortq.workers where state = 'loading'")),
              "1");
    server.signal(SIGTERM);
    EXPECT_EQ(server.wait(), kSucceeded) << server.log();
}

// Goal: a fork server may die at any moment. Method: workers and fork server are killed together,
// in either order, again and again; each time all are back, and nothing is left over.
TEST_F(ForkTest, AForkServerThatDiesAsItForksLeavesNothingBehind) {
    constexpr std::size_t kWorkers = 12;
    const Server server(test_engine(kWorkers));
    auto client = server.connect();
    for (int round = 0; round < 4; ++round) {
        ASSERT_TRUE(wait_until_ready(client, kWorkers));
        const pid_t forker = fork_server(server);
        for (const pid_t worker : server.workers()) ASSERT_TRUE(send_signal(worker, SIGKILL));
        if (round % 2 == 0) {
            // Now it is forking.
            ASSERT_TRUE(wait_until([&] { return !server.workers().empty(); }));
        }
        ASSERT_TRUE(send_signal(forker, SIGKILL));
        ASSERT_NE(fork_server(server, forker), -1);
    }
    ASSERT_TRUE(wait_until_ready(client, kWorkers));
    EXPECT_EQ(cell(client.deferred("echo on")), "on");
    EXPECT_TRUE(wait_until([&] { return server.family().size() == 2 + kWorkers; }))
        << server.family().size();
    EXPECT_TRUE(wait_until([&] { return zombies_of(server.pid()).empty(); }));
}

// Case 29. Goal: no two workers are alike in what is random. Method: ask every worker, after the
// start and after all were replaced.
TEST_F(ForkTest, RandomDiffersOnEveryWorker) {
    constexpr std::size_t kWorkers = 4;
    const Server server(
        duckdb(kWorkers, "create table t as select range as i from range(100000);"));
    auto client = server.connect();
    std::set<std::string> seen;
    for (std::size_t round = 1; round <= 3; ++round) {
        ASSERT_TRUE(wait_until_ready(client, kWorkers));
        std::set<std::uint32_t> seats;
        ASSERT_TRUE(wait_until([&] {
            const auto table = client.deferred(
                "select random(), uuid(), (select string_agg(i, ' ') from (from t using sample "
                "3))");
            EXPECT_TRUE(table) << summary(table);
            if (!table) return true;
            seats.insert(table->facts().worker);
            for (std::size_t column = 0; column < 3; ++column) {
                EXPECT_TRUE(seen.insert(table->text(0, column)).second) << table->text(0, column);
            }
            return seats.size() == kWorkers;
        }));
        const auto before = server.workers();
        for (const pid_t worker : before) ASSERT_TRUE(send_signal(worker, SIGKILL));
        ASSERT_TRUE(wait_until([&] {
            const auto now = server.workers();
            return now.size() == kWorkers && std::ranges::none_of(now, [&](pid_t pid) {
                       return std::ranges::find(before, pid) != before.end();
                   });
        }));
    }
}

// Case 36. Goal: nobody writes a file that workers serve. Method: another process tries while they
// serve, then with the fork server dead and no other to come, since what it loads is gone; when all
// have ended, it may.
TEST_F(ForkTest, AServedFileCannotBeWritten) {
    const auto file = write_database("served.duckdb");
    const auto other = folder_.write("other.csv", "a\n1\n");
    {
        const Server server(duckdb(2, "attach '" + file +
                                          "' as d (read_only); create table o as "
                                          "from read_csv('" +
                                          other + "');"));
        auto client = server.connect();
        ASSERT_TRUE(wait_until_ready(client, 2));
        EXPECT_THAT(attempt_to_write(file), AllOf(HasSubstr("lock"), Not(HasSubstr("written"))));
        std::filesystem::remove(other);
        ASSERT_TRUE(send_signal(fork_server(server), SIGKILL));
        ASSERT_TRUE(wait_until([&] {
            return server.log().find("cannot load again") != std::string::npos &&
                   server.fork_servers().empty();
        })) << server.log();
        EXPECT_THAT(attempt_to_write(file), AllOf(HasSubstr("lock"), Not(HasSubstr("written"))));
        EXPECT_EQ(cell(client.deferred("select sum(i) from d.t")), "499500");
        // Its data is back, and with it the replacements.
        folder_.write("other.csv", "a\n1\n");
        replace(server, client, server.workers().at(0));
        EXPECT_THAT(attempt_to_write(file), AllOf(HasSubstr("lock"), Not(HasSubstr("written"))));
    }
    EXPECT_THAT(attempt_to_write(file), HasSubstr("it was written"));
}

// Case 20. Goal: no orphans, in whatever state they are. Method: kill -9 the primary while queries
// run, a worker and the fork server are stopped; a second later all are gone.
TEST_F(ForkTest, AKilledPrimaryTakesStoppedProcessesAlong) {
    Server server(test_engine(4));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, 4));
    std::vector<Submitted> submitted;
    for (int i = 0; i < 3; ++i) submitted.push_back(client.submit("sleep 600000"));
    submitted.push_back(client.submit("hang"));
    ASSERT_TRUE(wait_until_running(client, 4));
    ASSERT_TRUE(send_signal(server.workers().at(0), SIGSTOP));
    ASSERT_TRUE(send_signal(fork_server(server), SIGSTOP));
    server.signal(SIGKILL);
    ASSERT_TRUE(server.wait());
    EXPECT_TRUE(server.wait_until_gone(kOneSecond));
}

// Case 24. Goal: a reload that fails or hangs harms nobody. Method: a script that fails, one that
// ends its process, one that hangs, one whose fork server is killed, one that fails or hangs in a
// single worker; who asked is told why, the old
// generation serves on, and the next good one takes over.
TEST_F(ForkTest, AReloadThatFailsOrHangsLeavesTheOldGeneration) {
    const auto arguments = test_engine(2, {"--load-timeout", "2"});
    const auto script = arguments.back();
    const Server server(arguments);
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, 2));
    const auto workers = server.workers();
    const auto forker = fork_server(server);
    const auto reload = [&](std::string_view lines) {
        rewrite("startup.test", lines);
        return summary(client.sync("call shortq_reload()"));
    };
    EXPECT_THAT(reload("load-sleep 1\nload-fail no such table\n"), HasSubstr("no such table"));
    EXPECT_THAT(reload("load-exit 3\n"), HasSubstr("exit status 3"));
    EXPECT_THAT(reload("load-hang\n"), HasSubstr("--load-timeout"));
    rewrite("startup.test", "load-hang\n");
    auto killed = client.submit_sync("call shortq_reload()");
    ASSERT_TRUE(wait_until([&] { return server.fork_servers().size() == 2; }));
    ASSERT_TRUE(send_signal(server.fork_servers().at(1), SIGKILL));
    EXPECT_THAT(summary(reply_of(killed)), HasSubstr("signal 9"));
    EXPECT_THAT(reload("load-fail-seat 2 not on this seat\n"), HasSubstr("not on this seat"));
    EXPECT_THAT(reload("load-sleep-seat 2 600000\n"), HasSubstr("--load-timeout"));
    EXPECT_EQ(cell(client.deferred("echo as ever")), "as ever");
    EXPECT_EQ(server.workers(), workers);
    EXPECT_EQ(fork_server(server), forker);
    EXPECT_EQ(reload(""), "ok") << script;
    const auto table = client.deferred("echo new");
    EXPECT_EQ(cell(table), "new");
    EXPECT_EQ(table->facts().generation, 8U);
    EXPECT_NE(fork_server(server, forker), -1);
}

// Goal: a fork server forks for ever. Method: a hundred workers killed, busy ones and idle ones, by
// SIGKILL and by SIGSEGV; the fork server has as much memory and as many files as before, and every
// process is accounted for.
TEST_F(ForkTest, AHundredForksAndKillsLeaveNoTrace) {
    constexpr std::size_t kWorkers = 20;
    // AddressSanitizer would report the signal as a fault of the worker's.
    constexpr int kCrash = kSanitized ? SIGABRT : SIGSEGV;
    const Server server(test_engine(kWorkers));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, kWorkers));
    const pid_t forker = fork_server(server);
    const auto files = open_files(forker);
    const auto primary_files = open_files(server.pid());
    std::uint64_t memory = 0;
    for (int round = 0; round < 5; ++round) {
        std::vector<Submitted> submitted;
        for (std::size_t i = 0; i < kWorkers / 2; ++i)
            submitted.push_back(client.submit(i % 2 == 0 ? "sleep 600000" : "hang"));
        ASSERT_TRUE(wait_until_running(client, kWorkers / 2));
        int number = 0;
        const auto before = server.workers();
        for (const pid_t worker : before) {
            ASSERT_TRUE(send_signal(worker, ++number % 2 == 0 ? SIGKILL : kCrash));
        }
        for (auto& one : submitted) client.cancel(one.number);
        for (auto& one : submitted) EXPECT_FALSE(reply_of(one));
        ASSERT_TRUE(wait_until([&] {
            const auto now = server.workers();
            return now.size() == kWorkers && std::ranges::none_of(now, [&](pid_t pid) {
                       return std::ranges::find(before, pid) != before.end();
                   });
        }));
        ASSERT_TRUE(wait_until_ready(client, kWorkers));
        if (round == 0) memory = resident_bytes(forker);
    }
    EXPECT_EQ(fork_server(server), forker);
    EXPECT_EQ(open_files(forker), files);
    EXPECT_TRUE(wait_until([&] { return open_files(server.pid()) <= primary_files; }))
        << open_files(server.pid()) << " instead of " << primary_files;
    if (!kSanitized) {
        constexpr std::uint64_t kLittle = 512 * 1024;
        EXPECT_LE(resident_bytes(forker), memory + kLittle);
    }
    EXPECT_TRUE(wait_until([&] { return server.family().size() == 2 + kWorkers; }));
    EXPECT_TRUE(wait_until([&] { return zombies_of(server.pid()).empty(); }));
    EXPECT_TRUE(wait_until([&] { return zombies_of(forker).empty(); }));
}

// Everything of a result, as text.
std::string whole(const Result<Table>& table) {
    if (!table) return summary(table);
    std::string text;
    for (std::uint64_t row = 0; row < table->rows(); ++row) {
        for (std::size_t column = 0; column < table->columns(); ++column)
            text += table->text(row, column) + '|';
        text += '\n';
    }
    return text;
}

// The first line in which two texts differ, both ways; empty: none.
std::string difference(const std::string& one, const std::string& other) {
    std::istringstream ones(one);
    std::istringstream others(other);
    for (;;) {
        std::string left = "the end";
        std::string right = left;
        const bool more = static_cast<bool>(std::getline(ones, left));
        if (!std::getline(others, right) && !more) return {};
        if (left != right) return left + " instead of " + right;
    }
}

// More than 200 queries whose results are the same each time that they run.
std::vector<std::string> varied_queries() {
    std::vector<std::string> queries{
        "describe t",
        "summarize select i, k, s, day from t",
        "select current_schema()",
        "select nothing from t",
        "selec 1",
        "select error('it''s me')",
        "select 1 / (i - i) from t",
        "select getvariable('v')",
        "from p order by all",
        "from z order by i limit 3",
        "select typeof(columns(*)) from t limit 1",
        "select current_setting('TimeZone')",
        "from (pivot (select nullable, k % 3 as m from t) on m using count(*)) order by nullable",
        "from (values (null), (1), (2)) v(a) order by a",
        "with recursive r as (select 1 as n union all select n + 1 from r where n < 50) "
        "select string_agg(n, ',' order by n) from r"};
    const std::vector<std::string> templates{
        "select count(*), sum(i), min(s), max(day) from t where k = @",
        "select k, count(*), sum(i)::bigint from t where i % (@ + 1) = 0 group by k order by k",
        "select i, s, amount, day, moment from t where i % 997 = @ order by i",
        "select t.i, d.name from t join d on t.k = d.k where t.i between @ * 100 and @ * 100 + 50 "
        "order by t.i",
        "select i, sum(i) over (partition by k order by i) from t where i < 500 + @ order by i",
        "select i, rank() over (order by s, i) from t where k = @ order by i limit 200",
        "select list(i order by i) from t where i % 1000 = @",
        "select {'k': k, 'n': count(*)} from t where k <= @ group by k order by k",
        "select distinct s from t where k = @ order by s desc limit 50",
        "select sum(amount), max(amount) from t where k = @",
        "select count(distinct s), count(distinct i % (@ + 7)) from t",
        "select date_trunc('month', day), count(*) from t where k >= @ group by all order by all",
        "select s from t where s like '%@%' order by s, i limit 30",
        "select i from t where nullable is null and k = @ order by i",
        "select count(*) from t a join t b on a.i = b.i + @",
        "select i, lag(s, @) over (order by i) from t order by i limit 40 offset @",
        "select unnest(range(@)), @ order by 1",
        "select map_from_entries(list((k, c) order by k)) from (select k, count(*) c from t where "
        "i "
        "> @ * 11 group by k)",
        "select * exclude (moment) from t where i = @",
        "select approx, count(*) from (select i % (@ + 2) as approx from t) group by all order by "
        "1",
    };
    for (const auto& pattern : templates) {
        for (int parameter = 0; parameter < 10; ++parameter) {
            std::string query;
            for (const char one : pattern)
                query += one == '@' ? std::to_string(parameter) : std::string(1, one);
            queries.push_back(std::move(query));
        }
    }
    return queries;
}

// Goal: it makes no difference to a query whether its worker was forked or has loaded for itself.
// Method: varied queries on tables in memory, in files and in an attached database, with several
// threads; what comes back is compared cell by cell, errors included.
TEST_F(ForkTest, ForkedWorkersAnswerAsThoseThatLoad) {
    const auto file = write_database("attached.duckdb");
    const auto script =
        "set variable v = ['it''s', null]; set session default_null_order = 'nulls_first'; "
        "set TimeZone = 'Asia/Kathmandu'; attach '" +
        file +
        "' as z (read_only); "
        "create table t as select range as i, (hash(range) % 10)::integer as k, "
        "'s' || (hash(range, 1) % 5000) as s, ((hash(range, 2) % 100000) / 100)::decimal(12, 2) as "
        "amount, date '2020-01-01' + (hash(range, 3) % 1000)::integer as day, "
        "timestamptz '2020-01-01 00:00:00+00' + to_seconds((hash(range, 4) % 1000000)::bigint) as "
        "moment, nullif(hash(range, 5) % 7, 0) as nullable from range(30000); "
        "create table d as select range::integer as k, 'name ' || range as name from range(10); "
        "create view p as from read_csv('" +
        folder_.write("p.csv", "a,b\n2,x\n1,\n") +
        "'); "
        "create view z as from z.t;";
    const Server forked(duckdb(2, script, {"--spawn", "fork", "--threads", "2"}));
    const Server loaded(duckdb(2, script, {"--spawn", "exec", "--threads", "2"}));
    EXPECT_THAT(forked.fork_servers(), SizeIs(1));
    EXPECT_THAT(loaded.fork_servers(), SizeIs(0));
    auto one = forked.connect();
    auto other = loaded.connect();
    const auto queries = varied_queries();
    EXPECT_GE(queries.size(), 200U);
    std::set<std::string> different;
    int answered = 0;
    for (const auto& query : queries) {
        const auto result = one.deferred(query);
        answered += result ? 1 : 0;
        different.insert(whole(result));
        EXPECT_EQ(difference(whole(result), whole(other.deferred(query))), "") << query;
    }
    EXPECT_EQ(answered, static_cast<int>(queries.size()) - 3) << "three are wrong on purpose";
    EXPECT_GT(different.size(), 150U);
}

// Goal: signals for a terminal's whole group end neither workers nor their server. Method: send
// each to all of them; the same processes answer, and fork.
TEST_F(ForkTest, TheTerminalsSignalsAreIgnored) {
    const Server server(test_engine(2));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, 2));
    const auto workers = server.workers();
    const pid_t forker = fork_server(server);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
        ASSERT_TRUE(send_signal(forker, signal));
        for (const pid_t worker : workers) ASSERT_TRUE(send_signal(worker, signal));
    }
    for (int i = 0; i < 4; ++i) EXPECT_EQ(cell(client.deferred("echo on")), "on");
    EXPECT_EQ(server.workers(), workers);
    replace(server, client, workers[0]);
    EXPECT_EQ(fork_server(server), forker);
}

// Goal: what cannot be forked is served all the same, and the log says why. Method: an engine that
// refuses, and DuckDB with its data in a temporary file.
TEST_F(ForkTest, WhatCannotBeForkedIsLoadedByEachWorker) {
    const Server server(test_engine(2, {}, "cannot-fork it keeps a thread\n"));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, 2));
    EXPECT_TRUE(wait_until([&] { return server.fork_servers().empty(); }));
    EXPECT_THAT(server.log(), AllOf(HasSubstr("warn"), HasSubstr("each worker loads for itself"),
                                    HasSubstr("it keeps a thread")));
    replace(server, client, server.workers().at(0));
    EXPECT_THAT(server.fork_servers(), SizeIs(0));
    EXPECT_EQ(cell(client.deferred("echo on")), "on");
}

// Goal: the end of a fork server that loads at first start is the end of the start. Method: kill it
// in the middle.
TEST_F(ForkTest, AForkServerThatDiesAtFirstStartFailsTheStart) {
    auto arguments = test_engine(2, {"--port", "0"}, "load-hang\n");
    Program program(shortq_program(), arguments);
    pid_t forker = -1;
    ASSERT_TRUE(wait_until([&] {
        for (const auto& process : program.family()) {
            if (process.name == "shortq-fork") forker = process.pid;
        }
        return forker > 0;
    }));
    ASSERT_TRUE(send_signal(forker, SIGKILL));
    const auto outcome = program.finish();
    EXPECT_EQ(outcome.status, kFailed);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("fork server"), HasSubstr("signal 9")));
    EXPECT_TRUE(wait_until([&] { return program.family().empty(); }));
}

// Goal: a start that hangs can be ended, by --load-timeout and by hand. Method: a load that hangs.
TEST_F(ForkTest, AHangingStartEnds) {
    const auto late = run(shortq_program(),
                          test_engine(2, {"--port", "0", "--load-timeout", "1"}, "load-hang\n"));
    EXPECT_EQ(late.status, kFailed);
    EXPECT_THAT(late.err, HasSubstr("--load-timeout"));
    Program program(shortq_program(), test_engine(2, {"--port", "0"}, "load-hang\n"));
    ASSERT_TRUE(wait_until([&] { return program.family().size() == 2; }));
    program.signal(SIGTERM);
    EXPECT_EQ(program.finish().status, kSucceeded);
    EXPECT_TRUE(wait_until([&] { return program.family().empty(); }));
}

// Goal: a reload is seen whole or not at all. Method: a script reads a file that is rewritten by
// rename; while generations follow each other, clients ask all the time. No request fails, each
// reply is of one generation's data, and no client sees an earlier one again.
TEST_F(ForkTest, RepliesAreEntirelyOfOneGeneration) {
    constexpr int kRows = 20'000;
    const auto data = [](int value) {
        std::string rows = "v\n";
        for (int i = 0; i < kRows; ++i) rows += std::to_string(value) + '\n';
        return rows;
    };
    folder_.write("data.csv", data(1));
    const Server server(duckdb(3, "create table t as from read_csv('data.csv');"));
    auto control = server.connect();
    ASSERT_TRUE(wait_until_ready(control, 3));
    std::atomic<bool> stop{false};
    std::atomic<int> answered{0};
    const auto ask = [&] {
        auto client = server.connect();
        std::int64_t newest = 0;
        std::uint32_t generation = 0;
        while (!stop) {
            const auto table =
                client.deferred("select min(v), max(v), count(*) from t, range(20) as again");
            ASSERT_TRUE(table) << summary(table);
            const auto least = table->integer(0, 0).value_or(-1);
            ASSERT_EQ(least, table->integer(0, 1).value_or(-2));
            ASSERT_EQ(table->integer(0, 2).value_or(-1), std::int64_t{kRows} * 20);
            ASSERT_GE(least, newest) << "generations went back";
            ASSERT_GE(table->facts().generation, generation);
            ASSERT_EQ(table->facts().generation, least);
            newest = least;
            generation = table->facts().generation;
            ++answered;
        }
    };
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i) clients.emplace_back(ask);
    constexpr int kReloads = 10;
    for (int reload = 2; reload <= 1 + kReloads; ++reload) {
        const int before = answered;
        rewrite("data.csv", data(reload));
        const auto called = control.sync("call shortq_reload()");
        EXPECT_TRUE(called) << summary(called);
        EXPECT_TRUE(wait_until([&] { return answered > before + 8; }));
        EXPECT_EQ(cell(control.deferred("select max(v) from t")), std::to_string(reload));
    }
    stop = true;
    for (auto& client : clients) client.join();
    EXPECT_TRUE(wait_until([&] { return server.family().size() == 2 + 3; }));
    EXPECT_TRUE(wait_until([&] { return zombies_of(server.pid()).empty(); }));
}

}  // namespace
}  // namespace shortq::test
