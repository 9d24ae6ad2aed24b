// tests/primary/fork_servers_test.cpp: what becomes of orders for workers, with real fork servers
// that run the test engine.
#include "primary/fork_servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "primary/event_loop.h"
#include "tests/patience.h"
#include "tests/temporary_folder.h"

namespace shortq::primary {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr core::WorkerId kFirst{1};
constexpr core::WorkerId kSecond{2};

class ForkServersTest : public ::testing::Test {
protected:
    ForkServersTest() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

    void source(std::string_view lines) { source_ = folder_.write("source", lines); }

    // Runs the event loop until it holds. False: it did not within the tests' patience.
    [[nodiscard]] bool run_until(const std::function<bool()>& holds) {
        using Clock = std::chrono::steady_clock;
        const auto deadline = Clock::now() + test::kPatience;
        while (!holds()) {
            if (Clock::now() > deadline) return false;
            loop_.wait(Clock::now() + std::chrono::milliseconds(10));
        }
        return true;
    }
    [[nodiscard]] bool run_until_forked(std::size_t count) {
        return run_until([&] { return forked_.size() == count; });
    }

    test::TemporaryFolder folder_;
    std::string source_ = folder_.write("source", "");
    EventLoop loop_;

    // What was called back.
    std::map<core::WorkerId, WorkerProcess> workers_;
    std::vector<core::WorkerId> ordered_;
    std::vector<core::WorkerId> forked_;
    std::vector<core::WorkerId> failed_;
    std::vector<core::WorkerId> alone_;
    std::vector<Error> load_errors_;
    std::set<pid_t> servers_seen_;
    std::size_t unanswered_max_ = 0;
    bool out_of_descriptors_ = false;
    int ended_ = 0;

