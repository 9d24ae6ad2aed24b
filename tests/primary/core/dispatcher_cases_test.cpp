// tests/primary/core/dispatcher_cases_test.cpp: what users of dispatchers have reported to go
// wrong, as whole scenarios with a clock.
#include <algorithm>
#include <array>
#include <deque>
#include <iterator>

#include "primary/core/random.h"
#include "tests/primary/core/harness.h"

namespace shortq::core {
namespace {

using namespace std::chrono_literals;

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Workers that take `service(request number)` each; counts what was answered in time.
class Pool {
public:
    using Service = std::function<Duration(std::uint64_t)>;
    Pool(Harness& harness, Service service) : h_(harness), service_(std::move(service)) {}

    void ask(ClientId client, std::uint64_t id, const RequestArrived& how = {}) {
        h_.ask(client, id, how);
        for (const auto& accepted : h_.all<Accepted>()) numbers_[accepted.request] = id;
        note();
    }
    // Runs until `end`, ending requests when they are due.
    void run_until(Time end) {
        while (true) {
            auto due = end;
            std::optional<WorkerId> who;
            for (const auto& [worker, run] : runs_) {
                if (run.second < due) {
                    due = run.second;
                    who = worker;
                }
            }
            const auto wake = h_.core.next_wake();
            if (wake && *wake < due) {
                h_.now = std::max(h_.now, *wake);
                for (const auto worker : h_.workers) h_.step(WorkerHeard{worker});
                for (const auto& client : clients_) h_.step(ClientHeard{client});
                h_.step(TimeReached{});
                note();
                continue;
            }
            h_.now = std::max(h_.now, due);
            if (!who) return;
            const auto request = runs_.at(*who).first;
            runs_.erase(*who);
            h_.reply(*who, request);
            if (!h_.all<ForwardReply>().empty()) finished_[numbers_.at(request)] = h_.now;
            note();
        }
    }
    void watch(ClientId client) { clients_.push_back(client); }
    [[nodiscard]] const std::map<std::uint64_t, Time>& finished() const { return finished_; }

private:
    void note() {
        for (const auto& send : h_.all<SendToWorker>()) {
            runs_[send.worker] = {send.request, h_.now + service_(numbers_.at(send.request))};
        }
    }
    Harness& h_;
    Service service_;
    std::vector<ClientId> clients_;
    std::map<RequestId, std::uint64_t> numbers_;
    std::map<WorkerId, std::pair<RequestId, Time>> runs_;
    std::map<std::uint64_t, Time> finished_;
};

// Goal: case 1. Method: 20 clients x 200 queries at 2 workers, answered in random order until none
// is left; after every step either both workers have been given something or nothing waits, by this
// test's own account and by the core's.
TEST(DispatcherCasesTest, Case1_NoRequestWaitsBesideAnIdleWorker) {
    Harness h(workers_and_window(2, 1), true, false);
    SplitMix64 random(1);
    std::map<WorkerId, RequestId> busy;
    std::uint64_t answered = 0;
    const auto look = [&] {
        for (const auto& send : h.all<SendToWorker>()) {
            ASSERT_TRUE(busy.emplace(send.worker, send.request).second) << "window 1";
        }
        const auto& totals = h.core.totals();
        ASSERT_EQ(totals.at_workers, busy.size());
        ASSERT_EQ(totals.queued + totals.at_workers + answered, totals.accepted);
        ASSERT_TRUE(busy.size() == 2 || totals.queued == 0);
        if (random.below(50) == 0) h.core.check_invariants();
    };
    for (int c = 0; c < 20; ++c) {
        const auto client = h.client();
        for (std::uint64_t id = 1; id <= 200; ++id) {
            h.ask(client, id);
            ASSERT_NO_FATAL_FAILURE(look());
        }
    }
    EXPECT_EQ(h.core.totals().queued, 3998U);
    while (!busy.empty()) {
        auto at = busy.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(random.below(busy.size())));
        const auto [worker, request] = *at;
        busy.erase(at);
        ++answered;
        h.reply(worker, request);
        ASSERT_NO_FATAL_FAILURE(look());
    }
    EXPECT_EQ(answered, 4000U);
}

// One way for the last worker to end while requests wait.
class LastWorkersEnd {
public:
    LastWorkersEnd(Harness& harness, SplitMix64& random, ClientId client)
        : h_(harness), random_(random), client_(client) {}

