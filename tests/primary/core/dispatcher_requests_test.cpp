// tests/primary/core/dispatcher_requests_test.cpp: who is served when, and how requests end.
#include "tests/primary/core/harness.h"

namespace shortq::core {
namespace {

using namespace std::chrono_literals;

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Goal: ties go to the worker that is idle longest. Method: free two workers one after the other.
TEST(DispatcherTest, IdleLongestWorkerIsNext) {
    Harness h(workers_and_window(2, 1));
    const auto client = h.client();
    const auto first = h.ask(client, 1);
    EXPECT_THAT(h.all<SendToWorker>(), ElementsAre(SendToWorker{h.workers[0], first}));
    const auto second = h.ask(client, 2);
    EXPECT_THAT(h.all<SendToWorker>(), ElementsAre(SendToWorker{h.workers[1], second}));
    h.reply(h.workers[1], second);
    h.reply(h.workers[0], first);
    const auto third = h.ask(client, 3);
    EXPECT_THAT(h.all<SendToWorker>(), ElementsAre(SendToWorker{h.workers[1], third}));
}

// Goal: window 0 assigns everything on arrival, shortest queue first. Method: four to two workers.
TEST(DispatcherTest, WindowZeroAssignsOnArrival) {
    Harness h(workers_and_window(2, 0));
    const auto client = h.client();
    for (std::uint64_t id = 1; id <= 4; ++id) {
        h.ask(client, id);
        ASSERT_THAT(h.all<SendToWorker>(), SizeIs(1));
        EXPECT_EQ(h.all<SendToWorker>()[0].worker, h.workers[(id - 1) % 2]);
    }
}

// Goal: priorities share 16:4:1. Method: one worker, many of each, count 21 turns.
TEST(DispatcherTest, PrioritiesShareByWeights) {
    Harness h(workers_and_window(1, 1));
    const auto client = h.client();
    auto running = h.ask(client, 1);
    std::uint64_t id = 2;
    std::map<RequestId, int> priority;
    for (int i = 0; i < 30; ++i) {
        for (int p = 0; p < 3; ++p) {
            RequestArrived how;
            how.priority = static_cast<Priority>(p);
            priority[h.ask(client, id++, how)] = p;
        }
    }
    std::array<int, 3> turns{};
    for (int i = 0; i < 42; ++i) {
        h.reply(h.workers[0], running);
        ASSERT_THAT(h.sent(), SizeIs(1));
        running = h.sent()[0];
        ++turns[static_cast<std::size_t>(priority.at(running))];
    }
    EXPECT_GE(turns[2], 1);
    EXPECT_GE(turns[1], 7);
    EXPECT_GE(turns[0], 28);
}

// Goal: no priority starves, whenever its request comes. Method: a low one has just had its turn
// when many others and one more low arrive; 20 pass it (at most 21 do).
TEST(DispatcherTest, LowPriorityIsPassedByAtMost21) {
    Harness h(workers_and_window(1, 1));
    const auto client = h.client();
    RequestArrived low;
    low.priority = Priority::kLow;
    auto running = h.ask(client, 1, low);
    std::uint64_t id = 2;
    const auto waits = h.ask(client, id++, low);
    for (int i = 0; i < 50; ++i) {
        for (const auto priority : {Priority::kHigh, Priority::kNormal}) {
            RequestArrived how;
            how.priority = priority;
            ASSERT_NE(h.ask(client, id++, how), RequestId{});
        }
    }
    int passed = -1;
    while (running != waits) {
        h.reply(h.workers[0], running);
        ASSERT_THAT(h.sent(), SizeIs(1));
        running = h.sent()[0];
        ++passed;
    }
    EXPECT_EQ(passed, 20);
}

// Goal: first come, first served, whatever came back meanwhile. Method: newest first takes the
// fourth; it comes back when nobody is late any more, and the third goes before it.
TEST(DispatcherTest, WhatComesBackTakesItsPlaceByArrival) {
    Harness h(workers_and_window(1, 1));
    const auto client = h.client();
    const auto running = h.ask(client, 1);
    h.ask(client, 2, with_timeout(1s));
    const auto third = h.ask(client, 3);
    h.now += 600ms;
    const auto fourth = h.ask(client, 4);
    h.reply(h.workers[0], running);
    EXPECT_THAT(h.sent(), ElementsAre(fourth));
    h.exit(h.workers[0], fourth);
    h.step(CancelRequested{client, 2});  // The late one: from now on the oldest is next.
    h.step(WorkerReady{h.core.snapshot(h.now).workers.at(0).worker});
    EXPECT_THAT(h.sent(), ElementsAre(third));
}

// Goal: connections take turns. Method: A queues three, B one; B is second.
TEST(DispatcherTest, ConnectionsTakeTurns) {
    Harness h(workers_and_window(1, 1));
    const auto a = h.client();
    const auto b = h.client();
    const auto running = h.ask(a, 1);
    const auto a2 = h.ask(a, 2);
    const auto a3 = h.ask(a, 3);
    const auto b1 = h.ask(b, 1);
    h.reply(h.workers[0], running);
    EXPECT_THAT(h.sent(), ElementsAre(a2));
    h.reply(h.workers[0], a2);
    EXPECT_THAT(h.sent(), ElementsAre(b1));
    h.reply(h.workers[0], b1);
    EXPECT_THAT(h.sent(), ElementsAre(a3));
}

// Goal: overload yields answers in time. Method: a head past half its deadline; the newest goes.
TEST(DispatcherTest, LateConnectionIsServedNewestFirst) {
    Harness h(workers_and_window(1, 1));
    const auto client = h.client();
    const auto running = h.ask(client, 1);
    h.ask(client, 2, with_timeout(1s));
    h.now += 600ms;
    h.ask(client, 3, with_timeout(1s));
    const auto newest = h.ask(client, 4, with_timeout(1s));
    h.reply(h.workers[0], running);
    EXPECT_THAT(h.sent(), ElementsAre(newest));
}

// Goal: nothing is dispatched past its deadline. Method: the worker is free only afterwards.
TEST(DispatcherTest, NothingIsSentPastItsDeadline) {
    Harness h(workers_and_window(1, 1));
    const auto client = h.client();
    const auto running = h.ask(client, 1);
    h.ask(client, 2, with_timeout(10ms));
    h.now += 10ms;  // No TimeReached in between.
    h.reply(h.workers[0], running);
    EXPECT_THAT(h.sent(), IsEmpty());
    EXPECT_THAT(h.errors(), ElementsAre(Reason::kTimedOutQueued));
}

// Goal: the tighter of the client's and the server's timeout counts. Method: both ways round.
TEST(DispatcherTest, TighterTimeoutCounts) {
    auto options = workers_and_window(1, 0);
    options.timeout = 1s;
    Harness h(options);
    const auto client = h.client();
    h.ask(client, 1, with_timeout(5s));
    EXPECT_EQ(h.all<SendToWorker>().at(0).budget, Duration{1s});
    h.ask(client, 2, with_timeout(200ms));
    EXPECT_EQ(h.all<SendToWorker>().at(0).budget, Duration{200ms});
}

// Goal: limits refuse at once, one reply, nothing accepted. Method: each limit in turn.
TEST(DispatcherTest, Case13_FullQueueIsRefusedAtOnce) {
    auto options = workers_and_window(1, 1);
    options.pending_max = 3;
    options.pending_per_client_max = 2;
    options.pending_bytes_max = 100;
    Harness h(options);
    const auto a = h.client();
    const auto b = h.client();
    const auto c = h.client();
    RequestArrived fat;
    fat.bytes = 101;
    EXPECT_EQ(h.ask(a, 1, fat), RequestId{});
    EXPECT_THAT(h.errors(), ElementsAre(Reason::kBytesFull));
    h.ask(a, 1);
    h.ask(a, 1);
    EXPECT_THAT(h.errors(), ElementsAre(Reason::kDuplicateId));
    h.ask(a, 2);
    h.ask(a, 3);
    EXPECT_THAT(h.errors(), ElementsAre(Reason::kClientQueueFull));
    h.ask(b, 1);
    h.ask(c, 1);
    EXPECT_THAT(h.errors(), ElementsAre(Reason::kQueueFull));
    EXPECT_THAT(h.actions, SizeIs(1));
    EXPECT_EQ(h.core.totals().refused, 4U);
    EXPECT_EQ(h.core.totals().accepted, 3U);
}

// Goal: case 8. Method: cancel one of two queued ones; only the other runs.
TEST(DispatcherTest, Case8_CancelOfAQueuedRequestAnswersAtOnce) {
    Harness h(workers_and_window(1, 1));
    const auto client = h.client();
    const auto running = h.ask(client, 1);
    h.ask(client, 2);
    const auto other = h.ask(client, 3);
    h.step(CancelRequested{client, 2});
    EXPECT_THAT(h.errors(), ElementsAre(Reason::kCancelled));
    h.reply(h.workers[0], running);
    EXPECT_THAT(h.sent(), ElementsAre(other));
}

// Goal: a cancel at a worker has no reply of its own. Method: both final replies.
TEST(DispatcherTest, CancelAtAWorkerIsAnsweredByWhatComes) {
    Harness h(workers_and_window(2, 1));
    const auto client = h.client();
    const auto first = h.ask(client, 1);
    const auto second = h.ask(client, 2);
    h.step(CancelRequested{client, 1});
    EXPECT_THAT(h.actions, ElementsAre(Action{Interrupt{h.workers[0], first}}));
    h.step(CancelSerial{2});
    EXPECT_THAT(h.actions, ElementsAre(Action{Interrupt{h.workers[1], second}}));
    h.reply(h.workers[0], first);
    EXPECT_THAT(h.all<ForwardReply>(), SizeIs(1));
    h.reply(h.workers[1], second, ErrorCode::kCancelled);
    EXPECT_THAT(h.errors(), ElementsAre(Reason::kCancelled));
}

// Goal: a given but unstarted request is cancelled by Recalled. Method: window 2.
TEST(DispatcherTest, RecalledCancelEndsAtOnce) {
    Harness h(workers_and_window(1, 2));
    const auto client = h.client();
    h.ask(client, 1);
    const auto second = h.ask(client, 2);
    h.step(CancelRequested{client, 2});
    h.step(Recalled{h.workers[0], second});
    EXPECT_THAT(h.errors(), ElementsAre(Reason::kCancelled));
    EXPECT_THAT(h.all<Release>(), ElementsAre(Release{second}));
    EXPECT_EQ(h.core.totals().abandoned, 0U);
}

// Goal: an interrupt that nobody here ordered is told as such. Method: an unprompted kCancelled.
TEST(DispatcherTest, UnorderedInterruptIsReported) {
    Harness h(workers_and_window(1, 1));
    const auto request = h.ask(h.client(), 1);
    h.reply(h.workers[0], request, ErrorCode::kCancelled);
    EXPECT_THAT(h.errors(), ElementsAre(Reason::kInterrupted));
}

// Goal: the engine's own errors pass. Method: a query error.
TEST(DispatcherTest, EngineErrorsAreForwarded) {
    Harness h(workers_and_window(1, 1));
    const auto request = h.ask(h.client(), 1);
    h.reply(h.workers[0], request, ErrorCode::kQueryError);
    EXPECT_THAT(h.all<ForwardReply>(), SizeIs(1));
    EXPECT_EQ(h.core.totals().failed, 1U);
}

// Goal: stale replies are dropped. Method: after the end, from another worker, of no request.
TEST(DispatcherTest, StaleRepliesAreDropped) {
    Harness h(workers_and_window(2, 1));
    const auto request = h.ask(h.client(), 1);
    EXPECT_THAT(h.reply(h.workers[1], request), IsEmpty());
    h.reply(h.workers[0], request);
    EXPECT_THAT(h.reply(h.workers[0], request), IsEmpty());
    EXPECT_THAT(h.reply(WorkerId{77}, RequestId{99}), IsEmpty());
}

// Goal: sync requests go straight to the sync worker in order. Method: two, with no worker ready.
TEST(DispatcherTest, SyncRequestsNeedNoWorker) {
    Harness h(workers_and_window(1, 1), false);
    h.step(Started{});
    const auto client = h.client();
    RequestArrived sync;
    sync.mode = Mode::kSync;
    const auto first = h.ask(client, 1, sync);
    EXPECT_THAT(h.all<SendToWorker>(), ElementsAre(SendToWorker{kSyncWorker, first}));
    const auto second = h.ask(client, 2, sync);
    EXPECT_THAT(h.all<SendToWorker>(), ElementsAre(SendToWorker{kSyncWorker, second}));
    h.reply(kSyncWorker, first);
    EXPECT_THAT(h.all<ForwardReply>(), SizeIs(1));
}

// Goal: a hung sync request ends on time and its worker is never killed. Method: deadline, grace.
TEST(DispatcherTest, HungSyncRequestStaysAbandoned) {
    Harness h(workers_and_window(1, 1));
    auto how = with_timeout(100ms);
    how.mode = Mode::kSync;
    const auto request = h.ask(h.client(), 1, how);
    const auto seen = h.pass(5s);
    EXPECT_THAT(Harness::of<SendError>(seen), SizeIs(1));
    EXPECT_THAT(Harness::of<KillWorker>(seen), IsEmpty());
    EXPECT_EQ(h.core.totals().abandoned, 1U);
    h.reply(kSyncWorker, request, ErrorCode::kCancelled);
    EXPECT_THAT(h.actions, ElementsAre(Action{Release{request}}));
}

// Goal: a lost client takes its requests with it. Method: one queued, one running.
TEST(DispatcherTest, LostClientTakesItsRequests) {
    Harness h(workers_and_window(1, 1));
    const auto client = h.client();
    const auto running = h.ask(client, 1);
    const auto queued = h.ask(client, 2);
    h.step(ClientLost{client});
    EXPECT_THAT(h.actions, ElementsAre(Action{Interrupt{h.workers[0], running}},
                                       Action{Release{queued}}, Action{ClientClosed{client}}));
    EXPECT_EQ(h.core.totals().dropped, 2U);
    h.reply(h.workers[0], running, ErrorCode::kCancelled);
    EXPECT_THAT(h.actions, ElementsAre(Action{Release{running}}));
}

// Goal: silent clients are lost, busy ones pinged. Method: silence for longer than the maximum.
TEST(DispatcherTest, SilentClientIsPingedAndLost) {
    Harness h(workers_and_window(1, 1));
    const auto client = h.client();
    h.ask(client, 1);
    const auto seen = h.pass(6s, false);
    EXPECT_GE(Harness::of<PingClient>(seen).size(), 8U);
    EXPECT_THAT(Harness::of<ClientClosed>(seen), ElementsAre(ClientClosed{client}));
}

// Goal: a client whose door hears of its end is left in peace. Method: it says nothing for long.
TEST(DispatcherTest, ClientWithoutHeartbeatsMayBeSilent) {
    Harness h(workers_and_window(1, 1));
    h.step(ClientArrived{.heartbeats = false});
    const auto client = h.all<ClientOpened>().at(0).client;
    h.ask(client, 1);
    const auto seen = h.pass(20s, false);
    EXPECT_THAT(Harness::of<PingClient>(seen), IsEmpty());
    EXPECT_THAT(Harness::of<ClientClosed>(seen), IsEmpty());
    h.step(ClientLost{client});
    EXPECT_THAT(h.all<ClientClosed>(), ElementsAre(ClientClosed{client}));
}

// Goal: what waits for a generation blocks nobody. Method: a parked one in front of another.
TEST(DispatcherTest, ParkedRequestBlocksNobody) {
    Harness h(workers_and_window(1, 1));
    const auto client = h.client();
    RequestArrived how;
    how.min_generation = 2;
    const auto parked = h.ask(client, 1, how);
    EXPECT_THAT(h.sent(), IsEmpty());
    const auto other = h.ask(client, 2);
    EXPECT_THAT(h.sent(), ElementsAre(other));
    h.step(ReloadRequested{});
    const auto fresh = h.spawned();
    ASSERT_THAT(fresh, SizeIs(1));
    h.step(WorkerReady{fresh[0]});
    EXPECT_THAT(h.all<SendToWorker>(), ElementsAre(SendToWorker{fresh[0], parked}));
}

}  // namespace
}  // namespace shortq::core
