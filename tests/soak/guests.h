// tests/soak/guests.h: clients in processes of their own, which come and go: some leave in order,
// some are killed, some are stopped for a while.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "tests/end-to-end/program.h"
#include "tests/soak/gate.h"
#include "tests/soak/judge.h"
#include "tests/soak/ledger.h"
#include "tests/soak/random.h"

namespace shortq::soak {

struct GuestCounts {
    std::atomic<std::uint64_t> came{0};
    std::atomic<std::uint64_t> killed{0};
    std::atomic<std::uint64_t> stopped{0};
};

// Threads: run() on one of its own; counts() any.
class Guests {
public:
    struct Parts {
        std::uint16_t port = 0;
        Ledger& ledger;
        Gate& gate;
        const Versions& versions;
        std::uint64_t seed = 0;
        bool restarts = false;
    };
    explicit Guests(Parts parts);
    void run();
    [[nodiscard]] const GuestCounts& counts() const noexcept { return counts_; }

private:
    void asks_for_itself();  // This program, or the Python client.
    void asks_by_cli();
    void disturb(test::Program& guest, bool stop, bool kill);
    void judge_cli(const Plan& plan, const test::Outcome& outcome);
    void add(const std::string& who, const test::Outcome& outcome);

    Parts parts_;
    Random random_;
    Judge judge_;
    GuestCounts counts_;
    std::uint64_t guests_ = 0;
    bool python_ = true;
};

}  // namespace shortq::soak
