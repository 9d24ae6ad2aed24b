#include "tests/soak/guests.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <vector>

#include "tests/patience.h"

namespace shortq::soak {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kGuestsStream = 3;
constexpr const char* kPython = "/usr/bin/python3";
constexpr int kSkipped = 77;
// Numbers of different processes do not meet.
constexpr std::uint64_t kNumbersPerGuest = std::uint64_t{1} << 32;

std::optional<Tally> tally_of(const std::string& out) {
    const auto at = out.rfind("guest: ");
    if (at == std::string::npos) return std::nullopt;
    unsigned long long n[7];
    if (std::sscanf(out.c_str() + at,
                    "guest: requests=%llu ok=%llu errors=%llu left=%llu lost=%llu doubled=%llu "
                    "wrong_client=%llu",
                    &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6]) != 7)
        return std::nullopt;
    return Tally{n[0], n[1], n[2], n[3], n[4], n[5], n[6]};
}

}  // namespace

Guests::Guests(Parts parts)
    : parts_(parts), random_(parts.seed, kGuestsStream), judge_(parts.ledger, parts.versions) {}

void Guests::run() try {
    while (true) {
        const Gate::Turn turn(parts_.gate);
        if (!turn) return;
        ++counts_.came;
        if (random_.one_in(2)) {
            asks_for_itself();
        } else {
            asks_by_cli();
        }
        parts_.gate.pause(random_.milliseconds(100, 2000));
    }
} catch (const std::exception& error) {
    parts_.ledger.wrong(std::string("the guests end: ") + error.what());
}

void Guests::disturb(test::Program& guest, bool stop, bool kill) {
    parts_.gate.pause(random_.milliseconds(50, 2500));
    if (stop) {
        guest.signal(SIGSTOP);
        ++counts_.stopped;
        parts_.gate.pause(random_.milliseconds(100, 6000));
    }
    if (kill) {
        guest.signal(SIGKILL);
        ++counts_.killed;
    }
    guest.signal(SIGCONT);
}

// ---- Those that keep their own books

void Guests::asks_for_itself() {
    const bool kill = random_.one_in(3);
    const bool stop = random_.one_in(3);
    const bool python = python_ && random_.one_in(3);
    const auto first = std::to_string(++guests_ * kNumbersPerGuest);
    const auto seconds = random_.between(1, 4);
    std::vector<std::string> arguments{SHORTQ_SOAK_PYTHON_CLIENT, std::to_string(parts_.port),
                                       first, std::to_string(seconds)};
    if (!python) {
        arguments = {fmt::format("{:.3f}", static_cast<double>(seconds) / 60),
                     "--client-of",
                     fmt::format("tcp://127.0.0.1:{}", parts_.port),
                     "--first-number",
                     first,
                     "--seed",
                     std::to_string(random_.between(0, 1'000'000'000))};
    }
    // What it does not get back from a primary that has dropped it, or is another one.
    if (stop || parts_.restarts) arguments.push_back("--restarts");
    const auto who = fmt::format("guest {}{}", guests_, python ? " (Python)" : "");
    test::Program guest(python ? kPython : "/proc/self/exe", arguments);
    disturb(guest, stop, kill);
    const auto outcome = guest.finish(2 * test::kPatience);
    if (python && outcome.status == ExitStatus{.signalled = false, .value = kSkipped}) {
        python_ = false;  // Its packages are not here.
    } else if (!outcome.status.signalled) {
        add(who, outcome);
    }
}

void Guests::add(const std::string& who, const test::Outcome& outcome) {
    const auto tally = tally_of(outcome.out);
    if (tally) parts_.ledger.add(*tally);
    if (tally && outcome.status.success()) return;
    if (!tally || tally->violations() == 0)
        parts_.ledger.wrong(who + " ended with " + describe(outcome.status));
    std::cerr << "---- " << who << " wrote:\n" << outcome.out << outcome.err << std::endl;
}

// ---- shortq-cli

void Guests::asks_by_cli() {
    const bool kill = random_.one_in(4);
    auto plan = make_plan(random_, random_.one_in(4) ? Kind::kLong : Kind::kShort,
                          parts_.ledger.next_number(), parts_.versions);
    plan.options = {};
    plan.least_version = 0;
    plan.may_fail = {ErrorCode::kWorkerLost};
    plan.patience = 2 * test::kPatience;
    parts_.ledger.sent(plan, "shortq-cli");
    test::Program cli(SHORTQ_CLI_PROGRAM, {"--port", std::to_string(parts_.port), "--wait", "60",
                                           "--format", "csv", plan.text});
    if (kill) disturb(cli, false, true);
    const auto outcome = cli.finish(2 * test::kPatience);
    if (outcome.status.signalled) return parts_.ledger.left(plan.number);
    judge_cli(plan, outcome);
}

void Guests::judge_cli(const Plan& plan, const test::Outcome& outcome) {
    if (!outcome.status.success()) {
        const bool lost = outcome.err.find("worker_lost") != std::string::npos;
        std::optional<std::string> fault;
        if (!lost) fault = "shortq-cli's error: " + outcome.err;
        return parts_.ledger.answered(plan.number, "shortq-cli", outcome.err, false, fault);
    }
    long long version = 0;
    std::optional<std::string> fault = "shortq-cli's output: " + outcome.out;
    if (std::sscanf(outcome.out.c_str(), "n,a,b,s,c %*d,%lld", &version) == 1) {
        const auto expected = fmt::format("n,a,b,s,c\n{},{},{},{},{}\n", plan.number, version,
                                          version, checksum(version), checksum(version));
        if (outcome.out == expected) fault.reset();
    }
    parts_.ledger.answered(plan.number, "shortq-cli", "ok", true, fault);
}

}  // namespace shortq::soak
