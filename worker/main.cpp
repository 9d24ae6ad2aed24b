// shortq-worker: one engine in one process, started by the primary.

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <exception>
#include <string>
#include <variant>
#include <zmq.hpp>

#include "worker/board_mapping.h"
#include "worker/engine/log.h"
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

int serve(const worker::Options& options) try {
    auto logging = set_up_logging({.name = "worker " + std::to_string(options.seat),
                                   .level = options.log_level,
                                   .json = options.log_json});
    if (!logging) return report(logging.error());
    auto board = worker::BoardMapping::open(UniqueFd(options.board_fd));
    if (!board) return report(board.error());
    auto bound = worker::bind_to_primary(board->primary_pid());
    if (!bound) return report(bound.error());
    zmq::context_t context;
    return worker::IoLoop(options, *board, context).run();
} catch (const std::exception& exception) {
    spdlog::error("{}", exception.what());
    return kExitFailed;
}

// A library's static destructors must not be able to keep a worker from leaving. The sanitizers
// need the normal way out: they look for leaks there.
[[maybe_unused]] int leave(int status) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return status;
#else
    ::_exit(status);
#endif
}

}  // namespace

int main(int argc, char** argv) {
    auto parsed = worker::parse_options(argc, argv);
    if (const auto* now = std::get_if<worker::ExitNow>(&parsed)) return now->status;
    return leave(serve(std::get<worker::Options>(parsed)));
}