    ForkServers servers_{{
        .watch = [this](int fd, std::function<void()> ready) { loop_.watch(fd, std::move(ready)); },
        .unwatch = [this](int fd) { loop_.unwatch(fd); },
        .program =
            [this](std::uint32_t generation) {
                return WorkerProcessOptions{
                    .program = SHORTQ_WORKER_PROGRAM,
                    .arguments = {"--connect", "ipc://" + (folder_.path() / "nobody").string(),
                                  "--engine", "test", "--source", source_, "--generation",
                                  std::to_string(generation), "--log-level", "error"}};
            },
        .order = [this](ForkServer& server, core::WorkerId worker) -> Result<void> {
            ordered_.push_back(worker);
            if (out_of_descriptors_) return fail(ErrorCode::kInternal, "memfd_create");
            unanswered_max_ =
                std::max(unanswered_max_, ordered_.size() - forked_.size() - failed_.size());
            servers_seen_.insert(server.pid());
            auto& process =
                workers_.insert_or_assign(worker, WorkerProcess::expected().value()).first->second;
            return server.order({.worker = static_cast<std::uint64_t>(worker),
                                 .seat = 1,
                                 .temp_directory = folder_.path() / "spill"},
                                process.board_fd());
        },
        .forked =
            [this](core::WorkerId worker, pid_t pid) {
                EXPECT_TRUE(workers_.at(worker).adopt(pid));
                forked_.push_back(worker);
            },
        .failed = [this](core::WorkerId worker,
                         const std::string& /*why*/) { failed_.push_back(worker); },
        .load_failed = [this](std::uint32_t /*generation*/, core::WorkerId /*worker*/,
                              const Error& error) { load_errors_.push_back(error); },
        .alone = [this](core::WorkerId worker) { alone_.push_back(worker); },
        .ended = [this] { ++ended_; },
    }};
};

// Goal: no worker is forked twice. Method: the server is stopped with an order and killed; the
// worker was heard of meanwhile, as if the server had forked it and died before it could tell.
TEST_F(ForkServersTest, AWorkerThatWasHeardOfIsNotAskedOfTheSuccessor) {
    constexpr core::WorkerId kThird{3};
    ASSERT_TRUE(servers_.ask(1, kFirst));
    ASSERT_TRUE(run_until_forked(1));
    const auto server = *servers_seen_.begin();
    ASSERT_EQ(::kill(server, SIGSTOP), 0);
    ASSERT_TRUE(servers_.ask(1, kSecond));
    EXPECT_THAT(ordered_, ElementsAre(kFirst, kSecond));
    servers_.born(kSecond);
    ASSERT_EQ(::kill(server, SIGKILL), 0);
    ASSERT_TRUE(run_until([&] { return ended_ == 1; }));
    ASSERT_TRUE(servers_.ask(1, kThird));
    ASSERT_TRUE(run_until_forked(2));
    EXPECT_THAT(ordered_, ElementsAre(kFirst, kSecond, kThird));
    EXPECT_THAT(forked_, ElementsAre(kFirst, kThird));
    EXPECT_THAT(failed_, IsEmpty());
}

// Goal: what is asked of a generation is forked from one process. Method: two before it has loaded,
// one afterwards.
TEST_F(ForkServersTest, OneServerForksForItsGeneration) {
    ASSERT_TRUE(servers_.ask(1, kFirst));
    ASSERT_TRUE(servers_.ask(1, kSecond));
    ASSERT_TRUE(run_until_forked(2));
    ASSERT_TRUE(servers_.ask(1, core::WorkerId{3}));
    ASSERT_TRUE(run_until_forked(3));
    EXPECT_THAT(forked_, ElementsAre(kFirst, kSecond, core::WorkerId{3}));
    EXPECT_THAT(servers_seen_, SizeIs(1));
    EXPECT_TRUE(servers_.has(*servers_seen_.begin()));
    EXPECT_FALSE(servers_.has(workers_.at(kFirst).pid()));
    ASSERT_TRUE(servers_.ask(2, core::WorkerId{4}));
    ASSERT_TRUE(run_until_forked(4));
    EXPECT_THAT(servers_seen_, SizeIs(2)) << "another generation, another server";
}

// Goal: however many are asked for, few orders are in the channel. Method: fifty at once; all come,
// in order.
TEST_F(ForkServersTest, FewOrdersAreUnderWay) {
    constexpr std::uint64_t kMany = 50;
    for (std::uint64_t i = 1; i <= kMany; ++i) ASSERT_TRUE(servers_.ask(1, core::WorkerId{i}));
    ASSERT_TRUE(run_until_forked(kMany));
    EXPECT_TRUE(std::ranges::is_sorted(ordered_));
    EXPECT_LE(unanswered_max_, 16U + 1) << "one more while an answer is being told";
}

// Goal: an order that cannot be sent is not waited for, and the server serves on. Method: one that
// the owner has no descriptor for, then another.
TEST_F(ForkServersTest, AnOrderThatCannotBeSentHasFailed) {
    ASSERT_TRUE(servers_.ask(1, kFirst));
    ASSERT_TRUE(run_until_forked(1));
    out_of_descriptors_ = true;
    ASSERT_TRUE(servers_.ask(1, kSecond));
    EXPECT_THAT(failed_, ElementsAre(kSecond));
    out_of_descriptors_ = false;
    ASSERT_TRUE(servers_.ask(1, kSecond));
    ASSERT_TRUE(run_until_forked(2));
    EXPECT_THAT(servers_seen_, SizeIs(1));
}

// Goal: nothing comes of an order that was withdrawn in time, and a server that loads for nobody is
// stopped. Method: withdraw the only two while it loads.
TEST_F(ForkServersTest, AServerThatLoadsForNobodyIsStopped) {
    source("load-hang\n");
    ASSERT_TRUE(servers_.ask(1, kFirst));
    ASSERT_TRUE(servers_.ask(1, kSecond));
    EXPECT_TRUE(servers_.withdraw(kFirst));
    EXPECT_FALSE(servers_.withdraw(kFirst)) << "it is gone";
    EXPECT_TRUE(servers_.withdraw(kSecond));
    ASSERT_TRUE(run_until([&] { return ended_ == 1; }));
    EXPECT_THAT(ordered_, IsEmpty());
    EXPECT_THAT(failed_, IsEmpty());
    EXPECT_THAT(load_errors_, IsEmpty());
    source("");
    ASSERT_TRUE(servers_.ask(1, kFirst));
    EXPECT_TRUE(run_until_forked(1)) << "the next one is asked of a new server";
}

// Goal: a load that fails is told once, and fails all that wait. Method: an error, and an exit.
TEST_F(ForkServersTest, AFailedLoadIsTold) {
    source("# a comment\nload-fail no such table\n");
    ASSERT_TRUE(servers_.ask(1, kFirst));
    ASSERT_TRUE(servers_.ask(1, kSecond));
    ASSERT_TRUE(run_until([&] { return failed_.size() == 2 && ended_ == 1; }));
    ASSERT_THAT(load_errors_, SizeIs(1));
    EXPECT_EQ(load_errors_[0].message, "no such table");
    EXPECT_EQ(load_errors_[0].where, source_ + ":2");
    source("load-exit 7\n");
    ASSERT_TRUE(servers_.ask(2, kFirst));
    ASSERT_TRUE(run_until([&] { return failed_.size() == 3; }));
    ASSERT_THAT(load_errors_, SizeIs(2));
    EXPECT_THAT(load_errors_[1].message, AllOf(HasSubstr("loading"), HasSubstr("exit status 7")));
}

// Goal: what cannot be forked is remembered for its generation only. Method: an engine that
// refuses.
TEST_F(ForkServersTest, WhatCannotBeForkedIsRemembered) {
    source("cannot-fork it keeps a thread\n");
    ASSERT_TRUE(servers_.ask(1, kFirst));
    ASSERT_TRUE(servers_.ask(1, kSecond));
    EXPECT_FALSE(servers_.cannot_fork(1));
    ASSERT_TRUE(run_until([&] { return alone_.size() == 2 && ended_ == 1; }));
    EXPECT_TRUE(servers_.cannot_fork(1));
    EXPECT_FALSE(servers_.cannot_fork(2));
    EXPECT_THAT(failed_, IsEmpty());
    servers_.retire_before(2);
    EXPECT_FALSE(servers_.cannot_fork(1)) << "it is over";
}

// Goal: a dead server has a successor, which gets what the dead one had not answered. Method: stop
// a server, ask, kill it.
TEST_F(ForkServersTest, ADeadServersOrdersGoToItsSuccessor) {
    ASSERT_TRUE(servers_.ask(1, kFirst));
    ASSERT_TRUE(run_until_forked(1));
    ASSERT_THAT(servers_seen_, SizeIs(1));
    const pid_t server = *servers_seen_.begin();
    ASSERT_GT(server, 1);
    ASSERT_EQ(::kill(server, SIGSTOP), 0);
    ASSERT_TRUE(servers_.ask(1, kSecond));
    EXPECT_THAT(ordered_, ElementsAre(kFirst, kSecond));
    ASSERT_EQ(::kill(server, SIGKILL), 0);
    ASSERT_TRUE(run_until_forked(2));
    EXPECT_THAT(ordered_, ElementsAre(kFirst, kSecond, kSecond));
    EXPECT_THAT(servers_seen_, SizeIs(2));
    EXPECT_FALSE(servers_.has(server));
    EXPECT_FALSE(workers_.at(kFirst).reap()) << "its worker lives on";
}

// Goal: an order that nobody needs any more is answered soon, even by a server that does not.
// Method: withdraw an order from a stopped server.
TEST_F(ForkServersTest, AWithdrawnOrderEndsThoughItsServerIsStopped) {
    ASSERT_TRUE(servers_.ask(1, kFirst));
    ASSERT_TRUE(run_until_forked(1));
    ASSERT_THAT(servers_seen_, SizeIs(1));
    const pid_t server = *servers_seen_.begin();
    ASSERT_GT(server, 1);
    ASSERT_EQ(::kill(server, SIGSTOP), 0);
    ASSERT_TRUE(servers_.ask(1, kSecond));
    EXPECT_FALSE(servers_.withdraw(kSecond)) << "it may have been forked";
    ASSERT_TRUE(run_until([&] { return !failed_.empty(); }));
    EXPECT_THAT(failed_, ElementsAre(kSecond));
    ASSERT_TRUE(servers_.ask(1, core::WorkerId{3}));
    ASSERT_TRUE(run_until_forked(2));
    EXPECT_FALSE(servers_.has(server));
}

// Goal: the server of a generation that is over ends, and has no successor. Method: retire one, and
// all before another.
TEST_F(ForkServersTest, ServersOfGenerationsThatAreOverEnd) {
    for (std::uint32_t generation = 1; generation <= 3; ++generation) {
        ASSERT_TRUE(servers_.ask(generation, core::WorkerId{generation}));
        ASSERT_TRUE(run_until_forked(generation));
    }
    servers_.retire(3);
    ASSERT_TRUE(run_until([&] { return ended_ == 1; }));
    servers_.retire_before(2);
    ASSERT_TRUE(run_until([&] { return ended_ == 2; }));
    ASSERT_TRUE(servers_.ask(2, core::WorkerId{4}));
    ASSERT_TRUE(run_until_forked(4));
    EXPECT_THAT(servers_seen_, SizeIs(3));
    EXPECT_EQ(std::ranges::count_if(servers_seen_, [&](pid_t pid) { return servers_.has(pid); }),
              1);
}

// Goal: where a successor cannot load, its workers live on; who asks later is told why, and gets a
// worker as soon as the data loads again; another generation is not affected. Method: kill a server
// whose source has become bad; ask; mend the source; ask again.
TEST_F(ForkServersTest, AFailedSuccessorIsTriedAgainWhenAWorkerIsNeeded) {
    ASSERT_TRUE(servers_.ask(1, kFirst));
    ASSERT_TRUE(run_until_forked(1));
    ASSERT_THAT(servers_seen_, SizeIs(1));
    source("load-fail the file is gone\n");
    ASSERT_EQ(::kill(*servers_seen_.begin(), SIGKILL), 0);
    ASSERT_TRUE(run_until([&] { return ended_ == 2; })) << "it, and its successor";
    EXPECT_THAT(load_errors_, IsEmpty()) << "nobody waits";
    EXPECT_FALSE(workers_.at(kFirst).reap());

    ASSERT_TRUE(servers_.ask(1, kSecond));
    ASSERT_TRUE(run_until([&] { return !failed_.empty(); }));
    EXPECT_THAT(failed_, ElementsAre(kSecond));
    ASSERT_THAT(load_errors_, SizeIs(1));
    EXPECT_EQ(load_errors_[0].message, "the file is gone");
    // At once, when the server that has failed may not be gone yet: then with the same reason.
    ASSERT_TRUE(servers_.ask(1, kSecond));
    ASSERT_TRUE(run_until([&] { return failed_.size() == 2; }));
    ASSERT_THAT(load_errors_, SizeIs(2));
    EXPECT_EQ(load_errors_[1].message, "the file is gone");

    source("");
    ASSERT_TRUE(servers_.ask(2, core::WorkerId{3}));
    ASSERT_TRUE(run_until_forked(2)) << "a reload";
    // As the dispatcher does, again after each failure: the last bad server may not be gone yet.
    std::size_t failures = 0;
    ASSERT_TRUE(run_until([&] {
        if (std::exchange(failures, failed_.size()) != failed_.size()) {
            EXPECT_TRUE(servers_.ask(1, kSecond));
        }
        return forked_.size() == 3;
    }));
    EXPECT_THAT(forked_, ElementsAre(kFirst, core::WorkerId{3}, kSecond));
}

// Goal: who asks a server that is being stopped, for nobody needed it, gets a worker of the next
// one, not an error. Method: withdraw the only order while it loads, and ask again before it ends.
TEST_F(ForkServersTest, AServerThatWasNotNeededIsReplacedForWhoAsksNext) {
    source("load-hang\n");
    ASSERT_TRUE(servers_.ask(1, kFirst));
    EXPECT_TRUE(servers_.withdraw(kFirst));
    source("");
    ASSERT_TRUE(servers_.ask(1, kSecond));
    ASSERT_TRUE(run_until_forked(1));
    EXPECT_THAT(forked_, ElementsAre(kSecond));
    EXPECT_THAT(failed_, IsEmpty());
    EXPECT_THAT(load_errors_, IsEmpty());
}

}  // namespace
}  // namespace shortq::primary
