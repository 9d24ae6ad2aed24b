// tools/sim/scenario.cpp: the draw. Each fault is absent in most seeds, so that they are seen alone
// and together.
#include "tools/sim/scenario.h"

namespace shortq::sim {

namespace {
double sometimes(Dice& dice, double often, double at_most) {
    return dice.chance(often) ? dice.unit() * at_most : 0;
}
std::uint32_t number(Dice& dice, std::uint32_t low, std::uint32_t high) {
    return static_cast<std::uint32_t>(dice.between(low, high));
}

core::Options draw_options(Dice& dice) {
    core::Options options;
    options.workers = number(dice, 1, 6);
    options.window = dice.chance(0.5) ? 1 : number(dice, 0, 8);
    if (dice.chance(0.4)) {
        options.window = core::kWindowAuto;
        options.ahead = dice.milliseconds(1, 100);
        options.ahead_max = number(dice, 2, 64);
    }
    options.policy =
        dice.chance(0.7) ? core::Policy::kShortestQueue : static_cast<core::Policy>(dice.below(3));
    options.seed = dice.below(1'000'000);
    if (dice.chance(0.3)) options.pending_max = number(dice, 5, 60);
    if (dice.chance(0.3)) options.pending_per_client_max = number(dice, 2, 20);
    if (dice.chance(0.2)) options.pending_bytes_max = number(dice, 1000, 20'000);
    if (dice.chance(0.3)) options.timeout = dice.milliseconds(50, 5000);
    options.grace = dice.milliseconds(50, 2000);
    options.drain = dice.milliseconds(100, 5000);
    options.load_timeout = dice.milliseconds(3000, 10'000);
    options.unavailable_after = dice.milliseconds(500, 10'000);
    options.lives = number(dice, 1, 3);
    options.writable = dice.chance(0.15);
    options.reply_window_bytes = dice.between(100, 2000);
    options.client_window_bytes = dice.between(1000, 10'000);
    options.stall = dice.chance(0.9) ? dice.milliseconds(200, 3000) : core::Duration{0};
    return options;
}
}  // namespace

Scenario draw_scenario(Dice& dice) {
    Scenario out;
    out.options = draw_options(dice);
    out.length = dice.milliseconds(5'000, 60'000);
    out.requests = number(dice, 50, 800);
    out.clients = number(dice, 1, 12);
    out.service = dice.milliseconds(1, 200);
    out.bimodal = dice.chance(0.3);
    out.fingerprints = number(dice, 0, 3);
    out.deadline = sometimes(dice, 0.6, 1);
    out.cancel = sometimes(dice, 0.4, 0.3);
    out.sync = sometimes(dice, 0.3, 0.4);
    out.streaming = sometimes(dice, 0.4, 0.6);
    out.min_generation = sometimes(dice, 0.3, 0.2);
    out.error = sometimes(dice, 0.4, 0.6);
    out.poison = sometimes(dice, 0.3, 0.03);
    out.deaf = sometimes(dice, 0.3, 0.3);
    out.hang = sometimes(dice, 0.3, 0.05);
    out.burst = sometimes(dice, 0.5, 0.95);
    out.network_hiccup = sometimes(dice, 0.3, 0.02);
    out.client_dies = sometimes(dice, 0.3, 0.02);
    out.client_leaves = sometimes(dice, 0.3, 0.02);
    out.client_cut = sometimes(dice, 0.3, 0.02);
    out.client_silent = sometimes(dice, 0.3, 0.01);
    out.worker_crash = sometimes(dice, 0.4, 0.05);
    out.worker_silent = sometimes(dice, 0.3, 0.01);
    out.ghosts = sometimes(dice, 0.4, 0.5);
    out.slow_load = sometimes(dice, 0.2, 0.5);
    out.start_fails = dice.chance(0.01);
    out.load_failure = sometimes(dice, 0.3, 0.5);
    out.load_hang = sometimes(dice, 0.2, 0.3);
    out.stop_hang = sometimes(dice, 0.3, 0.5);
    out.sick = sometimes(dice, 0.3, 0.03);
    out.unreachable = sometimes(dice, 0.3, 0.02);
    out.reloads = dice.chance(0.4) ? number(dice, 1, 6) : 0;
    out.drains = dice.chance(0.3) ? number(dice, 1, 5) : 0;
    out.kills = dice.chance(0.3) ? number(dice, 1, 5) : 0;
    out.pauses = dice.chance(0.2) ? number(dice, 1, 2) : 0;
    out.bad_worker = dice.chance(0.1);
    out.worker_worn_out = sometimes(dice, 0.3, 0.2);
    out.piece_bytes = dice.between(1, 1500);
    out.slow_reader = sometimes(dice, 0.5, 0.5);
    if (out.options.stall != core::Duration{0}) {
        out.stopped_reader = sometimes(dice, 0.3, 0.1);
        out.deaf_client = sometimes(dice, 0.2, 0.2);
    }
    out.kdb_client = sometimes(dice, 0.4, 0.8);
    return out;
}

}  // namespace shortq::sim
