// tests/primary/core/dispatcher_workers_test.cpp: lost, silent, drained and replaced workers.
#include "tests/primary/core/harness.h"

namespace shortq::core {
namespace {

using namespace std::chrono_literals;

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Goal: case 9. Method: kill -9 as the core sees it; the other worker answers.
TEST(DispatcherTest, Case9_KilledWorkersRequestIsRetriedElsewhere) {
    Harness h(workers_and_window(2, 1));
    const auto request = h.ask(h.client(), 1);
    h.exit(h.workers[0], request);
    EXPECT_THAT(h.all<SendToWorker>(), ElementsAre(SendToWorker{h.workers[1], request}));
    EXPECT_THAT(h.spawned(), SizeIs(1));  // Replaced at once.
    h.reply(h.workers[1], request);
    ASSERT_THAT(h.all<ForwardReply>(), SizeIs(1));
    EXPECT_EQ(h.all<ForwardReply>()[0].to.attempt, 1U);
}

// Goal: case 11. Method: a query that kills each worker it meets, 8 workers.
TEST(DispatcherTest, Case11_PoisonTakesAtMostTwoWorkers) {
    Harness h(workers_and_window(8, 1));
    const auto request = h.ask(h.client(), 1);
    h.exit(h.all<SendToWorker>().at(0).worker, request);
    EXPECT_THAT(h.errors(), IsEmpty());
    h.exit(h.all<SendToWorker>().at(0).worker, request);
    EXPECT_THAT(h.errors(), ElementsAre(Reason::kPoison));
    EXPECT_THAT(h.sent(), IsEmpty());
    EXPECT_THAT(h.spawned(), SizeIs(1));
}

// Goal: only what was started is charged. Method: two deaths with a bystander in the window.
TEST(DispatcherTest, BystandersAreNotCharged) {
    Harness h(workers_and_window(1, 3));
    const auto client = h.client();
    const auto poison = h.ask(client, 1);
    const auto bystander = h.ask(client, 2);
    const auto third = h.ask(client, 3);
    h.exit(h.workers[0], poison);
    auto worker = h.spawned().at(0);
    h.step(WorkerReady{worker});
    EXPECT_THAT(h.sent(), ElementsAre(poison, bystander, third));  // In the original order.
    h.exit(worker, poison);
    EXPECT_THAT(h.errors(), ElementsAre(Reason::kPoison));
    h.pass(1s);
    worker = h.core.snapshot(h.now).workers.at(0).worker;
    h.step(WorkerReady{worker});
    EXPECT_THAT(h.sent(), ElementsAre(bystander, third));
}

// Goal: nothing is retried with writable. Method: one worker with two requests dies.
TEST(DispatcherTest, WritableRetriesNothing) {
    auto options = workers_and_window(1, 2);
    options.writable = true;
    Harness h(options);
    const auto client = h.client();
    const auto first = h.ask(client, 1);
    h.ask(client, 2);
    h.exit(h.workers[0], first);
    EXPECT_THAT(h.errors(), ElementsAre(Reason::kLostNotRetried, Reason::kLostNotRetried));
}

// Goal: a streaming reader learns of the loss, a whole result starts again. Method: one chunk each.
TEST(DispatcherTest, LossAfterAChunk) {
    Harness h(workers_and_window(2, 1));
    const auto client = h.client();
    RequestArrived streaming;
    streaming.streaming = true;
    const auto stream = h.ask(client, 1, streaming);
    const auto whole = h.ask(client, 2);
    for (const auto& [worker, request] :
         {std::pair{h.workers[0], stream}, std::pair{h.workers[1], whole}}) {
        ReplyArrived chunk;
        chunk.worker = worker;
        chunk.request = request;
        chunk.last = false;
        h.step(chunk);
        EXPECT_THAT(h.all<ForwardReply>(), SizeIs(1));
    }
    h.exit(h.workers[0], stream);
    EXPECT_THAT(h.errors(), ElementsAre(Reason::kLostMidStream));
    const auto fresh = h.spawned().at(0);
    h.step(WorkerReady{fresh});
    h.exit(h.workers[1], whole);
    EXPECT_THAT(h.sent(), ElementsAre(whole));
    h.reply(fresh, whole);
    EXPECT_EQ(h.all<ForwardReply>().at(0).to.attempt, 1U);
    EXPECT_EQ(h.all<ForwardReply>().at(0).to.sequence, 0U);
}

// Goal: case 10. Method: a silent worker with a request that has a deadline; the other never
// notices.
TEST(DispatcherTest, Case10_SilentWorkersRequestEndsAtItsDeadline) {
    Harness h(workers_and_window(2, 1));
    const auto client = h.client();
    h.ask(client, 1, with_timeout(500ms));
    const auto other = h.ask(client, 2);
    const auto seen = h.pass(3s);
    ASSERT_THAT(Harness::of<SendError>(seen), SizeIs(1));
    EXPECT_EQ(Harness::of<SendError>(seen)[0].reason, Reason::kTimedOutRunning);
    EXPECT_THAT(Harness::of<KillWorker>(seen), ElementsAre(KillWorker{h.workers[0]}));
    h.reply(h.workers[1], other);
    EXPECT_THAT(h.all<ForwardReply>(), SizeIs(1));
}

// Goal: case 14. Method: a query that never answers the interrupt.
TEST(DispatcherTest, Case14_DeafQueryLosesItsWorkerAfterTheGrace) {
    Harness h(workers_and_window(1, 1));
    const auto request = h.ask(h.client(), 1, with_timeout(100ms));
    h.now += 100ms;
    h.step(TimeReached{});
    EXPECT_THAT(h.errors(), ElementsAre(Reason::kTimedOutRunning));
    EXPECT_THAT(h.all<Interrupt>(), ElementsAre(Interrupt{h.workers[0], request}));
    const auto seen = h.pass(2s);
    EXPECT_THAT(Harness::of<KillWorker>(seen), SizeIs(1));
    EXPECT_THAT(Harness::of<Release>(seen), ElementsAre(Release{request}));
    h.exit(h.workers[0], request);
    EXPECT_THAT(h.spawned(), SizeIs(1));
}

// Goal: a silent worker's requests are retried at once. Method: no heartbeats of one of two.
TEST(DispatcherTest, SilentWorkerIsKilledAndItsRequestRetried) {
    Harness h(workers_and_window(2, 1));
    const auto client = h.client();
    const auto request = h.ask(client, 1);
    std::vector<Action> seen;
    while (seen.empty() && h.now < 20s) {
        h.now += 500ms;
        h.step(WorkerHeard{h.workers[1]});
        h.step(ClientHeard{client});
        h.step(TimeReached{});
        if (!h.all<KillWorker>().empty()) seen = h.actions;
    }
    EXPECT_THAT(Harness::of<KillWorker>(seen), ElementsAre(KillWorker{h.workers[0]}));
    EXPECT_THAT(Harness::of<SendToWorker>(seen), ElementsAre(SendToWorker{h.workers[1], request}));
}

// Goal: case 31. Method: a gap of 10 s between two steps, then TimeReached.
TEST(DispatcherTest, Case31_PausedPrimaryKillsNobody) {
    Harness h(workers_and_window(2, 1));
    const auto client = h.client();
    const auto request = h.ask(client, 1);
    h.now += 10s;
    h.step(TimeReached{});
    EXPECT_THAT(h.all<KillWorker>(), IsEmpty());
    EXPECT_THAT(h.all<ClientClosed>(), IsEmpty());
    h.reply(h.workers[0], request);
    EXPECT_THAT(h.all<ForwardReply>(), SizeIs(1));
}

// Goal: a quiet primary still notices silence. Method: only TimeReached, as next_wake() asks.
TEST(DispatcherTest, QuietIsNotTakenForAPause) {
    Harness h(workers_and_window(1, 1));
    const auto seen = h.pass(7s, false);
    EXPECT_THAT(Harness::of<KillWorker>(seen), ElementsAre(KillWorker{h.workers[0]}));
}

// Goal: respawn at once, then with doubling delay, then reset. Method: deaths, timed.
TEST(DispatcherTest, BackoffDoublesAndResets) {
    Harness h(workers_and_window(1, 1));
    auto worker = h.workers[0];
    std::vector<Duration> delays;
    for (int death = 0; death < 4; ++death) {
        const auto at = h.now;
        h.exit(worker);
        while (h.spawned().empty()) {
            h.now = *h.core.next_wake();
            h.step(TimeReached{});
        }
        delays.push_back(h.now - at);
        worker = h.spawned()[0];
        h.step(WorkerReady{worker});
    }
    EXPECT_THAT(delays, ElementsAre(0ms, 100ms, 200ms, 400ms));
    h.pass(11s);
    h.exit(worker);
    EXPECT_THAT(h.spawned(), SizeIs(1));
}

// Goal: a sick worker is replaced after its reply. Method: the flag.
TEST(DispatcherTest, SickWorkerAnswersAndIsReplaced) {
    Harness h(workers_and_window(1, 1));
    ReplyArrived reply;
    reply.request = h.ask(h.client(), 1);
    reply.worker = h.workers[0];
    reply.code = ErrorCode::kInternal;
    reply.sick = true;
    h.step(reply);
    EXPECT_THAT(h.all<ForwardReply>(), SizeIs(1));
    EXPECT_THAT(h.all<KillWorker>(), SizeIs(1));
}

// Goal: an unreachable worker's exit decides who is charged. Method: lives 1, nothing started.
TEST(DispatcherTest, UnreachableWorkerChargesOnlyWhatItStarted) {
    auto options = workers_and_window(2, 1);
    options.lives = 1;
    Harness h(options);
    const auto request = h.ask(h.client(), 1);
    h.step(WorkerUnreachable{h.workers[0]});
    EXPECT_THAT(h.actions, ElementsAre(Action{KillWorker{h.workers[0]}}));
    h.exit(h.workers[0]);
    EXPECT_THAT(h.all<SendToWorker>(), ElementsAre(SendToWorker{h.workers[1], request}));
}

// Goal: with nobody able to answer, requests do not wait for ever. Method: all workers gone.
TEST(DispatcherTest, NoWorkerForLongIsUnavailable) {
    Harness h(workers_and_window(1, 1));
    const auto client = h.client();
    h.exit(h.workers[0]);
    const auto fresh = h.spawned().at(0);
    h.ask(client, 1);
    const auto seen = h.pass(11s);
    ASSERT_THAT(Harness::of<SendError>(seen), SizeIs(1));
    EXPECT_EQ(Harness::of<SendError>(seen)[0].reason, Reason::kNoWorker);
    h.ask(client, 2);
    EXPECT_THAT(h.errors(), ElementsAre(Reason::kNoWorker));  // At once from now on.
    h.step(WorkerReady{fresh});
    EXPECT_NE(h.ask(client, 3), RequestId{});
}

// Goal: a worn-out worker finishes what it was given, however long that takes, gets nothing more,
// and is replaced; what waits meanwhile is not told that nobody can answer. Method: the only
// worker.
TEST(DispatcherTest, AWornOutWorkerIsReplacedWhenItIsIdle) {
    Harness h(workers_and_window(1, 2));
    const auto client = h.client();
    const auto running = h.ask(client, 1);
    const auto ahead = h.ask(client, 2);
    h.step(WorkerWornOut{h.workers[0]});
    EXPECT_THAT(h.actions, IsEmpty());
    const auto waiting = h.ask(client, 3);
    const auto seen = h.pass(600s);
    EXPECT_THAT(Harness::of<Interrupt>(seen), IsEmpty());
    EXPECT_THAT(Harness::of<SendError>(seen), IsEmpty());
    h.reply(h.workers[0], running);
    EXPECT_THAT(h.all<SendToWorker>(), IsEmpty());
    h.reply(h.workers[0], ahead);
    EXPECT_THAT(h.all<StopWorker>(), ElementsAre(StopWorker{h.workers[0]}));
    h.exit(h.workers[0]);
    ASSERT_THAT(h.spawned(), SizeIs(1));
    const auto fresh = h.spawned()[0];
    h.step(WorkerReady{fresh});
    EXPECT_THAT(h.all<SendToWorker>(), ElementsAre(SendToWorker{fresh, waiting}));
}

// Goal: an idle one leaves at once. Method: no request.
TEST(DispatcherTest, AnIdleWornOutWorkerLeavesAtOnce) {
    Harness h(workers_and_window(2, 1));
    h.step(WorkerWornOut{h.workers[1]});
    EXPECT_THAT(h.actions, ElementsAre(Action{StopWorker{h.workers[1]}}));
    h.exit(h.workers[1]);
    EXPECT_THAT(h.spawned(), SizeIs(1));
}

// Goal: a drained worker finishes, gives back the rest, leaves and is replaced. Method: window 2.
TEST(DispatcherTest, DrainedWorkerFinishesAndIsReplaced) {
    Harness h(workers_and_window(2, 2));
    const auto client = h.client();
    std::vector<RequestId> requests;
    for (std::uint64_t id = 1; id <= 4; ++id) requests.push_back(h.ask(client, id));
    h.step(DrainWorker{1});
    EXPECT_THAT(h.actions, ElementsAre(Action{Recall{h.workers[0], requests[2]}}));
    h.reply(h.workers[1], requests[1]);
    h.step(Recalled{h.workers[0], requests[2]});
    EXPECT_THAT(h.all<SendToWorker>(), ElementsAre(SendToWorker{h.workers[1], requests[2]}));
    h.reply(h.workers[0], requests[0]);
    EXPECT_THAT(h.all<StopWorker>(), ElementsAre(StopWorker{h.workers[0]}));
    h.exit(h.workers[0]);
    EXPECT_THAT(h.spawned(), SizeIs(1));
}

// Goal: kill by an operator retries uncharged. Method: lives 1.
TEST(DispatcherTest, KilledSeatIsReplacedAndNobodyCharged) {
    auto options = workers_and_window(2, 1);
    options.lives = 1;
    Harness h(options);
    const auto request = h.ask(h.client(), 1);
    h.step(KillSeat{1});
    EXPECT_THAT(h.all<KillWorker>(), ElementsAre(KillWorker{h.workers[0]}));
    EXPECT_THAT(h.all<SendToWorker>(), ElementsAre(SendToWorker{h.workers[1], request}));
    h.exit(h.workers[0], request);
    EXPECT_THAT(h.spawned(), SizeIs(1));
    EXPECT_THAT(h.errors(), IsEmpty());
}

// Goal: case 15. Method: one worker fails in 1 ms, one answers in 100 ms; the share of failures.
TEST(DispatcherTest, Case15_FailingWorkerDoesNotAttractTheTraffic) {
    Harness h(workers_and_window(2, 1));
    const auto client = h.client();
    std::map<WorkerId, std::pair<RequestId, Time>> running;
    std::uint64_t id = 0;
    int failed = 0;
    int answered = 0;
    const auto note = [&](const std::vector<Action>& actions) {
        for (const auto& send : Harness::of<SendToWorker>(actions)) {
            running[send.worker] = {send.request,
                                    h.now + (send.worker == h.workers[0] ? 1ms : 100ms)};
        }
    };
    for (; h.now < 61s; h.now += 1ms) {
        while (h.core.totals().queued == 0) {
            h.ask(client, ++id);
            note(h.actions);
        }
        for (const auto worker : h.workers) {
            const auto at = running.find(worker);
            if (at == running.end() || at->second.second > h.now) continue;
            const auto request = at->second.first;
            running.erase(at);
            const bool bad = worker == h.workers[0];
            note(bad ? h.reply(worker, request, ErrorCode::kInternal, 1ms)
                     : h.reply(worker, request, {}, 100ms));
            ++(bad ? failed : answered);
        }
        h.step(ClientHeard{client});
        for (const auto worker : h.workers) h.step(WorkerHeard{worker});
        h.step(TimeReached{});
        note(h.actions);
    }
    EXPECT_GT(answered, 500);
    EXPECT_LT(failed, answered * 2);  // Without the rule: a hundred times as many.
}

// Goal: case 15, at the start. Method: before any result is there, a worker fails 200 requests in
// a row beside one that is busy; it is held off after the eighth.
TEST(DispatcherTest, Case15_FailingWorkerIsHeldOffBeforeTheFirstResult) {
    Harness h(workers_and_window(2, 1));
    const auto client = h.client();
    std::optional<RequestId> given;
    for (std::uint64_t id = 1; id <= 200; ++id) {
        h.ask(client, id);
        for (const auto& send : h.all<SendToWorker>()) {
            if (send.worker == h.workers[0]) given = send.request;
        }
    }
    int failed = 0;
    while (given) {
        ++failed;
        h.reply(h.workers[0], *given, ErrorCode::kQueryError);
        given.reset();
        for (const auto& send : h.all<SendToWorker>()) given = send.request;
    }
    EXPECT_EQ(failed, 8);
    EXPECT_EQ(h.core.totals().queued, 191U);
}

// Goal: one result ends the holding off. Method: eight failures, then a result of what the worker
// still had; the next request goes to it at once. Found by the simulator.
TEST(DispatcherTest, ResultEndsTheHoldingOff) {
    Harness h(workers_and_window(2, 2));
    const auto client = h.client();
    std::vector<RequestId> at_first;
    for (std::uint64_t id = 1; id <= 40; ++id) {
        h.ask(client, id);
        for (const auto& send : h.all<SendToWorker>()) {
            if (send.worker == h.workers[0]) at_first.push_back(send.request);
        }
        if (id == 4) h.reply(h.workers[1], h.core.snapshot(h.now).workers[1].running, {}, 100ms);
    }
    for (std::size_t i = 0; i < 8; ++i) {
        h.reply(h.workers[0], at_first.at(i), ErrorCode::kInternal);
        for (const auto& send : h.all<SendToWorker>()) at_first.push_back(send.request);
    }
    EXPECT_THAT(h.sent(), IsEmpty());  // Held off after the eighth.
    h.reply(h.workers[0], at_first.at(8));
    EXPECT_THAT(h.sent(), SizeIs(2));
}

}  // namespace
}  // namespace shortq::core
