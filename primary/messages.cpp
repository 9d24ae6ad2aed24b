// primary/messages.cpp: one sentence per reason: what happened, and the way out where there is one.
#include "primary/messages.h"

#include <fmt/format.h>

namespace shortq::primary {
namespace {

using core::Reason;

std::string place(const core::Receipt& to) {
    return to.seat == 0 ? std::string("in the primary") : fmt::format("on worker {}", to.seat);
}

// The tense says when a query ended that was cut short; it may still be ending.
std::string timed_out(const core::Receipt& to, bool started) {
    const auto total = seconds_text(to.queued + to.ran);
    if (!started) return fmt::format("timed out after {}: queued, never ran", total);
    return fmt::format("timed out after {}: queued {}, then ran {} {}", total,
                       seconds_text(to.queued), seconds_text(to.ran), place(to));
}

std::string overloaded(const Options& options, Reason reason) {
    if (reason == Reason::kQueueFull)
        return fmt::format("too many unanswered requests: the limit is {} (--max-pending)",
                           options.pending_max);
    if (reason == Reason::kClientQueueFull)
        return fmt::format(
            "too many unanswered requests of this client: the limit is {} "
            "(--max-pending-per-client)",
            options.pending_per_client_max);
    return fmt::format(
        "the unanswered requests are too large: the limit is {} bytes in all (--max-pending-bytes)",
        options.pending_bytes_max);
}

std::string text_for(Reason reason, const core::Receipt& to, const Options& options) {
    switch (reason) {
        case Reason::kQueueFull:
        case Reason::kClientQueueFull:
        case Reason::kBytesFull:
            return overloaded(options, reason);
        case Reason::kDuplicateId:
            return fmt::format("this client already has an unanswered request with id {}",
                               to.client_request);
        case Reason::kDraining:
            return "the primary is shutting down";
        case Reason::kNoWorker:
            return "no worker is able to answer";
        case Reason::kTimedOutQueued:
            return timed_out(to, false);
        case Reason::kTimedOutRunning:
            return timed_out(to, true);
        case Reason::kCancelled:
            return "cancelled on request";
        case Reason::kPoison:
            return fmt::format(
                "the workers that ran this query died, the last one was worker {}; it "
                "is not tried again",
                to.seat);
        case Reason::kLostNotRetried:
            return fmt::format("worker {} died; with --writable nothing is tried again", to.seat);
        case Reason::kLostMidStream:
            return fmt::format("worker {} was lost in the middle of the result; ask again",
                               to.seat);
        case Reason::kStalled:
            return fmt::format("the reader took nothing for {} while its result waited (--stall)",
                               seconds_text(options.stall));
        case Reason::kInterrupted:
            return "the engine interrupted the query";
    }
    return "unknown reason";
}

}  // namespace

std::string seconds_text(std::chrono::nanoseconds duration) {
    return fmt::format("{:.3f} s", std::chrono::duration<double>(duration).count());
}

Error describe(core::Reason reason, const core::Receipt& to, const Options& options) {
    return Error{core::code_of(reason), text_for(reason, to, options),
                 to.seat == 0 ? std::string("primary") : fmt::format("worker {}", to.seat),
                 core::retryable(reason)};
}

}  // namespace shortq::primary
