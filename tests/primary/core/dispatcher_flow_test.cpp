// tests/primary/core/dispatcher_flow_test.cpp: readers and what waits for them, step by step.
#include "tests/primary/core/harness.h"

namespace shortq::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t kReplyWindow = 1000;
constexpr std::uint64_t kClientWindow = 3000;

Options small_windows(std::uint32_t workers, std::uint32_t window = 1) {
    auto options = workers_and_window(workers, window);
    options.reply_window_bytes = kReplyWindow;
    options.client_window_bytes = kClientWindow;
    options.stall = seconds(5);
    return options;
}

class FlowTest : public ::testing::Test {
protected:
    static void piece(Harness& h, WorkerId worker, RequestId request, std::uint64_t bytes,
                      bool last = false) {
        ReplyArrived event;
        event.worker = worker;
        event.request = request;
        event.last = last;
        event.bytes = bytes;
        h.step(event);
    }
    static void took(Harness& h, ClientId client, std::uint64_t id, std::uint64_t bytes,
                     std::uint32_t attempt = 0) {
        h.step(CreditArrived{client, id, attempt, bytes});
    }
};

// Each credit becomes a grant of what was taken and a window; one that says nothing new, or is of
// another attempt or of nobody, none.
TEST_F(FlowTest, CreditIsPassedOnToTheWorkerAsATotal) {
    Harness h(small_windows(1));
    const auto client = h.client();
    const auto request = h.ask(client, 7);
    piece(h, h.workers[0], request, 600);
    EXPECT_THAT(h.all<ForwardReply>(), SizeIs(1));
    took(h, client, 7, 600);
    EXPECT_THAT(h.all<GrantCredit>(), ElementsAre(GrantCredit{h.workers[0], request, 1600}));
    took(h, client, 7, 600);
    EXPECT_THAT(h.actions, IsEmpty());
    took(h, client, 7, 500);
    EXPECT_THAT(h.actions, IsEmpty());
    piece(h, h.workers[0], request, 100);
    took(h, client, 7, 700, 1);
    took(h, client, 8, 700);
    EXPECT_THAT(h.actions, IsEmpty());
    took(h, client, 7, 9999);  // More than was sent counts as all of it.
    EXPECT_THAT(h.all<GrantCredit>(), ElementsAre(GrantCredit{h.workers[0], request, 1700}));
}

// The reader takes nothing: cut off after the stall time, not before, and its worker told to stop.
TEST_F(FlowTest, AReaderThatTakesNothingLosesItsQuery) {
    Harness h(small_windows(1));
    const auto client = h.client();
    const auto request = h.ask(client, 1);
    piece(h, h.workers[0], request, kReplyWindow);
    EXPECT_THAT(Harness::of<SendError>(h.pass(milliseconds(4900))), IsEmpty());
    const auto seen = h.pass(milliseconds(200));
    ASSERT_THAT(Harness::of<SendError>(seen), SizeIs(1));
    EXPECT_EQ(Harness::of<SendError>(seen)[0].reason, Reason::kStalled);
    EXPECT_THAT(Harness::of<Interrupt>(seen), ElementsAre(Interrupt{h.workers[0], request}));
    EXPECT_EQ(code_of(Reason::kStalled), ErrorCode::kTimeout);
    EXPECT_TRUE(retryable(Reason::kStalled));
}

// As long as it takes something now and then, and below a full window, nobody is cut off.
TEST_F(FlowTest, ASlowReaderIsNotAStalledOne) {
    Harness h(small_windows(1));
    const auto client = h.client();
    const auto request = h.ask(client, 1);
    std::uint64_t taken = 0;
    piece(h, h.workers[0], request, 2000);
    for (int i = 0; i < 9; ++i) {
        EXPECT_THAT(Harness::of<SendError>(h.pass(seconds(4))), IsEmpty());
        taken += 100;
        took(h, client, 1, taken);
    }
    took(h, client, 1, 1001);  // 999 left: the worker is to blame from now on.
    EXPECT_THAT(Harness::of<SendError>(h.pass(seconds(60))), IsEmpty());
}

