#include "tests/soak/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

namespace shortq::soak {
namespace {

constexpr std::chrono::seconds kBetweenLines{10};
constexpr std::chrono::milliseconds kBetweenPictures{500};

}  // namespace

Report::Report() : terminal_(::isatty(STDOUT_FILENO) == 1) {}

void Report::say(const std::string& line) {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(shown_, false)) std::cout << "\r\x1b[K";
    std::cout << line << std::endl;
}

void Report::progress(const std::string& line) {
    const std::scoped_lock lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    if (terminal_) {
        next_ = now + kBetweenPictures;
        shown_ = true;
        std::cout << '\r' << line << "\x1b[K" << std::flush;
    } else {
        next_ = now + kBetweenLines;
        std::cout << line << std::endl;
    }
}

std::string line_of(const Account& account) {
    const auto& tally = account.tally;
    return fmt::format(
        "soak: requests={} ok={} errors={} kills={} reloads={} lost={} doubled={} "
        "wrong_client={} rss_growth_mb={:.1f} fd_growth={} processes_left={}",
        tally.requests, tally.ok, tally.errors, account.kills, account.reloads, tally.lost,
        tally.doubled, tally.wrong_client, account.rss_growth_mb, account.fd_growth,
        account.processes_left);
}

std::string details_of(const Ledger& ledger, const FaultCounts& faults, const GuestCounts& guests) {
    std::string text = "outcomes here:";
    for (const auto& [outcome, count] : ledger.outcomes())
        text += fmt::format(" {} {},", outcome, count);
    text += fmt::format(" and {} whose client went first\n", ledger.tally().left);
    text += fmt::format(
        "faults: workers {} killed, {} stopped; fork servers {} killed, {} stopped; primary {} "
        "stopped, {} killed; reloads {} served, {} broken; {} drains and cancels by call, {} "
        "poisonous queries\n",
        faults.worker_kills.load(), faults.worker_stops.load(), faults.fork_server_kills.load(),
        faults.fork_server_stops.load(), faults.primary_stops.load(), faults.restarts.load(),
        faults.reloads.load(), faults.broken_reloads.load(), faults.calls.load(),
        faults.poisons.load());
    text += fmt::format("processes of clients: {} came, {} were killed, {} stopped for a while\n",
                        guests.came.load(), guests.killed.load(), guests.stopped.load());
    return text;
}

}  // namespace shortq::soak
