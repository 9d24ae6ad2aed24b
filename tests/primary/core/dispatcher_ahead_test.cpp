// tests/primary/core/dispatcher_ahead_test.cpp: windows of predicted time, as scripted scenarios.
#include "tests/primary/core/harness.h"

namespace shortq::core {
namespace {

using namespace std::chrono_literals;

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t kShort = 11;
constexpr std::uint64_t kLong = 12;

class DispatcherAheadTest : public ::testing::Test {
protected:
    explicit DispatcherAheadTest(std::uint32_t workers = 1)
        : h(workers_and_window(workers, kWindowAuto)), client(h.client()) {}

    RequestId ask(std::uint64_t fingerprint) {
        RequestArrived how;
        how.fingerprint = fingerprint;
        return h.ask(client, ++last_id_, how);
    }
    // Has a worker learn what a kind of query takes.
    void teach(std::uint64_t fingerprint, Duration takes) {
        for (int i = 0; i < 100; ++i) {
            const auto request = ask(fingerprint);
            const auto worker = h.all<SendToWorker>().at(0).worker;
            h.now += takes;
            h.reply(worker, request, {}, takes);
        }
    }
    [[nodiscard]] std::vector<RequestId> recalled() const {
        std::vector<RequestId> out;
        for (const auto& recall : h.all<Recall>()) out.push_back(recall.request);
        return out;
    }
    // Lets time pass; what was asked of the workers meanwhile.
    std::vector<RequestId> recalled_within(Duration time) {
        std::vector<RequestId> out;
        for (const auto& recall : Harness::of<Recall>(h.pass(time))) out.push_back(recall.request);
        return out;
    }

    Harness h;
    ClientId client;

private:
    std::uint64_t last_id_ = 0;
};
class DispatcherAheadOfTwoTest : public DispatcherAheadTest {
protected:
    DispatcherAheadOfTwoTest() : DispatcherAheadTest(2) {}

    void ask_short(int count) {
        for (int i = 0; i < count; ++i) {
            asked.push_back(ask(kShort));
            for (const auto& send : h.all<SendToWorker>()) given[send.request] = send.worker;
        }
    }

