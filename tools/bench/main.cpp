// tools/bench/main.cpp: shortq-bench: a subcommand for each bench.
#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <string>

#include "tools/bench/dispatch.h"
#include "tools/bench/echo_roles.h"
#include "tools/bench/memory.h"
#include "tools/bench/stream.h"

namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

int failed(const shortq::Error& error) {
    std::cerr << "shortq-bench: " << name_of(error.code) << ": " << error.message;
    if (!error.where.empty()) std::cerr << " (" << error.where << ')';
    std::cerr << '\n';
    return kExitFailed;
}

int run_dispatch(bool quick, bool json) {
    using std::chrono::milliseconds;
    shortq::bench::DispatchOptions options;
    if (quick) options = {.rounds = 3, .warm_up = milliseconds(100), .measured = milliseconds(300)};
    const auto metrics = shortq::bench::run_dispatch({}, options);
    if (!metrics) return failed(metrics.error());
    std::cout << (json ? as_json(*metrics) : as_table(*metrics));
    return 0;
}

int run_memory(const shortq::bench::MemoryOptions& options, bool json) {
    const auto rows = shortq::bench::run_memory(options);
    if (!rows) return failed(rows.error());
    std::cout << (json ? as_json(as_metrics(*rows)) : as_table(*rows));
    return 0;
}

int run_stream(const shortq::bench::StreamOptions& options, bool json) {
    const auto metrics = shortq::bench::run_stream(options);
    if (!metrics) return failed(metrics.error());
    std::cout << (json ? as_json(*metrics) : as_table(*metrics));
    return 0;
}

void add_options(CLI::App& command, shortq::bench::MemoryOptions& options) {
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
}

void add_options(CLI::App& command, shortq::bench::StreamOptions& options) {
    command.add_option("--rows", options.rows, "Of the result, which has five columns")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command
        .add_option_function<unsigned>(
            "--slow", [&](unsigned seconds) { options.slow = std::chrono::seconds(seconds); },
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
            "--round-ms",
            [&](unsigned length) { options.round = std::chrono::milliseconds(length); },
            "How long short queries are asked in each round")
        ->default_str(std::to_string(options.round.count()));
}

}  // namespace

int main(int argc, char** argv) try {
    CLI::App app("Measures shortq on this machine.");
    app.require_subcommand(1);
    bool quick = false;
    bool json = false;
    auto* dispatch = app.add_subcommand(
        "dispatch", "Tiny requests through shortq and through zmq_proxy, in the same run");
    dispatch->add_flag("--quick", quick, "A few seconds in all; rougher figures");
    dispatch->add_flag("--json", json, "Figures with all samples, for programs");
    shortq::bench::MemoryOptions memory_options;
    auto* memory = app.add_subcommand(
        "memory",
        "Time until all workers are ready, their memory (Pss of all processes, after each worker "
        "has scanned the data), and the time from kill -9 to an answer of the worker that follows; "
        "for a table of 20 million rows in memory and in a file, a few minutes in all");
    add_options(*memory, memory_options);
    memory->add_flag("--json", json, "Figures with all samples, for programs");
    shortq::bench::StreamOptions stream_options;
    auto* stream = app.add_subcommand(
        "stream",
        "A large result: the growth of each process's own memory (RssAnon) while its reader is "
        "slow, short queries of another client beside it, and its speed against the engine's own");
    add_options(*stream, stream_options);
    stream->add_flag("--json", json, "Figures with all samples, for programs");
    // The roles that this program starts itself in; group "" hides them from --help.
    std::string endpoint;
    auto* proxy = app.add_subcommand("echo-proxy")->group("");
    proxy->add_option("ENDPOINT", endpoint)->required();
    auto* worker = app.add_subcommand("echo-worker")->group("");
    worker->add_option("ENDPOINT", endpoint)->required();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : kExitUsage;
    }
    if (*proxy) return shortq::bench::run_proxy(endpoint);
    if (*worker) return shortq::bench::run_echo_worker(endpoint);
    if (*memory) return run_memory(memory_options, json);
    if (*stream) return run_stream(stream_options, json);
    return run_dispatch(quick, json);
} catch (const std::exception& e) {
    std::cerr << "shortq-bench: " << e.what() << '\n';
    return kExitFailed;
}
