// tools/sim/world.cpp: the clock, the core's steps, and the two phases of a run.
#include "tools/sim/world.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/sim/describe.h"

namespace shortq::sim {

namespace {
using namespace std::chrono_literals;
constexpr std::size_t kLastMax = 40;
constexpr std::uint64_t kInvariantsEvery = 16;  // Steps; they look at everything.
constexpr core::Duration kHealedMax = 3000s;    // More than any backlog takes.
constexpr core::Duration kStopMax = 60s;

std::uint64_t fnv1a(std::uint64_t hash, std::string_view text) {
    for (const char c : text) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3ULL;
    }
    return hash;
}
}  // namespace

Outcome simulate(std::uint64_t seed, bool trace) { return World(seed, trace).run(); }

World::World(std::uint64_t seed, bool trace)
    : seed_(seed),
      trace_(trace),
      dice_(seed),
      scenario_(draw_scenario(dice_)),
      core_(scenario_.options),
      checker_(scenario_.options) {
    outcome_.hash = 0xcbf29ce484222325ULL;
    auto& sync = workers_[core::kSyncWorker];
    sync.id = core::kSyncWorker;
    sync.ready = true;
}

void World::plan(core::Duration delay, std::function<void()> what) {
    planned_.push({.when = now_ + delay, .order = ++order_, .what = std::move(what)});
}

void World::post(const core::Event& event) {
    if (now_ < paused_until_) {
        inbox_.push_back(event);
    } else {
        step(event);
    }
}

void World::note(std::string line) {
    line = fmt::format("{:>14} {}", now_.count(), line);
    outcome_.hash = fnv1a(outcome_.hash, line);
    if (trace_) fmt::print("{}\n", line);
    if (last_.size() == kLastMax) last_.pop_front();
    last_.push_back(std::move(line));
}

void World::step(const core::Event& event) {
    note(describe(event));
    std::vector<core::Action> actions;
    actions.swap(out_);
    actions.clear();
    core_.step(now_, event, actions);
    for (const auto& action : actions) note("  -> " + describe(action));
    checker_.step(now_, event, actions, core_.totals());
    if (++outcome_.steps % kInvariantsEvery == 0) core_.check_invariants();
    for (const auto& action : actions) {
        carry_out(action);
        const auto* reply = std::get_if<core::ReplyArrived>(&event);
        const auto* forward = std::get_if<core::ForwardReply>(&action);
        if (reply != nullptr && forward != nullptr && !reply->code) read(*forward, reply->bytes);
    }
    out_.swap(actions);
}

void World::carry_out(const core::Action& action) {
    if (const auto* opened = std::get_if<core::ClientOpened>(&action)) {
        clients_[opened->client].id = opened->client;
        clients_[opened->client].deaf = fault(scenario_.deaf_client);
        client_beats(opened->client);
    } else if (const auto* closed = std::get_if<core::ClientClosed>(&action)) {
        clients_.erase(closed->client);
    } else if (const auto* accepted = std::get_if<core::Accepted>(&action)) {
        const auto slot = core::slot_of(accepted->request);
        if (slot >= payloads_.size()) payloads_.resize(std::size_t{slot} + 1);
        payloads_[slot] = next_payload_;
        last_serial_ = accepted->serial;
    } else if (const auto* send = std::get_if<core::SendToWorker>(&action)) {
        deliver(*send);
    } else if (const auto* interrupt = std::get_if<core::Interrupt>(&action)) {
        tell(interrupt->worker,
             [this, id = interrupt->request](Worker& worker) { give_back(worker, id, true); });
    } else if (const auto* recall = std::get_if<core::Recall>(&action)) {
        tell(recall->worker,
             [this, id = recall->request](Worker& worker) { give_back(worker, id, false); });
    } else if (const auto* credit = std::get_if<core::GrantCredit>(&action)) {
        tell(credit->worker, [this, order = *credit](Worker& worker) { grant(worker, order); });
    } else if (const auto* order = std::get_if<core::SpawnWorker>(&action)) {
        spawn(*order);
    } else if (const auto* stop = std::get_if<core::StopWorker>(&action)) {
        if (fault(scenario_.stop_hang)) return;
        tell(stop->worker, [this](Worker& worker) { die(worker, 2ms); });
    } else if (const auto* kill = std::get_if<core::KillWorker>(&action)) {
        const auto worker = workers_.find(kill->worker);
        if (worker != workers_.end()) die(worker->second, dice_.milliseconds(1, 20));
    } else if (const auto* serving = std::get_if<core::GenerationServing>(&action)) {
        serving_ = serving->generation;
    } else if (std::holds_alternative<core::Stopped>(action)) {
        stopped_ = true;
    }
}

