// tests/soak/faults.h: what goes wrong, at random moments.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/soak/data.h"
#include "tests/soak/gate.h"
#include "tests/soak/ledger.h"
#include "tests/soak/primary.h"
#include "tests/soak/random.h"

namespace shortq::soak {

struct FaultCounts {
    std::atomic<std::uint64_t> worker_kills{0};
    std::atomic<std::uint64_t> worker_stops{0};
    std::atomic<std::uint64_t> fork_server_kills{0};
    std::atomic<std::uint64_t> fork_server_stops{0};
    std::atomic<std::uint64_t> primary_stops{0};
    std::atomic<std::uint64_t> restarts{0};
    std::atomic<std::uint64_t> reloads{0};
    std::atomic<std::uint64_t> broken_reloads{0};
    std::atomic<std::uint64_t> calls{0};  // Drains and cancels.
    std::atomic<std::uint64_t> poisons{0};
};

// Threads: run() on one of its own; counts() any.
class Faults {
public:
    struct Parts {
        Primary& primary;
        Ledger& ledger;
        Gate& gate;
        Versions& versions;
        DataFiles& files;
    };
    Faults(const Options& options, Parts parts);

    void run();  // Until the gate says that it is over.
    [[nodiscard]] const FaultCounts& counts() const noexcept { return counts_; }

private:
    using Clock = std::chrono::steady_clock;

    void one(Client& control);
    void send(pid_t pid, int signal, const std::string& what);
    // Other faults come meanwhile.
    void stop_for(pid_t pid, std::chrono::milliseconds duration, const std::string& what);
    void pause(std::chrono::milliseconds duration);
    void go_on(bool all);  // Those whose time has come, or all.
    void collect_reloads();
    void begin_reload(Client& control, bool broken);

    void kill_worker();
    void kill_several_workers();
    void kill_by_call(Client& control);
    void drain_by_call(Client& control);
    void cancel_by_call(Client& control);
    void stop_worker();
    void kill_fork_server();
    void kill_fork_server_and_worker();
    void stop_fork_server();
    void stop_primary();
    void restart_primary();
    void refresh();
    void reload(Client& control);
    void reload_twice(Client& control);
    void reload_by_signal();
    void reload_broken(Client& control);
    void poison(Client& control);
    [[nodiscard]] int deaths_by(std::uint64_t number) const;
    [[nodiscard]] std::optional<pid_t> worker_running(Client& control, std::uint64_t number);

    Options options_;
    Parts parts_;
    Random random_;
    FaultCounts counts_;
    struct Stopped {
        pid_t pid = 0;
        Clock::time_point until;
        std::string what;
    };
    std::vector<Stopped> stopped_;
    struct Reload {
        Submitted submitted;
        std::int64_t version = 0;
        bool broken = false;
    };
    std::vector<Reload> reloads_;
    std::int64_t version_ = 1;
    Clock::time_point last_signal_{};  // HUP.
};

}  // namespace shortq::soak