// What was given ahead to the worker of a slow reader is done elsewhere, and it gets nothing more.
TEST_F(FlowTest, OthersDoNotWaitBehindASlowReader) {
    Harness h(small_windows(2, 3));
    const auto slow = h.client();
    const auto other = h.client();
    const auto streamed = h.ask(slow, 1);
    const auto first = h.ask(other, 1);   // The other worker.
    const auto second = h.ask(other, 2);  // Behind the streamed one, or behind the first.
    const auto third = h.ask(other, 3);
    piece(h, h.workers[0], streamed, kReplyWindow);
    const auto recalls = h.all<Recall>();
    ASSERT_THAT(recalls, SizeIs(1));
    EXPECT_EQ(recalls[0].worker, h.workers[0]);
    const auto waiting = recalls[0].request;
    EXPECT_TRUE(waiting == second || waiting == third);
    h.step(Recalled{h.workers[0], waiting});
    EXPECT_THAT(h.all<SendToWorker>(), ElementsAre(SendToWorker{h.workers[1], waiting}));
    h.ask(other, 4);
    EXPECT_THAT(h.sent(), IsEmpty());  // The second worker is full, the first one stalled.
    h.reply(h.workers[1], first);
    EXPECT_THAT(h.sent(), SizeIs(1));
    took(h, slow, 1, 1);
    h.ask(other, 5);
    EXPECT_THAT(h.all<SendToWorker>(), SizeIs(1));
    EXPECT_EQ(h.all<SendToWorker>()[0].worker, h.workers[0]);
}

// A new attempt of a whole result starts with a full window; the old attempt's credit is void.
TEST_F(FlowTest, ANewAttemptStartsFromNothing) {
    Harness h(small_windows(2));
    const auto client = h.client();
    const auto request = h.ask(client, 1);
    piece(h, h.workers[0], request, 2000);
    h.exit(h.workers[0], request);
    EXPECT_THAT(h.all<SendToWorker>(), ElementsAre(SendToWorker{h.workers[1], request}));
    took(h, client, 1, 2000, 0);
    EXPECT_THAT(h.all<GrantCredit>(), IsEmpty());
    EXPECT_THAT(Harness::of<SendError>(h.pass(seconds(20))), IsEmpty());
    piece(h, h.workers[1], request, 900);
    took(h, client, 1, 900, 1);
    EXPECT_THAT(h.all<GrantCredit>(), ElementsAre(GrantCredit{h.workers[1], request, 1900}));
}

// Whole results of a client that does not read: nothing more is begun for it, others are served,
// and it goes on in order where it stopped.
TEST_F(FlowTest, NothingIsBegunForAClientThatDoesNotRead) {
    Harness h(small_windows(1));
    const auto deaf = h.client();
    const auto other = h.client();
    const auto big = h.ask(deaf, 1);
    h.ask(deaf, 2);
    h.ask(deaf, 3);
    piece(h, h.workers[0], big, kClientWindow, true);
    EXPECT_THAT(h.sent(), IsEmpty());
    const auto theirs = h.ask(other, 1);
    EXPECT_THAT(h.sent(), ElementsAre(theirs));
    h.reply(h.workers[0], theirs);
    EXPECT_THAT(h.sent(), IsEmpty());
    took(h, deaf, 0, 1);
    EXPECT_THAT(h.all<SendToWorker>(), SizeIs(1));
}

// It is dropped, with what waits, if it takes nothing for the stall time; each bit taken helps.
TEST_F(FlowTest, AClientThatDoesNotReadIsDropped) {
    Harness h(small_windows(1));
    const auto client = h.client();
    const auto big = h.ask(client, 1);
    h.ask(client, 2);
    piece(h, h.workers[0], big, 2 * kClientWindow, true);
    EXPECT_THAT(Harness::of<ClientClosed>(h.pass(seconds(4))), IsEmpty());
    took(h, client, 0, 1);
    EXPECT_THAT(Harness::of<ClientClosed>(h.pass(milliseconds(4900))), IsEmpty());
    EXPECT_THAT(Harness::of<ClientClosed>(h.pass(milliseconds(200))),
                ElementsAre(ClientClosed{client}));
    EXPECT_EQ(h.core.totals().queued, 0U);
    EXPECT_EQ(h.core.totals().bytes, 0U);
}

// Nothing of its waits, so nothing is gained by dropping it; the patience begins with a request.
TEST_F(FlowTest, AClientWithoutRequestsMayReadWhenItLikes) {
    Harness h(small_windows(1));
    const auto client = h.client();
    const auto big = h.ask(client, 1);
    piece(h, h.workers[0], big, 2 * kClientWindow, true);
    EXPECT_THAT(Harness::of<ClientClosed>(h.pass(seconds(60))), IsEmpty());
    h.ask(client, 2);
    h.ask(client, 3);
    EXPECT_THAT(Harness::of<ClientClosed>(h.pass(milliseconds(4900))), IsEmpty());
    EXPECT_THAT(Harness::of<ClientClosed>(h.pass(milliseconds(200))),
                ElementsAre(ClientClosed{client}));
}

