// primary/main.cpp: shortq, the program: options, signals, exit status.
#include <spdlog/spdlog.h>

#include <csignal>
#include <exception>
#include <iostream>
#include <zmq.hpp>

#include "primary/curve_keys.h"
#include "primary/machine.h"
#include "primary/options.h"
#include "primary/primary.h"
#include "primary/signal_fd.h"
#include "worker/engine/engine.h"
#include "worker/engine/log.h"

namespace {

constexpr int kExitOk = 0;
constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

int complain(const shortq::Error& error, int status) {
    std::cerr << "shortq: " << shortq::primary::one_line(error) << '\n';
    return status;
}

int serve(const shortq::primary::Options& options) {
    // Before any thread exists: they inherit the mask. Workers set their own.
    // A write that fails says so; it does not end the process.
    for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
    shortq::primary::raise_descriptor_limit();
    shortq::primary::SignalFd signals({SIGINT, SIGTERM, SIGHUP, SIGCHLD});
    zmq::context_t context;
    shortq::primary::Primary primary(context, options, signals);
    return primary.run();
}

}  // namespace

int main(int argc, char** argv) try {
    const auto line = shortq::primary::parse_options(argc, argv);
    if (!line) return complain(line.error(), kExitUsage);
    if (!line->print.empty()) {
        std::cout << line->print;
        return kExitOk;
    }
    if (line->make_keys) {
        const auto made = shortq::primary::make_keys(*line->make_keys);
        if (!made) return complain(made.error(), kExitFailed);
        std::cout << *made;
        return kExitOk;
    }
    const auto& options = line->options;
    const auto logging = shortq::set_up_logging(
        {.name = "primary", .level = options.log_level, .json = options.log_format == "json"});
    if (!logging) return complain(logging.error(), kExitUsage);
    const auto kind = shortq::engine::classify_source(options.source);
    if (options.engine == "duckdb" && !kind) return complain(kind.error(), kExitFailed);
    return serve(options);
} catch (const std::exception& error) {
    std::cerr << "shortq: " << error.what() << '\n';
    return kExitFailed;
}
