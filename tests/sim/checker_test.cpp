// tests/sim/checker_test.cpp: the checkers do find broken promises.
#include "tools/sim/checker.h"

#include <gmock/gmock.h>

namespace shortq::sim {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr core::ClientId kClient{1};
constexpr core::WorkerId kWorker{(std::uint64_t{1} << 32) + 1};
constexpr core::RequestId kRequest{std::uint64_t{1} << 32};

// A log up to one request at one worker, without fault.
struct Log {
    Checker checker{core::Options{}};
    core::Totals totals;

    Log() {
        step(core::Started{}, {core::SpawnWorker{.worker = kWorker, .seat = 1, .generation = 1}});
        step(core::WorkerReady{kWorker}, {core::GenerationServing{1}});
        step(core::ClientArrived{}, {core::ClientOpened{kClient}});
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
        return {.to = {.client = kClient, .client_request = 5}, .last = true};
    }
    void step(const core::Event& event, const std::vector<core::Action>& actions) {
        checker.step(core::Time{1}, event, actions, totals);
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
    log.checker.settled(log.totals);
    EXPECT_THAT(log.checker.violations(), IsEmpty());
}

// Goal: a second reply is found. Method: the right log with its last action doubled.
TEST(CheckerTest, SecondReplyIsFound) {
    Log log;
    log.answered();
    log.step(Log::reply(), {Log::forward(), Log::forward(), core::Release{kRequest}});
    EXPECT_THAT(log.checker.violations(), Contains(HasSubstr("a second reply")));
}

// Goal: a swallowed reply is found. Method: the final reply arrives and nothing comes of it.
TEST(CheckerTest, SwallowedReplyIsFound) {
    Log log;
    log.step(Log::reply(), {});
    EXPECT_THAT(log.checker.violations(), Contains(HasSubstr("swallowed")));
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
    EXPECT_THAT(log.checker.violations(), Contains(HasSubstr("window")));
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
    EXPECT_THAT(log.checker.violations(), Contains(HasSubstr("although a worker has room")));
}

// Goal: a miscounted gauge is found. Method: the totals say something else.
TEST(CheckerTest, MiscountedGaugeIsFound) {
    Log log;
    log.totals.bytes = 3;
    log.step(core::TimeReached{}, {});
    EXPECT_THAT(log.checker.violations(), Contains(HasSubstr("bytes")));
}

// Goal: a request that is left over after healing is found. Method: settled() too early.
TEST(CheckerTest, LeftOverRequestIsFound) {
    Log log;
    log.checker.settled(log.totals);
    EXPECT_THAT(log.checker.violations(), Contains(HasSubstr("unanswered")));
}

}  // namespace
}  // namespace shortq::sim