// A worker that sends more than it was granted stalls its own request, and nothing else.
TEST_F(FlowTest, AWorkerThatSendsTooMuchHarmsNobody) {
    Harness h(small_windows(2));
    const auto client = h.client();
    const auto other = h.client();
    const auto flood = h.ask(client, 1);
    for (int i = 0; i < 100; ++i) piece(h, h.workers[0], flood, 100 * kReplyWindow);
    h.ask(client, 2);
    EXPECT_THAT(h.sent(), IsEmpty());
    const auto theirs = h.ask(other, 1);
    EXPECT_THAT(h.sent(), ElementsAre(theirs));
    // Of a request that it does not have, nothing counts.
    piece(h, h.workers[0], theirs, 100);
    EXPECT_THAT(h.all<ForwardReply>(), IsEmpty());
    EXPECT_THAT(Harness::of<ClientClosed>(h.pass(seconds(6))), ElementsAre(ClientClosed{client}));
}

// Sync requests of such a client leave the primary's own engine to the others, and run when it has
// read, in their order.
TEST_F(FlowTest, SyncRequestsOfAClientThatDoesNotReadWait) {
    Harness h(small_windows(1));
    const auto client = h.client();
    RequestArrived sync;
    sync.mode = Mode::kSync;
    const auto big = h.ask(client, 1, sync);
    const auto second = h.ask(client, 2, sync);
    const auto third = h.ask(client, 3, sync);
    piece(h, kSyncWorker, big, kClientWindow, true);
    EXPECT_THAT(h.all<Recall>(),
                ElementsAre(Recall{kSyncWorker, second}, Recall{kSyncWorker, third}));
    // The second has started by now.
    h.step(Recalled{kSyncWorker, third});
    EXPECT_THAT(h.sent(), IsEmpty());
    const auto fourth = h.ask(client, 4, sync);
    EXPECT_THAT(h.sent(), IsEmpty());
    h.reply(kSyncWorker, second);
    took(h, client, 0, kClientWindow);
    EXPECT_THAT(h.sent(), ElementsAre(third, fourth));
}

// A sync request whose deadline passes while it waits for its reader is not begun any more, also
// when the client reads before time is judged (the primary was paused); others run.
TEST_F(FlowTest, ASyncRequestThatWaitedPastItsDeadlineIsNotBegun) {
    Harness h(small_windows(1));
    const auto client = h.client();
    RequestArrived sync;
    sync.mode = Mode::kSync;
    const auto big = h.ask(client, 1, sync);
    piece(h, kSyncWorker, big, kClientWindow, true);
    sync.timeout = seconds(1);
    h.ask(client, 2, sync);
    sync.timeout = Duration{0};
    const auto third = h.ask(client, 3, sync);
    h.now += seconds(1);
    took(h, client, 0, kClientWindow);
    EXPECT_THAT(h.sent(), ElementsAre(third));
    EXPECT_THAT(h.errors(), ElementsAre(Reason::kTimedOutQueued));
}

// Cancel, deadline and loss of the client end a stalled query as any other.
TEST_F(FlowTest, AStalledQueryEndsAsAnyOther) {
    Harness h(small_windows(3));
    const auto client = h.client();
    const auto other = h.client();
    const auto cancelled = h.ask(client, 1);
    const auto late = h.ask(client, 2, with_timeout(seconds(1)));
    const auto lost = h.ask(other, 1);
    piece(h, h.workers[0], cancelled, kReplyWindow);
    piece(h, h.workers[1], late, kReplyWindow);
    piece(h, h.workers[2], lost, kReplyWindow);
    h.step(CancelRequested{client, 1});
    EXPECT_THAT(h.all<Interrupt>(), ElementsAre(Interrupt{h.workers[0], cancelled}));
    h.reply(h.workers[0], cancelled, ErrorCode::kCancelled);
    EXPECT_THAT(h.errors(), ElementsAre(Reason::kCancelled));
    h.step(ClientLost{other});
    EXPECT_THAT(h.all<Interrupt>(), ElementsAre(Interrupt{h.workers[2], lost}));
    const auto seen = h.pass(seconds(1));
    ASSERT_THAT(Harness::of<SendError>(seen), SizeIs(1));
    EXPECT_EQ(Harness::of<SendError>(seen)[0].reason, Reason::kTimedOutRunning);
    h.reply(h.workers[1], late, ErrorCode::kCancelled);
    h.reply(h.workers[2], lost, ErrorCode::kCancelled);
    h.ask(client, 3);
    h.ask(client, 4);
    h.ask(client, 5);
    EXPECT_EQ(h.core.totals().at_workers, 3U);
}

// Without a stall time a reader may think as long as it likes.
TEST_F(FlowTest, NoStallTimeMeansNever) {
    auto options = small_windows(1);
    options.stall = Duration{0};
    Harness h(options);
    const auto client = h.client();
    const auto request = h.ask(client, 1);
    piece(h, h.workers[0], request, kClientWindow);
    EXPECT_THAT(Harness::of<SendError>(h.pass(seconds(120))), IsEmpty());
    EXPECT_EQ(h.core.totals().at_workers, 1U);
}

}  // namespace
}  // namespace shortq::core
