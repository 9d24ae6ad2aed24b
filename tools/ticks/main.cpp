// tools/ticks/main.cpp: shortq-ticks, which writes a folder of invented trades and quotes.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "tools/ticks/script.h"
#include "worker/engine/engine.h"

namespace {

namespace fs = std::filesystem;
using shortq::ticks::TickOptions;

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

// A folder next to the wanted one, so that renaming it into place is one step; gone at the end
// unless it was renamed.
class Workspace {
public:
    explicit Workspace(const fs::path& target)
        : path_(target.string() + ".partial." + std::to_string(::getpid())) {
        fs::create_directories(path_ / "data");
    }
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;
    ~Workspace() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    [[nodiscard]] fs::path data() const { return path_ / "data"; }
    [[nodiscard]] fs::path script() const { return path_ / "ticks.sql"; }

private:
    fs::path path_;
};

shortq::Result<void> write_ticks(const TickOptions& options, const fs::path& target) {
    using shortq::ErrorCode;
    if (fs::exists(target)) {
        return shortq::fail(ErrorCode::kBadRequest,
                            "'" + target.string() + "' exists; remove it, or name another folder");
    }
    const Workspace workspace(target);
    std::ofstream(workspace.script()) << shortq::ticks::tick_script(options, workspace.data());
    // A startup script may do anything, writing files included: loading it is all there is to do.
    auto engine = shortq::engine::make_engine("duckdb", {});
    if (!engine) return tl::unexpected(engine.error());
    if (auto loaded = (*engine)->load(workspace.script()); !loaded) return loaded;
    fs::rename(workspace.data(), target);
    return {};
}

}  // namespace

int main(int argc, char** argv) try {
    TickOptions options;
    std::string target;
    CLI::App app("Writes invented trades and quotes as Parquet files, one folder per day.");
    app.add_option("FOLDER", target, "Where to write; must not exist")->required();
    app.add_option("--first-day", options.first_day, "First day")->capture_default_str();
    app.add_option("--days", options.days, "Number of days")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    app.add_option("--trades", options.trades_per_day, "Trades per day")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
        ->capture_default_str();
    app.add_option("--quotes-per-trade", options.quotes_per_trade, "Quotes per trade")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{100}))
        ->capture_default_str();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : kExitUsage;
    }
    // Absolute, since loading a script makes its folder the working folder.
    if (const auto written = write_ticks(options, fs::absolute(target)); !written) {
        const shortq::Error& error = written.error();
        std::cerr << "shortq-ticks: " << name_of(error.code) << ": " << error.message << '\n';
        return kExitFailed;
    }
    return 0;
} catch (const std::exception& e) {
    std::cerr << "shortq-ticks: " << e.what() << '\n';
    return kExitFailed;
}
