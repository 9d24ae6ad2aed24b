// tools/sim/main.cpp: shortq-sim: runs seeds of the simulator and reports broken promises.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

#include "tools/sim/seeds.h"

namespace {

using namespace shortq;

volatile std::sig_atomic_t interrupted = 0;
extern "C" void on_interrupt(int) {
    interrupted = 1;
    std::signal(SIGINT, SIG_DFL);  // The second one ends it at once.
}

// The core's own checks abort, in the thread that runs the seed.
extern "C" void on_abort(int) {
    std::fprintf(stderr, "again: shortq-sim --seed %llu --trace\n",
                 static_cast<unsigned long long>(sim::seed_under_way()));
}

struct Arguments {
    std::string seeds = "1..1000";
    std::uint64_t seed = 0;
    bool trace = false;
    bool twice = false;
    bool mutants = false;
    unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
};

// In place on a terminal, else a line now and then.
class Progress {
public:
    explicit Progress(std::uint64_t seeds) : seeds_(seeds) {}
    bool operator()(const sim::Tally& tally) {
        const auto now = std::chrono::steady_clock::now();
        if (terminal_ || now - told_ >= std::chrono::seconds(10)) {
            told_ = now;
            const auto seconds = std::chrono::duration<double>(now - began_).count();
            fmt::print(stderr, "{}seed {} of {}, {:.1f} million events, {:.0f} seeds/s{}",
                       terminal_ ? "\r" : "", tally.seeds, seeds_,
                       static_cast<double>(tally.events) / 1e6,
                       static_cast<double>(tally.seeds) / seconds, terminal_ ? "\x1b[K" : "\n");
        }
        return interrupted == 0;
    }
    void end() const {
        if (terminal_) fmt::print(stderr, "\r\x1b[K");
    }

private:
    std::uint64_t seeds_;
    bool terminal_ = isatty(STDERR_FILENO) == 1;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point told_ = began_;
};

// The run again, this time with its last events kept for a person to read.
std::size_t report(std::uint64_t seed, bool twice) {
    const auto outcome = sim::simulate(seed, {.keep_last = true});
    for (const auto& line : outcome.last) fmt::print("  {}\n", line);
    for (const auto& violation : outcome.violations) {
        fmt::print("seed {}: VIOLATION: {}\n", seed, violation);
    }
    auto violations = outcome.violations.size();
    if (violations == 0 && twice) {
        fmt::print("seed {}: VIOLATION: a second run differs\n", seed);
        violations = 1;
    }
    fmt::print("again: shortq-sim --seed {} --trace\n", seed);
    return violations;
}

int run(const Arguments& arguments) {
    const auto range = sim::range_of(arguments.seeds);
    if (!range) {
        fmt::print(stderr, "shortq-sim: --seeds wants A..B, such as 1..1000, not '{}'\n",
                   arguments.seeds);
        return 2;
    }
    std::signal(SIGABRT, on_abort);
    std::signal(SIGINT, on_interrupt);
    Progress progress(range->count());
    const auto tally =
        sim::run({.range = *range,
                  .manner = {},
                  .twice = arguments.twice,
                  .threads = arguments.jobs,
                  .progress = [&progress](const sim::Tally& so_far) { return progress(so_far); }});
    progress.end();
    const auto violations = tally.broken ? report(*tally.broken, arguments.twice) : 0;
    fmt::print("sim: seeds={} events={} violations={} hash={:016x}\n", tally.seeds, tally.events,
               violations, tally.hash);
    if (violations > 0) return 1;
    return tally.seeds == range->count() ? 0 : 1;
}

// One seed, told as it runs.
int trace(std::uint64_t seed) {
    std::signal(SIGABRT, on_abort);
    const auto outcome = sim::simulate(seed, {.trace = true});
    for (const auto& violation : outcome.violations) {
        fmt::print("seed {}: VIOLATION: {}\n", seed, violation);
    }
    fmt::print("sim: seeds=1 events={} violations={} hash={:016x}\n", outcome.steps,
               outcome.violations.size(), outcome.hash);
    return outcome.violations.empty() ? 0 : 1;
}

// Against the other core, which is another program.
int run_mutants(const Arguments& arguments) {
    const auto program =
        std::filesystem::read_symlink("/proc/self/exe").replace_filename("shortq-sim-mutants");
    const auto jobs = std::to_string(arguments.jobs);
    execl(program.c_str(), program.c_str(), "--jobs", jobs.c_str(), nullptr);
    fmt::print(stderr, "shortq-sim: cannot run {}: {}\n", program.string(), std::strerror(errno));
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Runs the dispatcher core against simulated clients, workers and faults."};
    Arguments arguments;
    auto* const seeds = app.add_option("--seeds", arguments.seeds, "Seeds A..B, both included")
                            ->capture_default_str();
    auto* const seed = app.add_option("--seed", arguments.seed, "One seed")->excludes(seeds);
    app.add_flag("--trace", arguments.trace, "Print every event and action of the seed")
        ->needs(seed);
    app.add_flag("--twice", arguments.twice, "Run each seed twice and compare the hashes");
    app.add_flag("--mutants", arguments.mutants,
                 "Put deliberate faults into the core and see that each is found");
    app.add_option("--jobs", arguments.jobs, "Threads")->capture_default_str();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    if (arguments.mutants) return run_mutants(arguments);
    if (arguments.trace) return trace(arguments.seed);
    if (seed->count() > 0) arguments.seeds = std::to_string(arguments.seed);
    return run(arguments);
}
