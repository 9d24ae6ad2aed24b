// tools/sim/mutants/main.cpp: shortq-sim-mutants: the simulator against a core with deliberate
// faults, one after the other. `shortq-sim --mutants` runs it.
#include <fmt/format.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>

#include "tools/sim/mutants/fault.h"
#include "tools/sim/seeds.h"

namespace {

using namespace shortq;

// Exit codes of a child that runs one mutant; a crash is its signal.
constexpr int kKilled = 0;
constexpr int kSurvived = 1;
constexpr time_t kSecondsMax = 600;  // Of its processors' time: it must have hung.

struct Arguments {
    std::uint64_t seeds = 10'000;
    std::string only;
    unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
};

void limit_time() {
    const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = kSecondsMax, .tv_usec = 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);
}

int hunt(const std::string& name, int number, const Arguments& arguments) {
    limit_time();
    sim::fault_on = number;
    sim::Campaign campaign{.range = {.first = 1, .last = arguments.seeds},
                           // Only the checkers count, not the core's own recount.
                           .manner = {.own_checks = false},
                           .threads = arguments.jobs};
    const auto tally = sim::run(campaign);
    if (!tally.broken) {
        fmt::print("survived  {}: not found in {} seeds\n", name, tally.seeds);
        return kSurvived;
    }
    const auto again = sim::simulate(*tally.broken, {.own_checks = false});
    fmt::print("killed    {}: seed {}: {}\n", name, *tally.broken,
               again.violations.empty() ? "" : again.violations.front());
    return kKilled;
}

// In a process of its own: a mutant may crash or hang, which is a way to be found as well.
bool is_killed(const std::string& name, int number, const Arguments& arguments) {
    std::fflush(stdout);
    const auto child = fork();
    if (child == -1) {
        std::perror("shortq-sim-mutants: fork");
        return false;
    }
    if (child == 0) {
        const int code = hunt(name, number, arguments);
        std::fflush(stdout);
        _exit(code);
    }
    int status = 0;
    while (waitpid(child, &status, 0) == -1 && errno == EINTR) {
    }
    if (WIFEXITED(status)) return WEXITSTATUS(status) == kKilled;
    const bool hung = WTERMSIG(status) == SIGPROF;
    fmt::print("killed    {}: {}\n", name, hung ? "hung" : strsignal(WTERMSIG(status)));
    return WTERMSIG(status) != SIGINT && WTERMSIG(status) != SIGTERM;
}

int run(const Arguments& arguments) {
    const auto names = sim::mutant_names();
    int killed = 0;
    int of = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (!arguments.only.empty() && arguments.only != names[i]) continue;
        ++of;
        killed += is_killed(names[i], static_cast<int>(i) + 1, arguments) ? 1 : 0;
    }
    if (of == 0) {
        fmt::print(stderr, "shortq-sim: there is no mutant {}; they are: {}\n", arguments.only,
                   fmt::join(names, " "));
        return 2;
    }
    fmt::print("mutants: killed={} of={}\n", killed, of);
    return killed == of ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Runs the simulator against a dispatcher core with deliberate faults."};
    Arguments arguments;
    app.add_option("--seeds", arguments.seeds, "How many seeds each fault has to be found in")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    app.add_option("--only", arguments.only, "One fault, by name");
    app.add_option("--jobs", arguments.jobs, "Threads")->capture_default_str();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    return run(arguments);
}
