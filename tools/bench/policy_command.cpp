// tools/bench/policy_command.cpp: the options of `shortq-bench policy`.
#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "tools/bench/policy.h"
#include "tools/bench/subcommands.h"

namespace shortq::bench {
namespace {

void make_quick(PolicyOptions& options) {
    options.workers = {4};
    options.loads = {80};
    options.seeds = 1;
}

}  // namespace

void add_policy(Commands& commands) {
    auto options = std::make_shared<PolicyOptions>();
    auto& command = commands.add(
        "policy",
        "How long requests stay, from when they are due to their reply, with workers that sleep: "
        "by window and policy, mix of short and long requests, load and workers; against the same "
        "requests in an ideal queue, which costs nothing; about 15 minutes in all",
        [options](const Setting& setting, Progress& progress) -> Result<Report> {
            if (setting.quick) make_quick(*options);
            auto metrics = run_policy(*options, setting, progress);
            if (!metrics) return tl::unexpected(metrics.error());
            return Report{std::move(*metrics)};
        });
    command.add_option("--seeds", options->seeds, "Traces of each kind, one a round")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.add_option("--stretch", options->stretch, "Makes traces so many times longer")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command
        .add_option_function<unsigned>(
            "--model",
            [options](unsigned hop) { options->model_hop = std::chrono::microseconds(hop); },
            "Not real servers but the dispatcher in virtual time, where each message takes so many "
            "microseconds: the same figures on every machine, busy or not")
        ->type_name("MICROSECONDS");
    command.add_option("--loads", options->loads, "Percent of the workers' time")
        ->delimiter(',')
        ->check(CLI::Range(1U, 99U))
        ->capture_default_str();
}

}  // namespace shortq::bench
