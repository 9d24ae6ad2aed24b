#include "tools/bench/commands.h"

#include <fnmatch.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include "tools/bench/interrupts.h"

namespace shortq::bench {
namespace {

constexpr int kExitFailed = 1;

int failed(const Error& error) {
    std::cerr << "shortq-bench: " << name_of(error.code) << ": " << error.message;
    if (!error.where.empty()) std::cerr << " (" << error.where << ')';
    std::cerr << '\n';
    return kExitFailed;
}

}  // namespace

bool Setting::wants(const std::string& figure) const {
    return only.empty() || std::ranges::any_of(only, [&](const std::string& pattern) {
               return ::fnmatch(("*" + pattern + "*").c_str(), figure.c_str(), 0) == 0;
           });
}

Commands::Commands(CLI::App& app) : app_(app) { app_.require_subcommand(1); }

CLI::App& Commands::add(const std::string& name, const std::string& description,
                        Measurement measure) {
    auto* command = app_.add_subcommand(name, description);
    command->add_flag("--quick", setting_->quick, "Less than a minute in all; rougher figures");
    command->add_flag("--json", setting_->json, "An array of figures, for programs");
    command
        ->add_option("--only", setting_->only,
                     "Figures with this in their names, which may have * and ? in it")
        ->type_name("PATTERN");
    commands_.push_back({command, std::move(measure), {}});
    return *command;
}

CLI::App& Commands::add_role(const std::string& name, Role play) {
    auto* command = app_.add_subcommand(name)->group("");
    commands_.push_back({command, {}, std::move(play)});
    return *command;
}

int Commands::run() {
    for (const auto& command : commands_) {
        if (!command.app->parsed()) continue;
        return command.play ? command.play() : measure(command);
    }
    return kExitFailed;  // Not reached: one is required.
}

int Commands::measure(const Command& command) {
    end_on_signals();
    Progress progress;
    auto report = command.measure(*setting_, progress);
    progress.erase();
    if (!report) return failed(report.error());
    std::erase_if(report->metrics, [&](const Metric& m) { return !setting_->wants(m.name); });
    if (report->metrics.empty()) {
        return failed({ErrorCode::kNotFound, "no figure has such a name", command.app->get_name()});
    }
    if (setting_->json) {
        std::cout << as_json(report->metrics);
    } else {
        std::cout << (report->table.empty() ? as_table(report->metrics) : report->table);
    }
    return 0;
}

}  // namespace shortq::bench
