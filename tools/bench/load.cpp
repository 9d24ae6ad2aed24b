#include "tools/bench/load.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "tools/bench/statistics.h"

namespace shortq::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Window {
    Clock::time_point begin;  // Warm by then.
    Clock::time_point end;
};

struct Counted {
    std::uint64_t replies = 0;
    std::vector<double> latencies_us{};
};

// One request after the other, each one timed.
Result<Counted> one_by_one(Requester& requester, const Window& window) {
    Counted counted;
    for (auto sent = Clock::now();;) {
        if (auto done = requester.exchange(); !done) return tl::unexpected(done.error());
        const auto now = Clock::now();
        if (now >= window.end) return counted;
        if (now >= window.begin) {
            ++counted.replies;
            counted.latencies_us.push_back(
                std::chrono::duration<double, std::micro>(now - sent).count());
        }
        sent = now;
    }
}

Result<Counted> many_at_once(Requester& requester, unsigned depth, const Window& window) {
    Counted counted;
    for (unsigned i = 0; i < depth; ++i) {
        if (auto sent = requester.send(); !sent) return tl::unexpected(sent.error());
    }
    for (;;) {
        if (auto received = requester.receive(); !received) return tl::unexpected(received.error());
        const auto now = Clock::now();
        if (now >= window.end) break;
        if (now >= window.begin) ++counted.replies;
        if (auto sent = requester.send(); !sent) return tl::unexpected(sent.error());
    }
    for (unsigned i = 1; i < depth; ++i) {
        if (auto received = requester.receive(); !received) return tl::unexpected(received.error());
    }
    return counted;
}

Result<Counted> keep_busy(Requester& requester, unsigned depth, const Window& window) {
    return depth == 1 ? one_by_one(requester, window) : many_at_once(requester, depth, window);
}

// A thread for each client; what each of them counted.
std::vector<Result<Counted>> run_all(const std::vector<std::unique_ptr<Requester>>& requesters,
                                     const Load& load) {
    const auto begin = Clock::now() + load.warm_up;
    const Window window{begin, begin + load.measured};
    std::vector<Result<Counted>> counted(requesters.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < requesters.size(); ++i) {
        threads.emplace_back(
            [&, i] { counted[i] = keep_busy(*requesters[i], load.depth, window); });
    }
    for (auto& thread : threads) thread.join();
    return counted;
}

}  // namespace

Result<Achieved> measure(Target& target, const Load& load) {
    std::vector<std::unique_ptr<Requester>> requesters;
    for (unsigned i = 0; i < load.clients; ++i) {
        auto requester = target.connect(load.payload);
        if (!requester) return tl::unexpected(requester.error());
        requesters.push_back(std::move(*requester));
    }
    std::uint64_t replies = 0;
    std::vector<double> latencies;
    for (const auto& counted : run_all(requesters, load)) {
        if (!counted) return tl::unexpected(counted.error());
        replies += counted->replies;
        latencies.insert(latencies.end(), counted->latencies_us.begin(),
                         counted->latencies_us.end());
    }
    if (replies == 0) return fail(ErrorCode::kTimeout, "no reply in the time of a measurement");
    std::ranges::sort(latencies);
    const std::chrono::duration<double> measured = load.measured;
    return Achieved{static_cast<double>(replies) / measured.count(), percentile(latencies, 0.5),
                    percentile(latencies, 0.99)};
}

}  // namespace shortq::bench
