// tools/bench/dispatch_command.cpp: the options of `shortq-bench dispatch`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>

#include "tools/bench/dispatch.h"
#include "tools/bench/echo_roles.h"
#include "tools/bench/subcommands.h"

namespace shortq::bench {
namespace {

using std::chrono::milliseconds;

struct Given {
    DispatchOptions options;
    bool all = false;
};

Result<Report> measure(Given given, const Setting& setting, Progress& progress) {
    if (setting.quick) {
        given.options.rounds.count = std::min(given.options.rounds.count, 3U);
        given.options.measured = std::min(given.options.measured, milliseconds(250));
    }
    auto cells = setting.quick ? few_dispatch_cells() : usual_dispatch_cells();
    // Who names a figure gets it, usual or not.
    if (given.all || !setting.only.empty()) cells = all_dispatch_cells();
    std::erase_if(cells, [&](const DispatchCell& cell) {
        return std::ranges::none_of(cell.figures(),
                                    [&](const auto& name) { return setting.wants(name); });
    });
    auto metrics = run_dispatch(cells, given.options, progress);
    if (!metrics) return tl::unexpected(metrics.error());
    return Report{std::move(*metrics)};
}

// The roles that this program starts itself in.
void add_roles(Commands& commands) {
    struct Endpoints {
        std::string first;
        std::string second;
    };
    auto given = std::make_shared<Endpoints>();
    auto& proxy =
        commands.add_role("echo-proxy", [given] { return run_proxy(given->first, given->second); });
    proxy.add_option("CLIENTS", given->first)->required();
    proxy.add_option("WORKERS", given->second)->required();
    commands.add_role("echo-worker", [given] { return run_echo_worker(given->first); })
        .add_option("ENDPOINT", given->first)
        ->required();
    commands.add_role("byte-source", [given] { return run_byte_source(given->first); })
        .add_option("ENDPOINT", given->first)
        ->required();
    commands.add_role("echo-server", [given] { return run_echo_server(given->first); })
        .add_option("ENDPOINT", given->first)
        ->required();
}

}  // namespace

void add_dispatch(Commands& commands) {
    auto given = std::make_shared<Given>();
    auto& command = commands.add(
        "dispatch",
        "Requests that are echoed, through shortq with libshortq and with the bare protocol "
        "(.raw), through zmq_proxy, and by workers to which clients are connected (.to_direct); "
        "CLIENTSxDEPTH says how many clients have how many requests under way each",
        [given](const Setting& setting, Progress& progress) {
            return measure(*given, setting, progress);
        });
    command.add_flag("--all", given->all, "Every combination: half an hour");
    command.add_option("--window", given->options.window, "The primary's; its default without");
    command.add_option("--rounds", given->options.rounds.count, "How often each is measured")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command
        .add_option_function<unsigned>(
            "--round-ms",
            [given](unsigned length) { given->options.measured = milliseconds(length); },
            "How long each is measured in each round")
        ->check(CLI::PositiveNumber)
        ->default_str(std::to_string(given->options.measured.count()));
    add_roles(commands);
}

}  // namespace shortq::bench
