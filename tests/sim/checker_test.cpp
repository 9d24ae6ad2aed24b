// tests/sim/checker_test.cpp: the checkers do find broken promises.
#include "tools/sim/checker.h"

#include <gmock/gmock.h>

namespace shortq::sim {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr core::ClientId kClient{1};
constexpr core::WorkerId kWorker{(std::uint64_t{1} << 32) + 1};
constexpr core::RequestId kRequest{std::uint64_t{1} << 32};

// A log up to one request at one worker, without fault.
struct Log {
    std::vector<std::string> violations;
    Checker checker{core::Options{}, violations};
    core::Totals totals;
    core::Time now{1};

    explicit Log(bool heartbeats = true) {
        step(core::Started{}, {core::SpawnWorker{.worker = kWorker, .seat = 1, .generation = 1}});
        step(core::WorkerReady{kWorker}, {core::GenerationServing{1}});
        step(core::ClientArrived{.heartbeats = heartbeats}, {core::ClientOpened{kClient}});
        totals.accepted = 1;
        totals.at_workers = 1;
        step(request(), {core::Accepted{.request = kRequest, .serial = 1},
                         core::SendToWorker{.worker = kWorker, .request = kRequest}});
    }
    static core::RequestArrived request() {
        core::RequestArrived arrived;
        arrived.client = kClient;
        arrived.client_request = 5;
        return arrived;
    }
    static core::ReplyArrived reply() {
        core::ReplyArrived arrived;
        arrived.worker = kWorker;
        arrived.request = kRequest;
        return arrived;
    }
    static core::ForwardReply forward() {
        core::ForwardReply action;
        action.to.client = kClient;
        action.to.client_request = 5;
        action.to.seat = 1;
        action.to.generation = 1;
        return action;
    }
    void step(const core::Event& event, const std::vector<core::Action>& actions) {
        checker.step(now, event, actions, totals, {});
    }
    void answered() {
        totals.at_workers = 0;
        totals.answered = 1;
    }
};

// Goal: a right log passes. Method: one request, answered and released.
TEST(CheckerTest, RightLogPasses) {
    Log log;
    log.answered();
    log.step(Log::reply(), {Log::forward(), core::Release{kRequest}});
    log.checker.stopped(log.totals);
    EXPECT_THAT(log.violations, IsEmpty());
}

// Goal: a second reply is found. Method: the right log with its last action doubled.
TEST(CheckerTest, SecondReplyIsFound) {
    Log log;
    log.answered();
    log.step(Log::reply(), {Log::forward(), Log::forward(), core::Release{kRequest}});
    EXPECT_THAT(log.violations, Contains(HasSubstr("a second reply")));
}

// Goal: a swallowed reply is found. Method: the final reply arrives and nothing comes of it.
TEST(CheckerTest, SwallowedReplyIsFound) {
    Log log;
    log.step(Log::reply(), {});
    EXPECT_THAT(log.violations, Contains(HasSubstr("swallowed")));
}

// Goal: an overfull window is found. Method: a second request to a worker with window 1.
TEST(CheckerTest, OverfullWindowIsFound) {
    Log log;
    auto second = Log::request();
    second.client_request = 6;
    const core::RequestId id{(std::uint64_t{1} << 32) + 1};
    log.totals.accepted = 2;
    log.totals.at_workers = 2;
    log.step(second, {core::Accepted{.request = id, .serial = 2},
                      core::SendToWorker{.worker = kWorker, .request = id}});
    EXPECT_THAT(log.violations, Contains(HasSubstr("window")));
}

// Goal: an idle worker beside a waiting request is found. Method: it is accepted and not sent.
TEST(CheckerTest, IdleWorkerBesideAWaitingRequestIsFound) {
    Log log;
    log.answered();
    log.step(Log::reply(), {Log::forward(), core::Release{kRequest}});
    log.totals.accepted = 2;
    log.totals.queued = 1;
    log.step(Log::request(),
             {core::Accepted{.request = core::RequestId{std::uint64_t{2} << 32}, .serial = 2}});
    EXPECT_THAT(log.violations, Contains(HasSubstr("beside a worker with room")));
}

// Goal: a miscounted gauge is found. Method: the totals say something else.
TEST(CheckerTest, MiscountedGaugeIsFound) {
    Log log;
    log.totals.bytes = 3;
    log.step(core::TimeReached{}, {});
    EXPECT_THAT(log.violations, Contains(HasSubstr("bytes")));
}

// Goal: a request that is left over at the end is found. Method: stopped() too early.
TEST(CheckerTest, LeftOverRequestIsFound) {
    Log log;
    log.checker.stopped(log.totals);
    EXPECT_THAT(log.violations, Contains(HasSubstr("unanswered")));
}

// Goal: a killing without a cause is found. Method: nothing has happened to the worker.
TEST(CheckerTest, KillingWithoutACauseIsFound) {
    Log log;
    log.step(core::TimeReached{}, {core::KillWorker{kWorker}});
    EXPECT_THAT(log.violations, Contains(HasSubstr("killed without a cause")));
}

// Goal: an interrupt that hits another query is found. Method: nobody has cancelled this one.
TEST(CheckerTest, InterruptOfAnInnocentQueryIsFound) {
    Log log;
    log.step(core::TimeReached{}, {core::Interrupt{.worker = kWorker, .request = kRequest}});
    EXPECT_THAT(log.violations, Contains(HasSubstr("interrupted for nobody")));
}

// Goal: a lost wake-up is found. Method: the next thing that happens is after a deadline.
TEST(CheckerTest, MissedDeadlineIsFound) {
    Log log;
    auto timed = Log::request();
    timed.client_request = 6;
    timed.timeout = std::chrono::milliseconds(10);
    log.totals.accepted = 2;
    log.totals.queued = 1;
    log.step(timed,
             {core::Accepted{.request = core::RequestId{std::uint64_t{2} << 32}, .serial = 2}});
    EXPECT_THAT(log.violations, IsEmpty());
    log.now += std::chrono::milliseconds(11);
    log.step(core::ClientHeard{kClient}, {});
    EXPECT_THAT(log.violations, Contains(HasSubstr("nobody woke")));
}

// Goal: a timer that stays due is found. Method: after time was judged, it is to be judged again.
TEST(CheckerTest, SpinningTimerIsFound) {
    Log log;
    log.checker.step(log.now, core::TimeReached{}, {}, log.totals, log.now);
    EXPECT_THAT(log.violations, Contains(HasSubstr("due still")));
}

// Goal: a ping to a client without heartbeats is found. Method: the same ping to one with them
// passes.
TEST(CheckerTest, PingOfAClientWithoutHeartbeatsIsFound) {
    for (const bool heartbeats : {true, false}) {
        Log log(heartbeats);
        log.step(core::TimeReached{}, {core::PingClient{kClient}});
        const auto found = Contains(HasSubstr("whose silence means nothing"));
        if (heartbeats) {
            EXPECT_THAT(log.violations, IsEmpty());
        } else {
            EXPECT_THAT(log.violations, found);
        }
    }
}

// Goal: a client without heartbeats that is closed for its silence is found. Method: an hour of it,
// which is a cause only with them.
TEST(CheckerTest, ClosingForSilenceWithoutHeartbeatsIsFound) {
    for (const bool heartbeats : {true, false}) {
        Log log(heartbeats);
        log.now += std::chrono::hours(1);
        log.step(core::TimeReached{}, {core::ClientClosed{kClient}});
        const auto found = Contains(HasSubstr("a client was closed without a cause"));
        if (heartbeats) {
            EXPECT_THAT(log.violations, Not(found));
        } else {
            EXPECT_THAT(log.violations, found);
        }
    }
}

// Goal: silence without heartbeats is no fault of the core's. Method: an hour of it, kept and not
// pinged, which is found only with them.
TEST(CheckerTest, SilenceWithoutHeartbeatsIsKept) {
    for (const bool heartbeats : {true, false}) {
        Log log(heartbeats);
        log.now += std::chrono::hours(1);
        log.step(core::TimeReached{}, {});
        const auto kept = Contains(HasSubstr("a silent client is kept"));
        const auto unasked = Contains(HasSubstr("a client that waits is not pinged"));
        if (heartbeats) {
            EXPECT_THAT(log.violations, kept);
            EXPECT_THAT(log.violations, unasked);
        } else {
            EXPECT_THAT(log.violations, Not(kept));
            EXPECT_THAT(log.violations, Not(unasked));
        }
    }
}

}  // namespace
}  // namespace shortq::sim
