// tools/bench/query_command.cpp: the options of `shortq-bench query`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>

#include "tools/bench/query.h"
#include "tools/bench/subcommands.h"

namespace shortq::bench {
namespace {

using std::chrono::milliseconds;

Result<Report> measure(QueryBenchOptions options, const Setting& setting, Progress& progress) {
    constexpr std::uint64_t kTradesOfQuick = 20'000;
    if (setting.quick) {
        options.trades = std::min(options.trades, kTradesOfQuick);
        options.rounds.count = std::min(options.rounds.count, 3U);
        options.measured = std::min(options.measured, milliseconds(150));
    }
    auto metrics = run_query([&](const std::string& figure) { return setting.wants(figure); },
                             options, progress);
    if (!metrics) return tl::unexpected(metrics.error());
    return Report{std::move(*metrics)};
}

}  // namespace

void add_query(Commands& commands) {
    auto options = std::make_shared<QueryBenchOptions>();
    auto& command = commands.add(
        "query",
        "Analytic queries on invented ticks, by clients (c) of servers with workers (w), against "
        "one DuckDB that runs them one by one in process; each of them alone (.single); and "
        "`select 1` against an echo and the engine together",
        [options](const Setting& setting, Progress& progress) {
            return measure(*options, setting, progress);
        });
    command.add_option("--days", options->days, "Of ticks")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.add_option("--trades", options->trades, "A day, with five quotes each")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.add_option("--rounds", options->rounds.count, "How often each is measured")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command
        .add_option_function<unsigned>(
            "--round-ms", [options](unsigned length) { options->measured = milliseconds(length); },
            "How long each side of single queries is measured in each round")
        ->check(CLI::PositiveNumber)
        ->default_str(std::to_string(options->measured.count()));
}

}  // namespace shortq::bench
