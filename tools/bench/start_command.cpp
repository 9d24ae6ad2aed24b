// tools/bench/start_command.cpp: the options of `shortq-bench start`.
#include <CLI/CLI.hpp>
#include <memory>

#include "tools/bench/start.h"
#include "tools/bench/subcommands.h"

namespace shortq::bench {
namespace {

void add_options(CLI::App& command, StartOptions& options) {
    constexpr unsigned kWorkersMax = 1024;
    command.add_option("--rows", options.rows, "Of the generated table of four columns")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    auto* source = command.add_option(
        "--source", options.source,
        "A startup script, database file or folder, instead of the generated table");
    auto* scan =
        command.add_option("--scan", options.scan, "A query that reads all of the source's data");
    source->needs(scan);
    scan->needs(source);
    command.add_option("--workers", options.workers, "How many; the first is compared with")
        ->delimiter(',')
        ->check(CLI::Range(1U, kWorkersMax))
        ->capture_default_str();
    command.add_option("--spawn", options.spawns, "fork, exec or both")
        ->delimiter(',')
        ->check(CLI::IsMember({"fork", "exec"}))
        ->capture_default_str();
    command
        .add_option("--starts", options.starts,
                    "How often each server is started; the median time counts")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command
        .add_option("--kills", options.kills,
                    "How often each worker is killed, ten seconds apart, since one that dies "
                    "young is replaced after a pause")
        ->capture_default_str();
    command
        .add_option("--reloads", options.reloads, "Of each server, while short queries are asked")
        ->capture_default_str();
}

}  // namespace

void add_start(Commands& commands) {
    auto options = std::make_shared<StartOptions>();
    auto& command = commands.add(
        "start",
        "Time until all workers are ready, their memory (Pss of all processes, after each worker "
        "has scanned the data), the time from kill -9 to an answer of the worker that follows, and "
        "the time of a reload and what it takes from short queries; for a table of 20 million rows "
        "in memory and in a file, a few minutes in all",
        [options](const Setting& setting, Progress& progress) -> Result<Report> {
            if (setting.quick) make_quick(*options);
            const auto rows = run_start(*options, progress);
            if (!rows) return tl::unexpected(rows.error());
            return Report{as_metrics(*rows), as_table(*rows)};
        });
    add_options(command, *options);
}

}  // namespace shortq::bench
