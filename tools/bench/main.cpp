// tools/bench/main.cpp: shortq-bench: a subcommand for each bench.
#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <string>

#include "tools/bench/dispatch.h"
#include "tools/bench/echo_roles.h"

namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

int print(const shortq::Result<std::vector<shortq::bench::Metric>>& metrics, bool json) {
    if (!metrics) {
        const shortq::Error& error = metrics.error();
        std::cerr << "shortq-bench: " << name_of(error.code) << ": " << error.message;
        if (!error.where.empty()) std::cerr << " (" << error.where << ')';
        std::cerr << '\n';
        return kExitFailed;
    }
    std::cout << (json ? as_json(*metrics) : as_table(*metrics));
    return 0;
}

int run_dispatch(bool quick, bool json) {
    using std::chrono::milliseconds;
    shortq::bench::DispatchOptions options;
    if (quick) options = {.rounds = 3, .warm_up = milliseconds(100), .measured = milliseconds(300)};
    return print(shortq::bench::run_dispatch({}, options), json);
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
    return run_dispatch(quick, json);
} catch (const std::exception& e) {
    std::cerr << "shortq-bench: " << e.what() << '\n';
    return kExitFailed;
}
