// shortq-worker: one engine in one process, started by the primary.

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <zmq.hpp>

#include "worker/board_mapping.h"
#include "worker/engine/log.h"
#include "worker/fork_server.h"
#include "worker/io_loop.h"
#include "worker/options.h"
#include "worker/process_setup.h"

namespace {

using namespace shortq;

constexpr int kExitFailed = 1;

int report(const Error& error) {
    spdlog::error("{}: {}", error.where, error.message);
    return kExitFailed;
}

// A library's static destructors must not be able to keep a worker from leaving, and to free what
// was loaded would only copy the pages that forked workers share. The sanitizers need the normal
// way out: they look for leaks there.
[[maybe_unused]] int leave(int status) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return status;
#else
    ::_exit(status);
#endif
}

Result<void> log_as(const std::string& name, const worker::Options& options) {
    return set_up_logging({.name = name, .level = options.log_level, .json = options.log_json});
}

int serve(const worker::Options& options, worker::BoardMapping& board,
          std::unique_ptr<engine::Engine> forked, std::uint64_t base_bytes) {
    const auto bound = worker::bind_to_primary(board.primary_pid());
    if (!bound) return report(bound.error());
    zmq::context_t context;
    worker::IoLoop loop(options, board, context, std::move(forked), base_bytes);
    const int status = loop.run();
    context.close();  // Delivers what was sent last.
    return leave(status);
}

// This process was forked a moment ago, and becomes a worker.
int serve(worker::Options options, worker::Birth birth) {
    options.seat = birth.order.seat;
    auto& engine = options.engine_options;
    engine.seat = birth.order.seat;
    engine.threads = options.worker_threads;
    engine.temp_directory = birth.order.temp_directory;
    engine.memory_limit_bytes =
        worker::memory_share(engine.memory_limit_bytes, birth.base_bytes, options.workers);
    if (auto logs = log_as("worker " + std::to_string(options.seat), options); !logs)
        return report(logs.error());
    auto board = worker::BoardMapping::open(std::move(birth.board));
    if (!board) return report(board.error());
    return serve(options, *board, std::move(birth.engine), birth.base_bytes);
}

int run_fork_server(const worker::Options& options, const worker::BoardMapping& board) {
    const auto bound = worker::bind_to_primary(board.primary_pid());
    if (!bound) return report(bound.error());
    auto outcome = worker::ForkServer(options, ForkChannel(UniqueFd(options.fork_server_fd)),
                                      board.primary_pid())
                       .run();
    if (const auto* status = std::get_if<int>(&outcome)) return *status;
    return serve(options, std::get<worker::Birth>(std::move(outcome)));
}

int start(const worker::Options& options) try {
    const bool is_server = options.fork_server_fd >= 0;
    const auto name = is_server ? "fork server" : "worker " + std::to_string(options.seat);
    if (auto logs = log_as(name, options); !logs) return report(logs.error());
    auto board = worker::BoardMapping::open(UniqueFd(options.board_fd));
    if (!board) return report(board.error());
    return is_server ? run_fork_server(options, *board) : serve(options, *board, nullptr, 0);
} catch (const std::exception& exception) {
    spdlog::error("{}", exception.what());
    return kExitFailed;
}

}  // namespace

int main(int argc, char** argv) {
    auto parsed = worker::parse_options(argc, argv);
    if (const auto* now = std::get_if<worker::ExitNow>(&parsed)) return now->status;
    return leave(start(std::get<worker::Options>(parsed)));
}
