// tools/bench/core_bench.cpp: Google Benchmark times each load.
#include "tools/bench/core_bench.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>

#include "tools/bench/allocations.h"
#include "tools/bench/rounds.h"
#include "tools/bench/subcommands.h"

namespace shortq::bench {
namespace {

constexpr CoreLoadOptions kBaseline{.workers = 16, .queued = 0};
constexpr int kWarmUp = 20'000;  // Requests, until predictions and tables are what they will be.
constexpr const char* kAllocations = "allocations";

// Of one request.
struct Cost {
    double ns = 0;
    double allocations = 0;
};

// Keeps what a run gave instead of printing it.
class LastCost final : public benchmark::BenchmarkReporter {
public:
    bool ReportContext(const Context& /*context*/) override { return true; }
    void ReportRuns(const std::vector<Run>& runs) override {
        for (const auto& run : runs) {
            failure_ = run.error_occurred ? run.error_message : "";
            // The time of this thread: another process on the same processor does not count.
            cost_ = {.ns = run.GetAdjustedCPUTime()};
            const auto found = run.counters.find(kAllocations);
            if (found != run.counters.end()) cost_.allocations = found->second;
        }
    }
    [[nodiscard]] Result<Cost> cost() const {
        if (!failure_.empty()) return fail(ErrorCode::kInternal, failure_);
        return cost_;
    }

private:
    Cost cost_;
    std::string failure_ = "the benchmark did not run";
};

void register_load(const CoreLoadOptions& options, std::uint32_t requests) {
    benchmark::RegisterBenchmark(name_of(options).c_str(), [options](benchmark::State& state) {
        CoreLoad load(options);
        for (int i = 0; i < kWarmUp; ++i) load.step();
        const auto before = allocations();
        for (auto _ : state) load.step();
        state.counters[kAllocations] = benchmark::Counter(
            static_cast<double>(allocations() - before), benchmark::Counter::kAvgIterations);
    })->Iterations(requests);
}

Result<Cost> run_load(const CoreLoadOptions& options) {
    LastCost last;
    benchmark::RunSpecifiedBenchmarks(&last, "^" + name_of(options) + "/");
    return last.cost();
}

bool wanted(const Setting& setting, const CoreLoadOptions& load) {
    const auto name = name_of(load);
    return setting.wants(name + ".ns") || setting.wants(name + ".allocations");
}

// The baseline is the first.
std::vector<CoreLoadOptions> loads_of(const CoreBenchOptions& options, const Setting& setting,
                                      std::uint32_t window) {
    auto baseline = kBaseline;
    baseline.window = window;
    std::vector<CoreLoadOptions> loads{baseline};
    bool any = wanted(setting, baseline);
    for (const auto workers : options.workers) {
        for (const auto queued : options.queued) {
            const CoreLoadOptions load{.workers = workers, .queued = queued, .window = window};
            if (load == baseline || !wanted(setting, load)) continue;
            loads.push_back(load);
            any = true;
        }
    }
    if (!any) loads.clear();
    return loads;
}

void add_metrics(const std::vector<CoreLoadOptions>& loads,
                 const std::vector<std::vector<Cost>>& costs, std::vector<Metric>& metrics) {
    for (std::size_t i = 0; i < loads.size(); ++i) {
        Metric time{name_of(loads[i]) + ".ns", "ns", {}, name_of(loads[0])};
        Metric memory{name_of(loads[i]) + ".allocations", "allocations", {}, time.against};
        for (std::size_t round = 0; round < costs[i].size(); ++round) {
            time.samples.push_back(costs[i][round].ns);
            time.baseline_samples.push_back(costs[0][round].ns);
            memory.samples.push_back(costs[i][round].allocations);
            memory.baseline_samples.push_back(costs[0][round].allocations);
        }
        metrics.push_back(std::move(time));
        metrics.push_back(std::move(memory));
    }
}

}  // namespace

std::string name_of(const CoreLoadOptions& load) {
    auto name = fmt::format("core.w{}.q{}", load.workers, load.queued);
    if (load.window != core::kWindowAuto) name += fmt::format(".window{}", load.window);
    return name;
}

Result<std::vector<Metric>> run_core_bench(const CoreBenchOptions& options, const Setting& setting,
                                           Progress& progress) {
    constexpr std::array<std::uint32_t, 2> kWindows{core::kWindowAuto, 1};
    std::array<std::vector<CoreLoadOptions>, kWindows.size()> loads;
    std::size_t steps = 0;
    for (std::size_t i = 0; i < kWindows.size(); ++i) {
        loads[i] = loads_of(options, setting, kWindows[i]);
        steps += loads[i].size() * options.rounds;
    }
    progress.expect(steps);
    std::vector<Metric> metrics;
    for (const auto& some : loads) {
        std::vector<std::function<Result<Cost>()>> sides;
        for (const auto& load : some) {
            register_load(load, options.requests);
            sides.emplace_back([load, &progress] {
                progress.step(name_of(load));
                return run_load(load);
            });
        }
        const auto costs = interleave<Cost>({.count = options.rounds}, sides);
        if (!costs) return tl::unexpected(costs.error());
        add_metrics(some, *costs, metrics);
    }
    return metrics;
}

void add_core(Commands& commands) {
    auto options = std::make_shared<CoreBenchOptions>();
    auto& command = commands.add(
        "core",
        "Time and allocations of a request (its arrival, its assignment, its reply) in the "
        "dispatcher alone, by workers and queued requests, against 16 workers and nothing queued",
        [options](const Setting& setting, Progress& progress) -> Result<Report> {
            if (setting.quick) options->rounds = 2;
            auto metrics = run_core_bench(*options, setting, progress);
            if (!metrics) return tl::unexpected(metrics.error());
            return Report{std::move(*metrics)};
        });
    command.add_option("--rounds", options->rounds, "How often each load is measured")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command
        .add_option("--requests", options->requests,
                    "That are measured, of each load in each round")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
}

}  // namespace shortq::bench
