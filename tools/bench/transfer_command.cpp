// tools/bench/transfer_command.cpp: the options of `shortq-bench transfer`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "tools/bench/subcommands.h"
#include "tools/bench/transfer.h"

namespace shortq::bench {
namespace {

Result<Report> measure(TransferOptions options, const Setting& setting, Progress& progress) {
    constexpr std::uint64_t kRowsOfQuick = 3'000'000;
    if (setting.quick) {
        options.rows = std::min(options.rows, kRowsOfQuick);
        options.rounds.count = std::min(options.rounds.count, 3U);
    }
    auto cases = transfer_cases();
    std::erase_if(cases, [&](const TransferCase& one) {
        return std::ranges::none_of(one.figures(),
                                    [&](const auto& name) { return setting.wants(name); });
    });
    auto metrics = run_transfer(cases, options, progress);
    if (!metrics) return tl::unexpected(metrics.error());
    return Report{std::move(*metrics)};
}

}  // namespace

void add_transfer(Commands& commands) {
    auto options = std::make_shared<TransferOptions>();
    auto& command = commands.add(
        "transfer",
        "Large results, by the types of their columns, streamed: MB/s against as many bytes "
        "through zmq_proxy in messages of 1 MiB, rows/s against DuckDB fetching them in process",
        [options](const Setting& setting, Progress& progress) {
            return measure(*options, setting, progress);
        });
    command.add_option("--rows", options->rows, "Of five columns; less where rows are larger")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.add_option("--rounds", options->rounds.count, "How often each is measured")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
}

}  // namespace shortq::bench