    // Asks for one more than fits, now and then with a deadline.
    void fill(std::uint64_t pending_max) {
        for (std::uint64_t id = 1; id <= pending_max + 1; ++id) {
            const bool due = random_.below(4) == 0;
            h_.ask(client_, id, due ? with_timeout(2s) : RequestArrived{});
            note();
        }
    }
    void end(WorkerId worker) {
        const auto first = held_.empty() ? std::optional<RequestId>() : held_.front();
        switch (random_.below(4)) {
            case 0:
                h_.exit(worker, first);
                break;
            case 1:
                h_.exit(worker);
                break;
            case 2:
                h_.step(KillSeat{1});
                note();
                h_.exit(worker, first);
                break;
            default:
                h_.step(WorkerUnreachable{worker});
                note();
                h_.exit(worker, first);
        }
        note();
    }
    // Time passes; replacements come up and answer, or never do.
    void recover(bool replaced) {
        for (int half_second = 0; half_second < 30; ++half_second) {
            h_.now += 500ms;
            h_.step(ClientHeard{client_});
            note();
            for (const auto& worker : h_.core.snapshot(h_.now).workers) {
                if (worker.seat == 0 || !replaced) continue;
                if (worker.state == WorkerState::kLoading)
                    h_.step(WorkerReady{worker.worker});
                else if (worker.state == WorkerState::kReady)
                    h_.step(WorkerHeard{worker.worker});
                note();
                while (replaced && !held_.empty()) {
                    const auto request = held_.front();
                    held_.erase(held_.begin());
                    h_.reply(worker.worker, request);
                    note();
                }
            }
            h_.step(TimeReached{});
            note();
        }
    }
    [[nodiscard]] std::uint64_t replies() const { return replies_; }

private:
    void note() {
        for (const auto& action : h_.actions) {
            if (const auto* send = std::get_if<SendToWorker>(&action)) {
                held_.push_back(send->request);
            } else if (const auto* forward = std::get_if<ForwardReply>(&action)) {
                replies_ += forward->last ? 1U : 0U;
            } else if (std::holds_alternative<SendError>(action)) {
                ++replies_;
            } else if (std::holds_alternative<KillWorker>(action)) {
                held_.clear();
            }
        }
        h_.actions.clear();
    }
    Harness& h_;
    SplitMix64& random_;
    ClientId client_;
    std::vector<RequestId> held_;
    std::uint64_t replies_ = 0;
};

// Goal: case 2, a thousand times. Method: the only worker ends, in one of several ways, while the
// queue is full, with every window and with and without a replacement. Each request has one reply,
// no gauge is left, and the core asks for no step that is already due: a loop that obeys it sleeps.
TEST(DispatcherCasesTest, Case2_LastWorkerStoppedWhileTheQueueIsFull) {
    SplitMix64 random(2);
    for (int round = 0; round < 1000; ++round) {
        SCOPED_TRACE(round);
        constexpr std::array<std::uint32_t, 3> kWindows{0, 1, 3};
        auto options = workers_and_window(1, kWindows.at(random.below(kWindows.size())));
        options.pending_max = static_cast<std::uint32_t>(1 + random.below(20));
        Harness h(options);
        const auto client = h.client();
        LastWorkersEnd scene(h, random, client);
        scene.fill(options.pending_max);
        scene.end(h.workers[0]);
        scene.recover(random.below(2) == 0);
        ASSERT_EQ(scene.replies(), options.pending_max + 1);
        const auto& totals = h.core.totals();
        ASSERT_EQ(totals.queued + totals.at_workers + totals.abandoned + totals.bytes, 0U);
        ASSERT_GT(h.core.next_wake().value_or(Time::max()), h.now);
    }
}

// Draws and carries out one random event of case 3.
class Chaos {
public:
    explicit Chaos(Harness& harness) : h_(harness) {}
    void one() {
        if (random_.below(4) != 0)
            h_.now += Duration{static_cast<std::int64_t>(random_.below(20'000))};
        const auto dice = random_.below(1000);
        if (clients_.size() < 20) {
            h_.step(ClientArrived{});
        } else if (dice < 480) {
            arrive();
        } else if (dice < 500) {
            cancel();
        } else if (dice < 501) {
            h_.step(ClientLost{any(clients_)});
        } else if (dice < 503) {
            exit();
        } else if (dice < 504) {
            h_.step(KillSeat{static_cast<std::uint32_t>(1 + random_.below(4))});
        } else if (dice < 560) {
            h_.step(TimeReached{});
        } else {
            answer();
        }
        note();
    }
    void start() {
        h_.step(Started{});
        note();
    }
    void finish() {
        for (int i = 0; i < 200'000 && h_.core.totals().queued + held() > 0; ++i) {
            h_.now += 1ms;
            answer();
            note();
            h_.step(TimeReached{});
            note();
        }
    }
    [[nodiscard]] std::uint64_t asked() const { return next_id_; }
    [[nodiscard]] std::uint64_t errors(Reason reason) const {
        const auto found = errors_.find(reason);
        return found == errors_.end() ? 0 : found->second;
    }

private:
    template <class T>
    T any(const std::vector<T>& from) {
        return from[random_.below(from.size())];
    }
    [[nodiscard]] std::size_t held() const {
        std::size_t count = 0;
        for (const auto& [worker, requests] : pending_) count += requests.size();
        return count;
    }
    void arrive() {
        RequestArrived event;
        event.client = any(clients_);
        event.client_request = ++next_id_;
        event.bytes = random_.below(1000);
        event.priority = static_cast<Priority>(random_.below(3));
        if (random_.below(3) == 0) {
            event.timeout = Duration{static_cast<std::int64_t>(random_.below(3'000'000)) + 1};
        }
        h_.step(event);
        recent_.emplace_back(event.client, event.client_request);
        if (recent_.size() > 300) recent_.pop_front();
    }
    // One of the last few: most of them are unanswered.
    void cancel() {
        if (recent_.empty()) return;
        const auto [client, id] = recent_[random_.below(recent_.size())];
        h_.step(CancelRequested{client, id});
    }
    // The worker has not begun with it, and lets go of it.
    void give_back(const Recall& recall) {
        auto& held = pending_[recall.worker];
        const auto at = std::ranges::find(held, recall.request);
        if (at == held.end() || at == held.begin()) return;
        held.erase(at);
        recalled_.emplace_back(recall.worker, recall.request);
    }
    void answer() {
        if (pending_.empty()) return;
        auto at = pending_.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(random_.below(pending_.size())));
        if (at->second.empty()) return;
        const auto request = at->second.front();
        at->second.erase(at->second.begin());
        const bool failed = random_.below(20) == 0;
        h_.reply(at->first, request, failed ? std::optional{ErrorCode::kQueryError} : std::nullopt);
    }
    void exit() {
        if (pending_.empty()) return;
        auto at = pending_.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(random_.below(pending_.size())));
        const auto [worker, requests] = *at;
        pending_.erase(at);
        h_.exit(worker, requests.empty() ? std::nullopt : std::optional{requests.front()});
    }
    void note() {
        for (std::size_t i = 0; i < h_.actions.size(); ++i) {  // Grows: an answer leads to more.
            const auto action = h_.actions[i];
            if (const auto* opened = std::get_if<ClientOpened>(&action)) {
                clients_.push_back(opened->client);
            } else if (const auto* closed = std::get_if<ClientClosed>(&action)) {
                std::erase(clients_, closed->client);
            } else if (const auto* send = std::get_if<SendToWorker>(&action)) {
                pending_[send->worker].push_back(send->request);
            } else if (const auto* kill = std::get_if<KillWorker>(&action)) {
                dead_.push_back(kill->worker);
            } else if (const auto* recall = std::get_if<Recall>(&action)) {
                give_back(*recall);
            } else if (const auto* error = std::get_if<SendError>(&action)) {
                ++errors_[error->reason];
            } else if (const auto* spawn = std::get_if<SpawnWorker>(&action)) {
                fresh_.push_back(spawn->worker);
            }
        }
        while (!dead_.empty() || !fresh_.empty() || !recalled_.empty()) {
            if (!recalled_.empty()) {
                const auto [worker, request] = recalled_.back();
                recalled_.pop_back();
                h_.step(Recalled{worker, request});
            } else if (!dead_.empty()) {
                const auto worker = dead_.back();
                dead_.pop_back();
                pending_.erase(worker);
                h_.exit(worker);
            } else {
                const auto worker = fresh_.back();
                fresh_.pop_back();
                pending_[worker];
                h_.step(WorkerReady{worker});
            }
            note();
        }
    }

    Harness& h_;
    SplitMix64 random_{42};
    std::vector<ClientId> clients_;
    std::map<WorkerId, std::vector<RequestId>> pending_;
    std::vector<WorkerId> dead_;
    std::vector<WorkerId> fresh_;
    std::vector<std::pair<WorkerId, RequestId>> recalled_;
    std::deque<std::pair<ClientId, std::uint64_t>> recent_;
    std::map<Reason, std::uint64_t> errors_;
    std::uint64_t next_id_ = 0;
};

// Goal: case 3. Method: a million requests with cancels, timeouts, kills and client losses; all
// gauges recounted now and then, and 0 at the end.
TEST(DispatcherCasesTest, Case3_GaugesAreZeroAfterAMillionRequests) {
    auto options = workers_and_window(4, 3);
    options.client_silence_max = 0s;
    options.worker_silence_max = 0s;
    options.stable_after = 0s;
    options.grace = 5ms;
    options.pending_max = 300;
    Harness h(options, false, false);
    Chaos chaos(h);
    chaos.start();
    std::uint64_t events = 0;
    while (chaos.asked() < 1'000'000) {
        chaos.one();
        if (++events % 5000 == 0) h.core.check_invariants();
    }
    chaos.finish();
    h.core.check_invariants();
    const auto& totals = h.core.totals();
    EXPECT_EQ(totals.queued, 0U);
    EXPECT_EQ(totals.at_workers, 0U);
    EXPECT_EQ(totals.abandoned, 0U);
    EXPECT_EQ(totals.bytes, 0U);
    EXPECT_EQ(totals.accepted, totals.answered + totals.failed + totals.dropped);
    EXPECT_EQ(totals.accepted + totals.refused, 1'000'000U);
    for (const auto& client : h.core.snapshot(h.now).clients) {
        EXPECT_EQ(client.pending, 0U);
        EXPECT_EQ(client.bytes, 0U);
    }
    EXPECT_GT(totals.dropped, 100U);  // All of it did happen.
    EXPECT_GT(totals.retried, 100U);
    EXPECT_GT(chaos.errors(Reason::kCancelled), 1000U);
    EXPECT_GT(chaos.errors(Reason::kTimedOutQueued), 1000U);
    EXPECT_GT(chaos.errors(Reason::kTimedOutRunning), 100U);
}

// Goal: case 4. Method: twice the capacity for a minute, deadline 1 s, services up to 50 ms.
TEST(DispatcherCasesTest, Case4_OverloadYieldsAnswersInTime) {
    Harness h(workers_and_window(4, 1), true, false);
    SplitMix64 random(4);
    Duration useful{0};
    std::map<std::uint64_t, Duration> service;
    Pool pool(h, [&](std::uint64_t id) { return service.at(id); });
    std::vector<ClientId> clients;
    for (int i = 0; i < 10; ++i) {
        clients.push_back(h.client());
        pool.watch(clients.back());
    }
    const auto start = h.now;
    std::map<std::uint64_t, Time> asked;
    // Mean service 25 ms, 4 workers: capacity 160 per second; 320 per second are asked.
    for (std::uint64_t id = 1; id <= 60 * 320; ++id) {
        pool.run_until(start + Duration{static_cast<std::int64_t>(id) * 1'000'000'000 / 320});
        service[id] = Duration{static_cast<std::int64_t>(random.below(50'000'000)) + 1};
        asked[id] = h.now;
        pool.ask(clients[random.below(clients.size())], id, with_timeout(1s));
    }
    const auto end = h.now;
    for (const auto& [id, at] : pool.finished()) {
        if (at - asked.at(id) <= 1s) useful += service.at(id);
    }
    const auto goodput =
        static_cast<double>(useful.count()) / (4.0 * static_cast<double>((end - start).count()));
    EXPECT_GE(goodput, 0.9);  // Plain first come first served: 0.39.
    RecordProperty("goodput_percent", static_cast<int>(goodput * 100));
}

// Goal: case 6. Method: A runs 10 s, B and C 10 ms, 2 workers.
TEST(DispatcherCasesTest, Case6_ShortOnesDoNotWaitForALongOne) {
    Harness h(workers_and_window(2, 1));
    Pool pool(h, [](std::uint64_t id) { return id == 1 ? Duration{10s} : Duration{10ms}; });
    const auto client = h.client();
    pool.watch(client);
    const auto start = h.now;
    for (std::uint64_t id = 1; id <= 3; ++id) pool.ask(client, id);
    pool.run_until(start + 20ms + 1ns);
    EXPECT_THAT(pool.finished(), SizeIs(2));
}

// Goal: cases 7 and 27. Method: a 60 s query and 200 of 10 ms, 3 workers: 2 free workers' time.
TEST(DispatcherCasesTest, Case7And27_ShortOnesHaveTheFreeWorkers) {
    Harness h(workers_and_window(3, 1));
    Pool pool(h, [](std::uint64_t id) { return id == 1 ? Duration{60s} : Duration{10ms}; });
    const auto client = h.client();
    pool.watch(client);
    const auto start = h.now;
    for (std::uint64_t id = 1; id <= 201; ++id) pool.ask(client, id);
    pool.run_until(start + 1s + 1ns);
    EXPECT_THAT(pool.finished(), SizeIs(200));
}

// Goal: case 12. Method: A queues 1000, B one; B is next when a worker is free.
TEST(DispatcherCasesTest, Case12_ManyQueriesOfOneDoNotDelayAnother) {
    Harness h(workers_and_window(2, 1), true, false);
    const auto a = h.client();
    const auto b = h.client();
    const auto first = h.ask(a, 1);
    for (std::uint64_t id = 2; id <= 1000; ++id) h.ask(a, id);
    const auto mine = h.ask(b, 1);
    h.reply(h.workers[0], first);
    const auto sent = h.sent();
    ASSERT_THAT(sent, SizeIs(1));
    if (sent[0] != mine) {  // A's turn; then it is B's.
        h.reply(h.workers[0], sent[0]);
        EXPECT_THAT(h.sent(), ElementsAre(mine));
    }
}

}  // namespace
}  // namespace shortq::core
