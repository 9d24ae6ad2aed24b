// tools/sim/seeds.cpp: threads that take seeds in turn.
#include "tools/sim/seeds.h"

#include <atomic>
#include <charconv>
#include <chrono>
#include <mutex>
#include <thread>

namespace shortq::sim {

namespace {

constexpr std::chrono::milliseconds kProgressEvery{500};

thread_local std::uint64_t current_seed = 0;

std::optional<std::uint64_t> number_of(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
    if (error != std::errc{} || end != text.end()) return std::nullopt;
    return number;
}

class Runs {
public:
    explicit Runs(const Campaign& campaign) : campaign_(campaign), next_(campaign.range.first) {}

    void work() {
        while (!stop_) {
            const auto seed = next_++;
            if (seed > campaign_.range.last || seed < campaign_.range.first) return;
            current_seed = seed;
            const auto outcome = simulate(seed, campaign_.manner);
            bool broken = !outcome.violations.empty();
            if (campaign_.twice) {
                broken = broken || simulate(seed, campaign_.manner).hash != outcome.hash;
            }
            count(seed, outcome, broken);
        }
    }
    [[nodiscard]] const Tally& tally() const { return tally_; }

private:
    void count(std::uint64_t seed, const Outcome& outcome, bool broken) {
        const std::lock_guard lock(mutex_);
        ++tally_.seeds;
        tally_.events += outcome.steps;
        tally_.hash += outcome.hash * (2 * seed + 1);
        if (broken) {
            stop_ = true;
            if (!tally_.broken || seed < *tally_.broken) tally_.broken = seed;
        }
        const auto now = std::chrono::steady_clock::now();
        if (!campaign_.progress || now - told_ < kProgressEvery) return;
        told_ = now;
        if (!campaign_.progress(tally_)) stop_ = true;
    }

    const Campaign& campaign_;
    std::atomic<std::uint64_t> next_;
    std::atomic<bool> stop_{false};
    std::mutex mutex_;
    Tally tally_;
    std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
};

}  // namespace

std::optional<Range> range_of(const std::string& text) {
    const auto dots = text.find("..");
    const auto first = number_of(std::string_view(text).substr(0, dots));
    const auto last =
        dots == std::string::npos ? first : number_of(std::string_view(text).substr(dots + 2));
    if (!first || !last || *first > *last) return std::nullopt;
    return Range{.first = *first, .last = *last};
}

std::uint64_t seed_under_way() noexcept { return current_seed; }

Tally run(const Campaign& campaign) {
    Runs runs(campaign);
    {
        std::vector<std::jthread> threads;
        for (unsigned i = 1; i < campaign.threads; ++i) {
            threads.emplace_back([&runs] { runs.work(); });
        }
        runs.work();
    }
    return runs.tally();
}

}  // namespace shortq::sim
