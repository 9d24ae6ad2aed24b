#include "worker/options.h"

#include <CLI/CLI.hpp>
#include <limits>
#include <map>

namespace shortq::worker {
namespace {

constexpr int kExitUsage = 2;

void describe(CLI::App& app, Options& options, bool& writable, std::string& log_format) {
    auto& engine = options.engine_options;
    app.add_option("--connect", options.endpoint, "the primary's endpoint")->required();
    app.add_option("--board-fd", options.board_fd, "inherited descriptor of the board")
        ->required()
        ->check(CLI::NonNegativeNumber);
    app.add_option("--fork-server", options.fork_server_fd,
                   "be a fork server: inherited descriptor of its channel");
    app.add_option("--workers", options.workers, "how many share the memory (fork server)")
        ->check(CLI::PositiveNumber);
    app.add_option("--worker-threads", options.worker_threads,
                   "engine threads of each forked worker (fork server)")
        ->check(CLI::PositiveNumber);
    app.add_option("--warm", options.warm, "auto, off or all: what is read before forking")
        ->transform(CLI::CheckedTransformer(
            std::map<std::string, engine::Warm>{{"auto", engine::Warm::kAuto},
                                                {"off", engine::Warm::kOff},
                                                {"all", engine::Warm::kAll}}));
    app.add_option("--temp-limit", engine.temp_bytes_max,
                   "bytes of the spill folder; 0: the engine's default");
    app.add_option("--engine", options.engine, "duckdb or test")->capture_default_str();
    app.add_option("--source", options.source, "what to load");
    app.add_option("--seat", options.seat, "number of the seat, counted from 1")
        ->check(CLI::PositiveNumber);
    app.add_option("--generation", options.generation, "number of the data set")
        ->check(CLI::PositiveNumber);
    app.add_option("--threads", engine.threads, "engine threads")->check(CLI::PositiveNumber);
    app.add_option("--memory-limit", engine.memory_limit_bytes, "bytes; 0: the engine's default");
    app.add_option("--loads", engine.loads, "how many workers load for themselves, as this one")
        ->check(CLI::PositiveNumber);
    app.add_option("--temp-directory", engine.temp_directory, "spill folder of this worker alone");
    app.add_option("--measure-directory", engine.measure_directory,
                   "where a load without room is tried again, to tell what it needs (fork server)");
    app.add_option("--allow-path", engine.allowed_paths, "folder that queries may read")
        ->allow_extra_args(false);
    app.add_flag("--writable", writable, "accept statements that change this worker's memory");
    app.add_option("--log-level", options.log_level, "trace, debug, info, warn, error or off");
    app.add_option("--log-format", log_format, "text or json")
        ->check(CLI::IsMember({"text", "json"}));
}

}  // namespace

std::variant<Options, ExitNow> parse_options(int argc, char** argv) {
    CLI::App app("shortq-worker: evaluates queries for a shortq primary, which starts it");
    Options options;
    bool writable = false;
    std::string log_format = "text";
    describe(app, options, writable, log_format);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return ExitNow{app.exit(error) == 0 ? 0 : kExitUsage};
    }
    options.engine_options.seat = options.seat;
    options.log_json = log_format == "json";
    options.engine_options.access =
        writable ? engine::Access::kWritable : engine::Access::kReadOnly;
    return options;
}

}  // namespace shortq::worker
