// tools/sim/main.cpp: shortq-sim: runs seeds of the simulator and reports broken promises.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>

#include "tools/sim/simulation.h"

namespace {

volatile std::sig_atomic_t seed_under_way = 0;

// The core's own checks abort; tell which seed it was.
extern "C" void on_abort(int) { std::fprintf(stderr, "seed %ld aborted\n", long{seed_under_way}); }

struct Arguments {
    std::string seeds = "1..100";
    std::optional<std::uint64_t> seed;
    bool trace = false;
    bool replay = false;
};

// "A..B", both included.
std::optional<std::pair<std::uint64_t, std::uint64_t>> range_of(const Arguments& arguments) {
    if (arguments.seed) return std::pair{*arguments.seed, *arguments.seed};
    unsigned long long first = 0;
    unsigned long long last = 0;
    if (std::sscanf(arguments.seeds.c_str(), "%llu..%llu", &first, &last) != 2 || first > last) {
        return std::nullopt;
    }
    return std::pair<std::uint64_t, std::uint64_t>{first, last};
}

std::uint64_t report(std::uint64_t seed, const shortq::sim::Outcome& outcome) {
    if (outcome.violations.empty()) return 0;
    for (const auto& line : outcome.last) fmt::print("  {}\n", line);
    for (const auto& violation : outcome.violations) {
        fmt::print("seed {}: VIOLATION: {}\n", seed, violation);
    }
    fmt::print("again: shortq-sim --seed {} --trace\n", seed);
    return outcome.violations.size();
}

int run(const Arguments& arguments) {
    const auto range = range_of(arguments);
    if (!range) {
        fmt::print(stderr, "shortq-sim: --seeds wants A..B, such as 1..1000\n");
        return 2;
    }
    std::uint64_t steps = 0;
    std::uint64_t violations = 0;
    std::uint64_t hash = 0;
    for (auto seed = range->first; seed <= range->second; ++seed) {
        seed_under_way = static_cast<std::sig_atomic_t>(seed);
        const auto outcome = shortq::sim::simulate(seed, arguments.trace);
        violations += report(seed, outcome);
        if (arguments.replay && shortq::sim::simulate(seed).hash != outcome.hash) {
            fmt::print("seed {}: VIOLATION: a second run differs\n", seed);
            ++violations;
        }
        steps += outcome.steps;
        hash = hash * 31 + outcome.hash;
    }
    fmt::print("sim: seeds={} events={} violations={} hash={:016x}\n",
               range->second - range->first + 1, steps, violations, hash);
    return violations == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Runs the dispatcher core against simulated clients, workers and faults."};
    Arguments arguments;
    app.add_option("--seeds", arguments.seeds, "Seeds A..B, both included")->capture_default_str();
    app.add_option("--seed", arguments.seed, "One seed");
    app.add_flag("--trace", arguments.trace, "Print every event and action");
    app.add_flag("--replay", arguments.replay, "Run each seed twice and compare the hashes");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    std::signal(SIGABRT, on_abort);
    return run(arguments);
}
