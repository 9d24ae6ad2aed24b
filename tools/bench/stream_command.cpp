// tools/bench/stream_command.cpp: the options of `shortq-bench stream`.
#include <CLI/CLI.hpp>
#include <memory>

#include "tools/bench/stream.h"
#include "tools/bench/subcommands.h"

namespace shortq::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

void add_options(CLI::App& command, StreamOptions& options) {
    command.add_option("--rows", options.rows, "Of the result, which has five columns")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command
        .add_option_function<unsigned>(
            "--slow", [&](unsigned length) { options.slow = seconds(length); },
            "Seconds for which the reader takes a megabyte a second, before it reads on")
        ->default_str(std::to_string(options.slow.count()));
    command
        .add_option("--rounds", options.rounds,
                    "How often short queries alone and beside a slow reader, and full speeds, are "
                    "measured in turn")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command
        .add_option_function<unsigned>(
            "--round-ms", [&](unsigned length) { options.round = milliseconds(length); },
            "How long short queries are asked in each round")
        ->default_str(std::to_string(options.round.count()));
}

}  // namespace

void add_stream(Commands& commands) {
    auto options = std::make_shared<StreamOptions>();
    auto& command = commands.add(
        "stream",
        "A large result: the growth of each process's own memory (RssAnon) while its reader is "
        "slow, short queries of another client beside it, and its speed against the engine's own",
        [options](const Setting& setting, Progress& progress) -> Result<Report> {
            if (setting.quick) {
                options->slow = seconds(5);
                options->rounds = 3;
                options->round = milliseconds(700);
            }
            auto metrics = run_stream(*options, progress);
            if (!metrics) return tl::unexpected(metrics.error());
            return Report{std::move(*metrics)};
        });
    add_options(command, *options);
}

}  // namespace shortq::bench
