#include "tests/soak/guest.h"

#include <fmt/format.h>

#include <iostream>

#include "tests/soak/connect.h"
#include "tests/soak/gate.h"
#include "tests/soak/ledger.h"
#include "tests/soak/load.h"

namespace shortq::soak {

int be_guest(const Options& options) {
    Ledger ledger(options.first_number,
                  [](const std::string& violation) { std::cerr << violation << std::endl; });
    ledger.may_be_unavailable(std::chrono::hours(24));  // Nobody tells it of faults.
    Gate gate;
    const Versions versions(true);
    const auto connect = [&](const std::string& agent) {
        return connect_to(options.client_of, agent);
    };
    {
        Load load({connect, ledger, gate, versions, options.seed, options.restarts}, true);
        gate.pause(options.length);
        gate.end();
        load.join();
    }
    ledger.look();
    const auto tally = ledger.tally();
    std::cout << fmt::format(kGuestLine, tally.requests, tally.ok, tally.errors, tally.left,
                             tally.lost, tally.doubled, tally.wrong_client)
              << std::endl;
    return tally.violations() == 0 && ledger.unanswered() == 0 ? 0 : 1;
}

}  // namespace shortq::soak
