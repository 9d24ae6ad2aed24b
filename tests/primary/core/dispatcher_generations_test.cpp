// tests/primary/core/dispatcher_generations_test.cpp: start, reload, drain and stop.
#include "tests/primary/core/harness.h"

namespace shortq::core {
namespace {

using namespace std::chrono_literals;

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Goal: a failing first load stops the start. Method: the event, then the exits.
TEST(DispatcherTest, FailedFirstLoadStopsTheStart) {
    Harness h(workers_and_window(2, 1), false);
    h.step(Started{});
    const auto workers = h.spawned();
    h.step(WorkerLoadFailed{workers[0]});
    EXPECT_THAT(h.all<StartFailed>(), ElementsAre(StartFailed{workers[0]}));
    h.exit(workers[1]);
    EXPECT_THAT(h.all<Stopped>(), IsEmpty());
    h.exit(workers[0]);
    EXPECT_THAT(h.all<Stopped>(), SizeIs(1));
    EXPECT_THAT(h.spawned(), IsEmpty());
}

// Goal: a replacement that could not load is sent away, not killed, so that its message arrives,
// and another is tried. Method: a worker dies, its successor cannot load, that one's too.
TEST(DispatcherTest, AReplacementThatCannotLoadIsSentAway) {
    Harness h(workers_and_window(2, 1));
    h.exit(h.workers[0]);
    const auto second = h.spawned().at(0);
    h.step(WorkerLoadFailed{second});
    EXPECT_THAT(h.all<StopWorker>(), ElementsAre(StopWorker{second}));
    EXPECT_THAT(h.all<KillWorker>(), IsEmpty());
    h.exit(second);
    const auto seen = h.pass(60s);
    EXPECT_THAT(Harness::of<SpawnWorker>(seen), SizeIs(1));
}

// Goal: no limit means none. Method: a worker with load_timeout 0 loads for an hour.
TEST(DispatcherTest, LoadTimeoutOfZeroIsNoLimit) {
    auto options = workers_and_window(1, 1);
    options.load_timeout = 0s;
    Harness h(options, false);
    h.step(Started{});
    const auto worker = h.spawned().at(0);
    h.pass(1h);
    EXPECT_THAT(Harness::of<KillWorker>(h.pass(1s)), IsEmpty());
    h.step(WorkerReady{worker});
    EXPECT_THAT(h.all<GenerationServing>(), SizeIs(1));
}

// Goal: a hanging load is bounded. Method: load_timeout passes.
TEST(DispatcherTest, HangingFirstLoadIsStopped) {
    auto options = workers_and_window(1, 1);
    options.load_timeout = 3s;
    Harness h(options, false);
    h.step(Started{});
    const auto worker = h.spawned().at(0);
    const auto seen = h.pass(4s);
    EXPECT_THAT(Harness::of<KillWorker>(seen), ElementsAre(KillWorker{worker}));
    EXPECT_THAT(Harness::of<StartFailed>(seen), SizeIs(1));
}

// Goal: case 5. Method: one of two workers is ready; it answers alone.
TEST(DispatcherTest, Case5_NothingWaitsForASlowLoader) {
    Harness h(workers_and_window(2, 1), false);
    h.step(Started{});
    const auto workers = h.spawned();
    const auto request = h.ask(h.client(), 1);
    EXPECT_THAT(h.sent(), IsEmpty());
    h.step(WorkerReady{workers[1]});
    EXPECT_THAT(h.all<GenerationServing>(), ElementsAre(GenerationServing{1}));
    EXPECT_THAT(h.all<SendToWorker>(), ElementsAre(SendToWorker{workers[1], request}));
}

// Goal: a new generation takes over when all its workers are ready. Method: two workers.
TEST(DispatcherTest, ReloadTakesOverWhenAllAreReady) {
    Harness h(workers_and_window(2, 1));
    const auto client = h.client();
    const auto running = h.ask(client, 1);
    h.step(ReloadRequested{});
    const auto fresh = h.spawned();
    ASSERT_THAT(fresh, SizeIs(2));
    h.step(ReloadRequested{});
    EXPECT_THAT(h.actions, IsEmpty());  // Coalesced.
    h.step(WorkerReady{fresh[0]});
    EXPECT_THAT(h.actions, IsEmpty());
    h.step(WorkerReady{fresh[1]});
    EXPECT_THAT(h.all<GenerationServing>(), ElementsAre(GenerationServing{2}));
    EXPECT_THAT(h.all<StopWorker>(), ElementsAre(StopWorker{h.workers[1]}));
    h.step(ReloadRequested{});
    EXPECT_THAT(h.spawned(), IsEmpty());  // Waits until the oldest has gone.
    h.reply(h.workers[0], running);
    EXPECT_THAT(h.all<ForwardReply>(), SizeIs(1));
    h.exit(h.workers[0]);
    h.exit(h.workers[1]);
    EXPECT_THAT(h.spawned(), SizeIs(2));
    EXPECT_EQ(h.all<SpawnWorker>().at(0).generation, 3U);
}

// Goal: who asks for a reload gets what was written before. Method: two more ask while one loads,
// which may have read the old data: it takes over, and one more load follows for both. The same
// when the first one fails.
TEST(DispatcherTest, AReloadAskedForWhileOneLoadsLoadsAgain) {
    Harness h(workers_and_window(1, 1));
    h.step(ReloadRequested{});
    const auto second = h.spawned().at(0);
    h.step(ReloadRequested{});
    h.step(ReloadRequested{});
    EXPECT_THAT(h.actions, IsEmpty());
    h.step(WorkerReady{second});
    EXPECT_THAT(h.all<GenerationServing>(), ElementsAre(GenerationServing{2}));
    h.exit(h.workers[0]);
    const auto third = h.spawned().at(0);
    EXPECT_EQ(h.all<SpawnWorker>().at(0).generation, 3U);
    h.step(ReloadRequested{});
    h.step(WorkerLoadFailed{third});
    EXPECT_THAT(h.all<ReloadFailed>(), ElementsAre(ReloadFailed{3}));
    h.exit(third);
    const auto fourth = h.spawned().at(0);
    h.step(WorkerReady{fourth});
    EXPECT_THAT(h.all<GenerationServing>(), ElementsAre(GenerationServing{4}));
    h.exit(second);
    EXPECT_THAT(h.spawned(), IsEmpty());
}

// Goal: old queries are interrupted after the drain time and retried uncharged. Method: lives 1.
TEST(DispatcherTest, OldGenerationGivesBackAfterTheDrainTime) {
    auto options = workers_and_window(1, 1);
    options.lives = 1;
    options.drain = 1s;
    Harness h(options);
    const auto request = h.ask(h.client(), 1);
    h.step(ReloadRequested{});
    const auto fresh = h.spawned().at(0);
    h.step(WorkerReady{fresh});
    const auto seen = h.pass(1s);
    EXPECT_THAT(Harness::of<Interrupt>(seen), ElementsAre(Interrupt{h.workers[0], request}));
    h.reply(h.workers[0], request, ErrorCode::kCancelled);
    EXPECT_THAT(h.all<SendToWorker>(), ElementsAre(SendToWorker{fresh, request}));
    EXPECT_THAT(h.all<StopWorker>(), ElementsAre(StopWorker{h.workers[0]}));
}

// Goal: a failed reload leaves the old generation serving. Method: one of two fails.
TEST(DispatcherTest, FailedReloadLeavesTheOldOneServing) {
    Harness h(workers_and_window(2, 1));
    h.step(ReloadRequested{});
    const auto fresh = h.spawned();
    h.step(WorkerReady{fresh[0]});
    h.step(WorkerLoadFailed{fresh[1]});
    EXPECT_THAT(h.all<ReloadFailed>(), ElementsAre(ReloadFailed{2}));
    EXPECT_THAT(h.all<KillWorker>(), Contains(KillWorker{fresh[0]}));
    h.exit(fresh[0]);
    h.exit(fresh[1]);
    EXPECT_THAT(h.spawned(), IsEmpty());
    h.ask(h.client(), 1);
    EXPECT_EQ(h.all<SendToWorker>().at(0).worker, h.workers[0]);
}

// Goal: drain refuses, finishes, stops. Method: one running request.
TEST(DispatcherTest, DrainFinishesWhatIsUnderWay) {
    Harness h(workers_and_window(1, 1));
    const auto client = h.client();
    const auto request = h.ask(client, 1);
    h.step(DrainRequested{});
    h.ask(client, 2);
    EXPECT_THAT(h.errors(), ElementsAre(Reason::kDraining));
    h.reply(h.workers[0], request);
    EXPECT_THAT(h.all<ForwardReply>(), SizeIs(1));
    EXPECT_THAT(h.all<StopWorker>(), SizeIs(1));
    h.exit(h.workers[0]);
    EXPECT_THAT(h.all<Stopped>(), SizeIs(1));
}

// Goal: the drain time bounds it. Method: a query that does not end, one that waits.
TEST(DispatcherTest, DrainIsBounded) {
    auto options = workers_and_window(1, 1);
    options.drain = 2s;
    Harness h(options);
    const auto client = h.client();
    h.ask(client, 1);
    h.ask(client, 2);
    h.step(DrainRequested{});
    const auto seen = h.pass(3s);
    EXPECT_THAT(Harness::of<SendError>(seen), SizeIs(2));
    EXPECT_THAT(Harness::of<KillWorker>(seen), SizeIs(1));
}

// Goal: a worker that does not leave is killed. Method: the grace time passes after StopWorker.
TEST(DispatcherTest, WorkerThatDoesNotLeaveIsKilled) {
    Harness h(workers_and_window(1, 1));
    h.step(DrainRequested{});
    EXPECT_THAT(h.all<StopWorker>(), SizeIs(1));
    EXPECT_THAT(Harness::of<KillWorker>(h.pass(3s)), SizeIs(1));
}

// Goal: stop is immediate. Method: one request runs, one waits.
TEST(DispatcherTest, StopIsImmediate) {
    Harness h(workers_and_window(1, 1));
    const auto client = h.client();
    h.ask(client, 1);
    h.ask(client, 2);
    h.step(StopRequested{});
    EXPECT_THAT(h.errors(), ElementsAre(Reason::kDraining, Reason::kDraining));
    EXPECT_THAT(h.all<KillWorker>(), SizeIs(1));
    h.exit(h.workers[0]);
    EXPECT_THAT(h.all<Stopped>(), SizeIs(1));
}

}  // namespace
}  // namespace shortq::core