void World::run_until(core::Time end, const std::function<bool()>& done) {
    while (!done()) {
        auto next = planned_.empty() ? core::Time::max() : planned_.top().when;
        const bool paused = now_ < paused_until_;
        auto wake = paused ? std::optional{paused_until_} : core_.next_wake();
        if (wake) next = std::min(next, std::max(*wake, now_));
        if (next > end) break;
        now_ = next;
        if (!planned_.empty() && planned_.top().when == now_) {
            const auto what = planned_.top().what;
            planned_.pop();
            what();
        } else if (paused) {
            for (const auto& event : std::exchange(inbox_, {})) step(event);
        } else {
            step(core::TimeReached{});
        }
    }
    now_ = std::max(now_, std::min(end, now_));
}

void World::plan_faults() {
    const auto some_time = [this] {
        return core::Duration{static_cast<std::int64_t>(
            dice_.below(static_cast<std::uint64_t>(scenario_.length.count())))};
    };
    const auto seat = [this] {
        return static_cast<std::uint32_t>(dice_.between(1, scenario_.options.workers));
    };
    for (std::uint32_t i = 0; i < scenario_.reloads; ++i) {
        plan(some_time(), [this] { post(core::ReloadRequested{}); });
    }
    for (std::uint32_t i = 0; i < scenario_.drains; ++i) {
        plan(some_time(), [this, s = seat()] { post(core::DrainWorker{s}); });
    }
    for (std::uint32_t i = 0; i < scenario_.kills; ++i) {
        plan(some_time(), [this, s = seat()] { post(core::KillSeat{s}); });
    }
    for (std::uint32_t i = 0; i < scenario_.pauses; ++i) {
        plan(some_time(), [this] { paused_until_ = now_ + dice_.milliseconds(2500, 12'000); });
    }
}

Outcome World::run() {
    requests_left_ = scenario_.requests;
    plan(0s, [this] { post(core::Started{}); });
    for (std::uint32_t i = 0; i < scenario_.clients; ++i) {
        plan(dice_.milliseconds(0, 500), [this] { client_arrives(); });
    }
    plan(10ms, [this] { request_arrives(); });
    plan_faults();
    run_until(scenario_.length, [this] { return !checker_.violations().empty(); });
    healed_ = true;
    const bool stop_under_load = dice_.chance(0.25);
    if (!stop_under_load) {
        run_until(now_ + kHealedMax, [this] {
            const auto& totals = core_.totals();
            return !checker_.violations().empty() ||
                   (totals.queued == 0 && totals.at_workers == 0 && totals.abandoned == 0 &&
                    requests_left_ == 0);
        });
        checker_.settled(core_.totals());
    }
    finish();
    outcome_.violations = checker_.violations();
    if (!stopped_) outcome_.violations.emplace_back("it did not stop");
    outcome_.accepted = core_.totals().accepted;
    outcome_.answered = core_.totals().answered;
    outcome_.last.assign(last_.begin(), last_.end());
    return std::move(outcome_);
}

void World::finish() {
    requests_left_ = 0;
    paused_until_ = now_;
    for (const auto& event : std::exchange(inbox_, {})) step(event);
    if (dice_.chance(0.7)) {
        step(core::DrainRequested{});
    } else {
        step(core::StopRequested{});
    }
    run_until(now_ + kStopMax, [this] { return stopped_ && core_.totals().abandoned == 0; });
    core_.check_invariants();
    checker_.settled(core_.totals());
}

}  // namespace shortq::sim
