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

// What one client got. Its time ends with a reply, so that there is one however slow things are.
struct Counted {
    std::uint64_t replies = 0;
    double seconds = 0;
    std::vector<double> latencies_us{};
};

// Takes note of a reply; whether that was the last one.
bool note(Counted& counted, Clock::time_point now, const Window& window) {
    if (now < window.begin) return false;
    ++counted.replies;
    counted.seconds = std::chrono::duration<double>(now - window.begin).count();
    return now >= window.end;
}

// One request after the other, each one timed.
Result<Counted> one_by_one(Requester& requester, const Window& window) {
    Counted counted;
    for (auto sent = Clock::now();;) {
        if (auto done = requester.exchange(); !done) return tl::unexpected(done.error());
        const auto now = Clock::now();
        const bool last = note(counted, now, window);
        if (counted.replies > 0) {
            counted.latencies_us.push_back(
                std::chrono::duration<double, std::micro>(now - sent).count());
        }
        if (last) return counted;
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
        if (note(counted, Clock::now(), window)) break;
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
    Achieved achieved;
    std::vector<double> latencies;
    for (const auto& counted : run_all(requesters, load)) {
        if (!counted) return tl::unexpected(counted.error());
        achieved.per_second += static_cast<double>(counted->replies) / counted->seconds;
        latencies.insert(latencies.end(), counted->latencies_us.begin(),
                         counted->latencies_us.end());
    }
    std::ranges::sort(latencies);
    achieved.p50_us = percentile(latencies, 0.5);
    achieved.p99_us = percentile(latencies, 0.99);
    return achieved;
}

}  // namespace shortq::bench
