// tools/bench/main.cpp: shortq-bench: a subcommand for each bench.
#include <CLI/CLI.hpp>
#include <iostream>

#include "tools/bench/subcommands.h"

int main(int argc, char** argv) try {
    constexpr int kExitUsage = 2;
    CLI::App app(
        "Measures shortq on this machine, each figure against a baseline of the same run.");
    shortq::bench::Commands commands(app);
    shortq::bench::add_core(commands);
    shortq::bench::add_dispatch(commands);
    shortq::bench::add_policy(commands);
    shortq::bench::add_query(commands);
    shortq::bench::add_start(commands);
    shortq::bench::add_stream(commands);
    shortq::bench::add_transfer(commands);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : kExitUsage;
    }
    return commands.run();
} catch (const std::exception& e) {
    std::cerr << "shortq-bench: " << e.what() << '\n';
    return 1;
}
