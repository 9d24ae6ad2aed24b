#include "tools/bench/throughput.h"

namespace shortq::bench {
namespace {

using Clock = std::chrono::steady_clock;

Result<void> exchange(Target& target) {
    if (auto received = target.receive(); !received) return received;
    if (!target.send()) return fail(ErrorCode::kInternal, "the socket takes no more");
    return {};
}

// Keeps the number under way constant for a while; counts the replies.
Result<std::uint64_t> keep_busy(Target& target, std::chrono::milliseconds duration) {
    constexpr unsigned kRepliesPerLookAtTheClock = 16;
    const auto end = Clock::now() + duration;
    std::uint64_t replies = 0;
    do {
        for (unsigned i = 0; i < kRepliesPerLookAtTheClock; ++i, ++replies) {
            if (auto done = exchange(target); !done) return tl::unexpected(done.error());
        }
    } while (Clock::now() < end);
    return replies;
}

}  // namespace

Result<double> throughput(Target& target, const Load& load) {
    for (unsigned i = 0; i < load.outstanding; ++i) {
        if (!target.send()) return fail(ErrorCode::kInternal, "the socket takes no more");
    }
    if (auto warm = keep_busy(target, load.warm_up); !warm) return tl::unexpected(warm.error());
    const auto start = Clock::now();
    const auto replies = keep_busy(target, load.measured);
    if (!replies) return tl::unexpected(replies.error());
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    for (unsigned i = 0; i < load.outstanding; ++i) {
        if (auto received = target.receive(); !received) return tl::unexpected(received.error());
    }
    return static_cast<double>(*replies) / elapsed.count();
}

}  // namespace shortq::bench