    std::vector<RequestId> asked;
    std::map<RequestId, WorkerId> given;  // Those that went to a worker at once.
};

// Goal: nothing goes behind what is not known. Method: two of an unknown kind, two without any.
TEST_F(DispatcherAheadTest, NothingIsSentBehindTheUnknown) {
    for (const std::uint64_t kind : {kShort, std::uint64_t{0}}) {
        const auto first = ask(kind);
        EXPECT_THAT(h.sent(), ElementsAre(first));
        const auto second = ask(kind);
        EXPECT_THAT(h.sent(), IsEmpty());
        h.reply(h.workers[0], first, {}, 10us);
        EXPECT_THAT(h.sent(), ElementsAre(second));
        h.reply(h.workers[0], second, {}, 10us);
    }
}

// Goal: a worker gets more while what it has is predicted to take less than 1 ms. Method: queries
// of 150 us, steadily: the seventh makes it 1050.
TEST_F(DispatcherAheadTest, ShortOnesAreSentUpToTheBudget) {
    teach(kShort, 150us);
    std::vector<RequestId> asked;
    std::size_t sent = 0;
    for (int i = 0; i < 10; ++i) {
        asked.push_back(ask(kShort));
        sent += h.sent().size();
    }
    EXPECT_EQ(sent, 7U);
    h.reply(h.workers[0], asked[0], {}, 150us);
    EXPECT_THAT(h.sent(), ElementsAre(asked[7]));
}

// Goal: however short they are, a worker gets no more than 64. Method: 100 of less than a
// microsecond.
TEST_F(DispatcherAheadTest, TheNumberIsBounded) {
    teach(kShort, 100ns);
    std::size_t sent = 0;
    for (int i = 0; i < 100; ++i) {
        ask(kShort);
        sent += h.sent().size();
    }
    EXPECT_EQ(sent, 64U);
}

// Goal: what is predicted to be long is sent to a worker that has nothing, and gets nothing behind
// it; it may be sent behind a short one. Method: short, long, short.
TEST_F(DispatcherAheadTest, NothingIsSentBehindALongOne) {
    teach(kShort, 10us);
    teach(kLong, 50ms);
    const auto first = ask(kShort);
    const auto second = ask(kLong);
    EXPECT_THAT(h.sent(), ElementsAre(second));
    const auto third = ask(kShort);
    EXPECT_THAT(h.sent(), IsEmpty());
    h.reply(h.workers[0], first, {}, 10us);
    EXPECT_THAT(h.sent(), IsEmpty());
    h.reply(h.workers[0], second, {}, 50ms);
    EXPECT_THAT(h.sent(), ElementsAre(third));
}

// Goal: an idle worker comes before room behind a short query. Method: two short ones, two workers.
TEST_F(DispatcherAheadOfTwoTest, AnIdleWorkerComesFirst) {
    teach(kShort, 10us);
    ask(kShort);
    const auto first = h.all<SendToWorker>().at(0).worker;
    ask(kShort);
    EXPECT_NE(h.all<SendToWorker>().at(0).worker, first);
}

// Goal: when a query takes longer than predicted, what waits behind it is recalled, oldest first to
// run elsewhere, and nothing more is sent there until it has ended. Method: five of a short kind at
// one of two workers, of which the first does not end.
TEST_F(DispatcherAheadOfTwoTest, WhatWaitsBehindAnOverrunIsRecalled) {
    teach(kShort, 10us);
    ask_short(6);
    ASSERT_THAT(given, SizeIs(6));
    const auto stuck = given.at(asked[0]);
    const auto other = given.at(asked[1]);
    for (const auto i : {1U, 3U, 5U}) h.reply(other, asked[i], {}, 10us);
    EXPECT_THAT(recalled_within(400us), IsEmpty());
    EXPECT_THAT(recalled_within(1ms), ElementsAre(asked[2], asked[4]));

    for (const auto i : {2U, 4U}) {
        h.step(Recalled{stuck, asked[i]});
        ASSERT_THAT(h.sent(), ElementsAre(asked[i]));
        EXPECT_EQ(h.all<SendToWorker>()[0].worker, other);
    }
    for (int i = 0; i < 100; ++i) {
        ask(kShort);
        for (const auto& send : h.all<SendToWorker>()) EXPECT_EQ(send.worker, other);
    }
    h.reply(stuck, asked[0], {}, 10ms);
    ASSERT_THAT(h.all<SendToWorker>(), SizeIs(1));
    EXPECT_EQ(h.all<SendToWorker>()[0].worker, stuck);
}

// Goal: one whose worker had begun it after all is not recalled in vain. Method: the worker answers
// instead of giving it back.
TEST_F(DispatcherAheadOfTwoTest, AnAnswerMayCrossARecall) {
    teach(kShort, 10us);
    ask_short(4);
    const auto stuck = given.at(asked[0]);
    EXPECT_THAT(recalled_within(1ms), SizeIs(2));
    h.reply(stuck, asked[0], {}, 1ms);
    EXPECT_THAT(h.all<ForwardReply>(), SizeIs(1));
    h.reply(stuck, asked[2], {}, 10us);
    EXPECT_THAT(h.all<ForwardReply>(), SizeIs(1));
    EXPECT_EQ(h.core.totals().queued, 0U);
}

// Goal: an interrupted query tells that it takes at least so long, and no less. Method: a long one
// whose client cancels it at once keeps its prediction.
TEST_F(DispatcherAheadTest, AStoppedQueryOnlyRaisesThePrediction) {
    teach(kLong, 50ms);
    auto request = ask(kLong);
    h.step(CancelRequested{client, 101});
    h.reply(h.workers[0], request, ErrorCode::kCancelled, 10us);
    ask(kLong);
    ask(kLong);
    EXPECT_THAT(h.sent(), IsEmpty()) << "it is still held to be long";
}

}  // namespace
}  // namespace shortq::core
