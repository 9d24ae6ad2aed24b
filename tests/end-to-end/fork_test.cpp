// tests/end-to-end/fork_test.cpp: workers that are forked from one loaded process.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>

#include "tests/end-to-end/processes.h"

namespace shortq::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr milliseconds kSoon{1000};

class ForkTest : public Processes {};

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
    const std::string loading = "select count(*) from shortq.workers where state = 'loading'";
    ASSERT_TRUE(wait_until([&] { return cell(client.sync(loading)) == "1"; }));
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
        ASSERT_TRUE(wait_for_others(server, before));
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
    EXPECT_TRUE(server.wait_until_gone(kSoon));
}

// Goal: a fork server forks for ever. Method: two hundred workers killed, in the middle of a query
// and idle, by SIGKILL and by SIGSEGV; the fork server has as much memory and as many files as
// before, and every process is accounted for.
TEST_F(ForkTest, TwoHundredForksAndKillsLeaveNoTrace) {
    // Many at once, since a seat whose workers die again and again waits longer each time.
    constexpr std::size_t kWorkers = 40;
    constexpr std::size_t kBusy = 8;
    constexpr int kRounds = 5;
    // AddressSanitizer would report the signal as a fault of the worker's.
    constexpr int kCrash = kSanitized ? SIGABRT : SIGSEGV;
    const Server server(
        duckdb(kWorkers, "create table t as select range as i from range(1000000);"));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, kWorkers));
    const pid_t forker = fork_server(server);
    const auto files = open_files(forker);
    const auto primary_files = open_files(server.pid());
    std::uint64_t memory = 0;
    for (int round = 1; round <= kRounds; ++round) {
        std::vector<Submitted> submitted;
        for (std::size_t i = 0; i < kBusy; ++i)
            submitted.push_back(client.submit("select sum(a.i + b.i) from t a, t b"));
        ASSERT_TRUE(wait_until_running(client, kBusy));
        const auto before = server.workers();
        ASSERT_THAT(before, SizeIs(kWorkers));
        // The busy ones first: some of either kind get either signal.
        const auto order =
            client.sync("select pid from shortq.workers order by running is null, id");
        ASSERT_TRUE(order) << summary(order);
        ASSERT_EQ(order->rows(), kWorkers);
        for (std::uint64_t i = 0; i < kWorkers; ++i) {
            const auto worker = static_cast<pid_t>(order->integer(i, 0).value_or(-1));
            ASSERT_THAT(before, Contains(worker));
            ASSERT_TRUE(send_signal(worker, i % 2 == 0 ? SIGKILL : kCrash));
        }
        for (auto& one : submitted) client.cancel(one.number);
        for (auto& one : submitted) EXPECT_FALSE(reply_of(one));
        ASSERT_TRUE(wait_for_others(server, before));
        ASSERT_TRUE(wait_until_ready(client, kWorkers));
        if (round == 1) memory = resident_bytes(forker);
    }
    EXPECT_EQ(cell(client.deferred("select sum(i) from t")), "499999500000");
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

}  // namespace
}  // namespace shortq::test
