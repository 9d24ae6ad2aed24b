#include "tests/soak/run.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <thread>
#include <utility>

#include "tests/patience.h"
#include "tests/soak/connect.h"
#include "tests/soak/data.h"
#include "tests/soak/faults.h"
#include "tests/soak/gate.h"
#include "tests/soak/guests.h"
#include "tests/soak/ledger.h"
#include "tests/soak/load.h"
#include "tests/soak/noise.h"
#include "tests/soak/primary.h"
#include "tests/soak/raw_client.h"
#include "tests/soak/report.h"
#include "tests/soak/watch.h"
#include "tests/temporary_folder.h"

namespace shortq::soak {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t interrupted = 0;
// The first one ends the run; after that, another one ends the process.
extern "C" void on_signal(int number) {
    interrupted = 1;
    std::signal(number, SIG_DFL);
}

constexpr std::uint64_t kRawStream = 50;
constexpr milliseconds kTick{100};
// Beyond every deadline and every patience of a request.
constexpr seconds kRestPatience{150};
constexpr minutes kLongEnough{5};  // To judge growth.
constexpr minutes kShortRunPatience{1};
constexpr std::uint64_t kKillsPerMinute = 10;

milliseconds between_rests(milliseconds length) {
    return std::clamp(length / 4, milliseconds(4000), milliseconds(30'000));
}

// Everything of a run, in the order of its life.
class Soak {
public:
    explicit Soak(const Options& options);
    ~Soak();
    Soak(const Soak&) = delete;
    Soak& operator=(const Soak&) = delete;

    void go();
    // The exit status.
    [[nodiscard]] int end();

private:
    void begin_clients();
    void begin_thread(std::function<void()> body) { threads_.emplace_back(std::move(body)); }
    void rest(bool last);
    [[nodiscard]] bool has_run() const;
    [[nodiscard]] std::uint64_t least_kills() const;
    [[nodiscard]] std::string wait_for_rest();
    [[nodiscard]] std::string strangers(std::size_t processes) const;
    void end_clients();
    void end_primary();
    void judge(const Account& account);
    void complain(const std::string& what);
    void keep_log();
    [[nodiscard]] std::string progress() const;
    [[nodiscard]] Clock::duration age() const { return Clock::now() - start_; }

    Options options_;
    test::TemporaryFolder folder_;
    Report report_;
    Ledger ledger_;
    Gate gate_;
    Versions versions_;
    DataFiles files_;
    Primary primary_;
    Watch watch_;
    Faults faults_;
    std::unique_ptr<Client> control_;
    std::unique_ptr<Load> load_;
    std::unique_ptr<Guests> guests_;
    std::vector<std::unique_ptr<RawClient>> raw_;
    std::unique_ptr<Noise> noise_;
    std::vector<std::thread> threads_;
    std::size_t standing_clients_ = 0;
    std::atomic<bool> complained_{false};
    Clock::time_point start_ = Clock::now();
};

// All that the primary leaves on disk is in here, to be counted at the end.
std::filesystem::path make_temporary(const std::filesystem::path& folder) {
    auto path = folder / "tmp";
    std::filesystem::create_directory(path);
    ::setenv("TMPDIR", path.c_str(), 1);
    ::setenv("XDG_RUNTIME_DIR", path.c_str(), 1);
    return path;
}

Soak::Soak(const Options& options)
    : options_(options),
      ledger_(0, [this](const std::string& violation) { complain(violation); }),
      versions_(options.restarts),
      files_(folder_.path(), SHORTQ_PROGRAM),
      primary_(options, files_.script()),
      faults_(options, {primary_, ledger_, gate_, versions_, files_}) {
    make_temporary(folder_.path());
    versions_.writing(1);
    files_.refresh(1);
    files_.write_script(true);
    primary_.start();
    versions_.serving(1, 1);
    start_ = Clock::now();
    report_.say(fmt::format("soak: seed {}, primary {} at {}, {} workers ({}, window {})",
                            options_.seed, primary_.pid(), primary_.endpoint(), options_.workers,
                            options_.spawn, options_.window));
    begin_clients();
}

void Soak::begin_clients() {
    control_ = std::make_unique<Client>(connect_to(primary_.endpoint(), "soak control"));
    const Scene scene{
        [this](const std::string& agent) { return connect_to(primary_.endpoint(), agent); },
        ledger_,
        gate_,
        versions_,
        options_.seed,
        options_.restarts};
    load_ = std::make_unique<Load>(scene, options_.light);
    guests_ = std::make_unique<Guests>(Guests::Parts{primary_.port(), ledger_, gate_, versions_,
                                                     options_.seed, options_.restarts});
    noise_ = std::make_unique<Noise>(options_.seed, primary_.port(), gate_);
    const std::uint64_t raw = options_.light ? 1 : 3;
    for (std::uint64_t i = 0; i < raw; ++i) {
        raw_.push_back(std::make_unique<RawClient>(scene, fmt::format("raw {}", i),
                                                   primary_.endpoint(), kRawStream + i));
        begin_thread([client = raw_.back().get()] { client->run(); });
    }
    begin_thread([this] { guests_->run(); });
    begin_thread([this] { noise_->run(); });
    begin_thread([this] { faults_.run(); });
    standing_clients_ = load_->clients() + raw_.size() + 2;  // Control, and that of the faults.
}

Soak::~Soak() {
    if (threads_.empty()) return;
    gate_.end();  // Only after an exception.
    for (auto& thread : threads_) thread.join();
}

void Soak::complain(const std::string& what) {
    complained_ = true;
    report_.say(fmt::format("{}\n  seed {}", what, options_.seed));
}

std::string Soak::progress() const {
    const auto tally = ledger_.tally();
    const auto& faults = faults_.counts();
    return fmt::format(
        "{:.0f} of {:.0f} s: {} requests, {} ok, {} errors, {} under way; {} kills, {} reloads; {} "
        "lost, {} doubled, {} wrong",
        std::chrono::duration<double>(age()).count(),
        std::chrono::duration<double>(options_.length).count(), tally.requests, tally.ok,
        tally.errors, ledger_.unanswered(), faults.worker_kills.load(), faults.reloads.load(),
        tally.lost, tally.doubled, tally.wrong_client);
}

void Soak::go() {
    const auto between = between_rests(options_.length);
    auto next_rest = Clock::now() + between;
    while (!has_run() && interrupted == 0) {
        std::this_thread::sleep_for(kTick);
        ledger_.look();
        primary_.restart_if_asked();
        report_.progress(progress());
        if (Clock::now() < next_rest || age() + between / 2 > options_.length) continue;
        rest(false);
        next_rest = Clock::now() + between;
    }
    rest(true);
}

// A short run on a busy machine lasts until it has seen what it is judged by.
bool Soak::has_run() const {
    if (age() < options_.length) return false;
    const auto& faults = faults_.counts();
    const bool judgeable = faults.worker_kills >= least_kills() && faults.reloads > 0;
    return judgeable || options_.length >= kLongEnough || age() > kShortRunPatience;
}

std::uint64_t Soak::least_kills() const {
    if (options_.length < kLongEnough) return 1;
    return kKillsPerMinute * static_cast<std::uint64_t>(options_.length / minutes(1));
}

// Nothing new is asked and nothing is broken any more: all that was asked has to be answered, and
// the primary has to find back to a state in which nothing is under way.
void Soak::rest(bool last) {
    gate_.shut();
    const auto unrest = wait_for_rest();
    if (!unrest.empty()) complain("VIOLATION: no rest: " + unrest);
    watch_.measure(primary_, age());
    if (last) {
        gate_.end();
    } else {
        gate_.open();
    }
}

std::string Soak::wait_for_rest() {
    const auto deadline = Clock::now() + kRestPatience;
    std::string unrest;
    while (Clock::now() < deadline) {
        ledger_.look();
        primary_.restart_if_asked();
        report_.progress(progress() + "; coming to rest");
        if (!gate_.wait_until_empty(kTick) || ledger_.unanswered() > 0) {
            unrest = fmt::format("{} requests are not answered", ledger_.unanswered());
            std::this_thread::sleep_for(kTick);
            continue;
        }
        unrest = soak::unrest(*control_, options_.workers, standing_clients_) +
                 strangers(primary_.workers().size());
        if (unrest.empty()) return {};
        std::this_thread::sleep_for(kTick);
    }
    for (const auto& one : ledger_.oldest(3)) unrest += '\n' + one;
    return unrest;
}

// Worker processes beside those that the primary knows.
std::string Soak::strangers(std::size_t processes) const {
    if (processes == options_.workers) return {};
    return fmt::format("there are {} processes of workers; ", processes);
}

void Soak::end_clients() {
    load_->join();
    load_.reset();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
    raw_.clear();
    std::string unrest;
    const bool gone = test::wait_until(
        [&] { return (unrest = soak::unrest(*control_, options_.workers, 1)).empty(); });
    if (!gone) complain("VIOLATION: without clients: " + unrest);
    control_.reset();
}

void Soak::end_primary() {
    const auto status = primary_.stop();
    if (!status) {
        complain("VIOLATION: the primary does not end");
    } else if (!status->success()) {
        complain("VIOLATION: the primary ended with " + describe(*status));
    }
    const auto reports = test::sanitizer_reports(primary_.log());
    if (!reports.empty()) complain("VIOLATION: a sanitizer's report:\n" + reports);
}

int Soak::end() {
    end_clients();
    end_primary();
    Account account;
    static_cast<void>(test::wait_until([&] { return primary_.family().empty(); }, seconds(10)));
    for (const auto& left : primary_.family()) {
        ++account.processes_left;
        complain(fmt::format("VIOLATION: process {} ({}) is left", left.pid, left.name));
    }
    for (const auto& left : std::filesystem::directory_iterator(folder_.path() / "tmp")) {
        const auto name = left.path().filename().string();
        if (!name.starts_with("shortq-run") && !name.starts_with("shortq-spill")) continue;
        complain("VIOLATION: a folder is left: " + name);
    }
    account.tally = ledger_.tally();
    account.kills = faults_.counts().worker_kills;
    account.reloads = faults_.counts().reloads;
    account.rss_growth_mb = watch_.rss_growth_mb();
    account.fd_growth = watch_.file_growth();
    judge(account);
    if (complained_) keep_log();
    report_.say(watch_.table() + details_of(ledger_, faults_.counts(), guests_->counts()) +
                line_of(account));
    return complained_ || account.tally.violations() > 0 ? 1 : 0;
}

void Soak::judge(const Account& account) {
    if (interrupted != 0) return;
    if (account.kills < least_kills())
        complain(fmt::format("FAILED: {} kills of workers prove little; {} are the least",
                             account.kills, least_kills()));
    if (account.reloads == 0) complain("FAILED: no reload served");
    if (options_.length < kLongEnough || options_.restarts || test::kSanitized) return;
    if (account.rss_growth_mb > options_.rss_bound_mb)
        complain(fmt::format("VIOLATION: memory grew by more than {} MB", options_.rss_bound_mb));
    if (account.fd_growth > options_.fd_bound)
        complain(fmt::format("VIOLATION: descriptors grew by more than {}", options_.fd_bound));
}

void Soak::keep_log() {
    std::filesystem::create_directories(options_.keep);
    const auto path = options_.keep / "primary.log";
    std::ofstream(path) << primary_.log();
    report_.say(fmt::format("the primary's log: {}; again, as far as chance allows: --seed {}",
                            path.string(), options_.seed));
}

}  // namespace

int run(const Options& options) {
    // Large buffers go back to the system, so that growth is what is kept.
    ::mallopt(M_MMAP_THRESHOLD, 128 << 10);
    ::mallopt(M_ARENA_MAX, 4);
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
    Soak soak(options);
    soak.go();
    return soak.end();
}

}  // namespace shortq::soak
