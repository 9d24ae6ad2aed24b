// tools/sim/world.cpp: the two phases of a run.
#include "tools/sim/world.h"

namespace shortq::sim {

namespace {
using namespace std::chrono_literals;
constexpr core::Duration kHealedMax = 3000s;  // More than any backlog takes.
constexpr core::Duration kSettle = 40s;       // What was read late is told, what hung is replaced.
constexpr core::Duration kRest = 20s;         // Long enough for every timer and backoff.
constexpr core::Duration kStopMax = 60s;
}  // namespace

Outcome simulate(std::uint64_t seed, const Manner& manner) {
    auto record = Record::kNothing;
    if (manner.keep_last) record = Record::kLast;
    if (manner.trace) record = Record::kPrint;
    return World(seed, record, manner.own_checks).run();
}

World::World(std::uint64_t seed, Record record, bool own_checks)
    : ground_(seed),
      primary_(ground_, record, own_checks),
      clients_(ground_, primary_),
      workers_(ground_, primary_) {
    primary_.meet(clients_, workers_);
}

// The event loop: what has arrived goes first, then what is due.
void World::run_until(core::Time end, const std::function<bool()>& done) {
    while (ground_.violations.empty() && !done()) {
        const auto arrival = ground_.time.next();
        const auto wake = primary_.next_wake();
        const auto next = std::min(arrival, wake);
        if (next > end) break;
        ground_.time.advance(next);
        if (arrival == next) {
            ground_.time.run_next();
        } else {
            primary_.wake();
        }
    }
}

void World::plan_faults() {
    auto& dice = ground_.dice;
    const auto& scenario = ground_.scenario;
    const auto some_time = [&] {
        return core::Duration{static_cast<std::int64_t>(
            dice.below(static_cast<std::uint64_t>(scenario.length.count())))};
    };
    const auto times = [&](std::uint32_t count, const std::function<core::Event()>& draw) {
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto event = draw();
            ground_.time.after(some_time(), [this, event] { primary_.arrive(event); });
        }
    };
    const auto seat = [&] {
        return static_cast<std::uint32_t>(dice.between(1, scenario.options.workers));
    };
    times(scenario.reloads, [] { return core::ReloadRequested{}; });
    times(scenario.drains, [&] { return core::DrainWorker{seat()}; });
    times(scenario.kills, [&] { return core::KillSeat{seat()}; });
    for (std::uint32_t i = 0; i < scenario.pauses; ++i) {
        ground_.time.after(some_time(), [this] {
            primary_.pause(ground_.now() + ground_.dice.milliseconds(2500, 12'000));
        });
    }
}

// Phase 1: the seed's workload and faults. Phase 2: no fault any more, and all has to come right.
Outcome World::run() {
    primary_.arrive(core::Started{});
    clients_.begin();
    plan_faults();
    run_until(ground_.scenario.length, [] { return false; });
    ground_.healed = true;
    clients_.heal();
    if (ground_.dice.chance(0.75)) come_to_rest();  // Or it is stopped under load.
    stop();
    const auto& totals = primary_.core().totals();
    return {.steps = primary_.steps(),
            .hash = primary_.hash(),
            .accepted = totals.accepted,
            .answered = totals.answered,
            .violations = ground_.violations,
            .last = {primary_.last().begin(), primary_.last().end()}};
}

void World::come_to_rest() {
    run_until(ground_.now() + kHealedMax, [this] {
        const bool quiet =
            clients_.all_sent() && clients_.waiting() == 0 && primary_.idle() && !primary_.paused();
        return quiet || primary_.stopped();
    });
    const bool failed = ground_.scenario.start_fails && primary_.stopped();
    if (!ground_.violations.empty() || failed) return;
    if (clients_.waiting() > 0) ground_.fail("healed, and a client has no answer");
    run_until(ground_.now() + kSettle, [] { return false; });
    const auto before = primary_.steps();
    run_until(ground_.now() + kRest, [] { return false; });
    primary_.checker().at_rest(primary_.core().snapshot(ground_.now()), primary_.steps() - before,
                               kRest);
}

void World::stop() {
    if (!ground_.violations.empty()) return;
    clients_.send_no_more();
    run_until(core::Time::max(), [this] { return !primary_.paused(); });
    const bool gently = ground_.dice.chance(0.7);
    primary_.arrive(gently ? core::Event{core::DrainRequested{}} : core::StopRequested{});
    run_until(ground_.now() + kStopMax,
              [this] { return primary_.stopped() && primary_.core().totals().abandoned == 0; });
    if (!ground_.violations.empty()) return;
    if (!primary_.stopped()) ground_.fail("it did not stop");
    primary_.checker().stopped(primary_.core().totals());
}

}  // namespace shortq::sim
