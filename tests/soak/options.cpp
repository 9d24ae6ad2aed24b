#include "tests/soak/options.h"

#include <CLI/CLI.hpp>
#include <array>
#include <random>

#include "tests/end-to-end/program.h"

namespace shortq::soak {
namespace {

constexpr const char* kAbout =
    R"(Runs a real primary with real workers under a mixed load and faults, and counts what becomes of
every request. Each request carries its own number and each version of the data its own sums, so
that a reply that is lost, doubled, somebody else's or of mixed data is seen.

Faults: kill -9 and SIGSTOP of workers, fork server, primary (stopped only, unless --restarts) and
clients; reloads with new data, broken ones too; drains, kills and cancels by call; clients that
leave without a word, read slowly or not at all, or send random bytes.)";

constexpr const char* kFooter = R"(
The last line counts: requests sent, results, errors (expected ones: every query that cannot
succeed, deadlines, cancels, ...), workers killed, reloads that served, and what must be 0. Growth is
measured at rest, in the same state each time: the median of the last tenth of the measurements
minus the median of those in the second fifth; the worst of primary, fork server and the soak's own
clients. wrong_client counts replies to the wrong client, of wrong content, and errors that the
request should not get.

Exit status: 0 all is well; 1 a request was lost, doubled or wrong, a process or temporary folder
was left, the system did not come to rest or to a clean end, memory or descriptors grew beyond their
bounds (judged from 5 minutes on, without --restarts), or too little was broken: no reload, no kill
of a worker, or from 5 minutes on fewer than 10 kills a minute; 2 usage. Ctrl-C ends the run early,
with the report.)";

constexpr double kMinutesMax = 7 * 24 * 60;

}  // namespace

std::optional<Options> parse_options(int argc, char** argv, int& status) {
    CLI::App app{kAbout, "soak"};
    Options options;
    options.seed = std::random_device{}();
    options.light = test::kSanitized;
    options.rss_bound_mb = 48;
    options.fd_bound = 8;
    double minutes = 0;
    app.footer(kFooter);
    auto* length = app.add_option("MINUTES", minutes, "How long; 0.5 is half a minute")
                       ->check(CLI::Range(0.01, kMinutesMax));
    app.add_option("--seed", options.seed, "Of all that is drawn; default: another one each time");
    app.add_option("--spawn", options.spawn, "How workers start")
        ->check(CLI::IsMember({"fork", "exec"}))
        ->capture_default_str();
    app.add_option("--workers", options.workers, "Worker processes")
        ->check(CLI::Range(2U, 64U))
        ->capture_default_str();
    auto* window = app.add_option("--window", options.window,
                                  "Requests that a worker is given ahead, 0: no bound; default: "
                                  "drawn from 1, 4 and 0")
                       ->check(CLI::Range(0U, 1000U));
    app.add_flag("--light", options.light, "Fewer clients (default in builds with a sanitizer)");
    app.add_flag("--restarts", options.restarts,
                 "Kill the primary now and then, and start it again on the same port");
    app.add_option("--keep", options.keep,
                   "Folder for the primary's log after a violation; default: shortq-soak-SEED in "
                   "the system's temporary folder");
    app.add_option("--rss-bound", options.rss_bound_mb, "MB of growth that fail the run")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--fd-bound", options.fd_bound, "Descriptors of growth that fail the run")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--client-of", options.client_of)->group("");
    app.add_option("--first-number", options.first_number)->group("");
    try {
        app.parse(argc, argv);
        if (length->count() == 0) throw CLI::RequiredError("MINUTES");
    } catch (const CLI::ParseError& error) {
        status = app.exit(error) == 0 ? 0 : 2;
        return std::nullopt;
    }
    options.length = std::chrono::milliseconds(static_cast<std::int64_t>(minutes * 60'000));
    constexpr std::array kWindows{1U, 4U, 0U};
    if (window->count() == 0) options.window = kWindows[options.seed % kWindows.size()];
    if (options.keep.empty()) {
        options.keep = std::filesystem::temp_directory_path() /
                       ("shortq-soak-" + std::to_string(options.seed));
    }
    return options;
}

}  // namespace shortq::soak
