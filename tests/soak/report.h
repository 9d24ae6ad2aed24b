// tests/soak/report.h: what the soak says: progress, violations, the account at the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "tests/soak/faults.h"
#include "tests/soak/guests.h"
#include "tests/soak/ledger.h"
#include "tests/soak/watch.h"

namespace shortq::soak {

// Threads: any.
class Report {
public:
    Report();

    // A line of its own, at once.
    void say(const std::string& line);
    // Where the run is: in place on a terminal, else a line each ten seconds.
    void progress(const std::string& line);

private:
    std::mutex mutex_;
    bool terminal_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point next_{};
};

// All that counts in the end.
struct Account {
    Tally tally;
    std::uint64_t kills = 0;
    std::uint64_t reloads = 0;
    double rss_growth_mb = 0;
    std::int64_t fd_growth = 0;
    std::size_t processes_left = 0;
};
// The last line.
[[nodiscard]] std::string line_of(const Account& account);
// How often what went wrong, for people.
[[nodiscard]] std::string details_of(const Ledger& ledger, const FaultCounts& faults,
                                     const GuestCounts& guests);

}  // namespace shortq::soak
