// tools/bench/commands.h: what all subcommands have in common: options, progress and output.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proto/error.h"
#include "tools/bench/progress.h"
#include "tools/bench/report.h"

namespace shortq::bench {

// What a measurement is told.
struct Setting {
    bool quick = false;  // Less than a minute in all; rougher figures.
    bool json = false;
    std::vector<std::string> only;  // Patterns; empty: all.

    // Whether a figure of this name is wanted: a pattern is a part of it, `*` and `?` included.
    [[nodiscard]] bool wants(const std::string& figure) const;
};

// What it found out.
struct Report {
    std::vector<Metric> metrics;
    std::string table{};  // For people, if not the usual one.
};

using Measurement = std::function<Result<Report>(const Setting&, Progress&)>;
using Role = std::function<int()>;

class Commands {
public:
    // `app` outlives it.
    explicit Commands(CLI::App& app);

    // Adds a subcommand; the result takes options of its own. Its --help tells what is measured.
    CLI::App& add(const std::string& name, const std::string& description, Measurement measure);

    // Adds a role in which the program starts itself, hidden from --help.
    CLI::App& add_role(const std::string& name, Role play);

    // Runs the subcommand that was given and writes its report to stdout; the exit status.
    [[nodiscard]] int run();

private:
    struct Command {
        CLI::App* app;
        Measurement measure;
        Role play;
    };
    int measure(const Command& command);

    CLI::App& app_;
    std::shared_ptr<Setting> setting_ = std::make_shared<Setting>();
    std::vector<Command> commands_;
};

}  // namespace shortq::bench
