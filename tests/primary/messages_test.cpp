#include "primary/messages.h"

#include <gtest/gtest.h>

namespace shortq::primary {
namespace {

using core::Reason;
using std::chrono::milliseconds;

core::Receipt receipt(std::uint32_t seat, milliseconds queued, milliseconds ran) {
    core::Receipt to;
    to.seat = seat;
    to.queued = queued;
    to.ran = ran;
    to.client_request = 7;
    return to;
}

// A deadline's message tells where the time went; the exact text, for each place.
TEST(MessagesTest, TimeoutSaysHowLongItQueuedAndRan) {
    const Options options;
    EXPECT_EQ(describe(Reason::kTimedOutRunning, receipt(1, milliseconds(200), milliseconds(800)),
                       options)
                  .message,
              "timed out after 1.000 s: queued 0.200 s, then ran 0.800 s on worker 1");
    EXPECT_EQ(
        describe(Reason::kTimedOutRunning, receipt(0, milliseconds(0), milliseconds(50)), options)
            .message,
        "timed out after 0.050 s: queued 0.000 s, then ran 0.050 s in the primary");
    EXPECT_EQ(
        describe(Reason::kTimedOutQueued, receipt(0, milliseconds(1500), milliseconds(0)), options)
            .message,
        "timed out after 1.500 s: queued, never ran");
}

// A refusal names the limit and the option that sets it.
TEST(MessagesTest, OverloadNamesTheLimit) {
    Options options;
    options.pending_max = 100;
    options.pending_per_client_max = 10;
    options.pending_bytes_max = 4096;
    const auto text = [&](Reason reason) { return describe(reason, {}, options).message; };
    EXPECT_EQ(text(Reason::kQueueFull),
              "too many unanswered requests: the limit is 100 (--max-pending)");
    EXPECT_EQ(text(Reason::kClientQueueFull),
              "too many unanswered requests of this client: the limit is 10 "
              "(--max-pending-per-client)");
    EXPECT_EQ(text(Reason::kBytesFull),
              "the unanswered requests are too large: the limit is 4096 bytes in all "
              "(--max-pending-bytes)");
}

// Every reason has a code, a text of its own and a place: none ends as a bare "error".
TEST(MessagesTest, EveryReasonSaysSomething) {
    for (const auto reason :
         {Reason::kQueueFull, Reason::kClientQueueFull, Reason::kBytesFull, Reason::kDuplicateId,
          Reason::kDraining, Reason::kNoWorker, Reason::kTimedOutQueued, Reason::kTimedOutRunning,
          Reason::kCancelled, Reason::kPoison, Reason::kLostNotRetried, Reason::kLostMidStream,
          Reason::kStalled, Reason::kInterrupted}) {
        const auto error = describe(reason, receipt(2, milliseconds(0), milliseconds(1)), {});
        EXPECT_EQ(error.code, core::code_of(reason));
        EXPECT_EQ(error.retryable, core::retryable(reason));
        EXPECT_GT(error.message.size(), 10U);
        EXPECT_NE(error.message, "unknown reason");
        EXPECT_EQ(error.where, "worker 2");
    }
}

}  // namespace
}  // namespace shortq::primary
