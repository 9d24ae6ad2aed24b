// tools/sim/checker_time.cpp: what is due is done when it is due, and the core asks to be woken for
// it.
#include <algorithm>

#include "tools/sim/checker.h"

namespace shortq::sim {

namespace {
using namespace std::chrono_literals;
// For so long after a pause, silence may be judged late: nobody could be heard.
constexpr core::Duration kAfterPause = 30s;
}  // namespace

void Checker::paused(core::Time from, core::Time until) {
    latest_pause_ = until;
    woken_ = false;
    const auto gap = until - from;
    for (auto& [id, worker] : workers_) worker.heard += gap;
    for (auto& [id, client] : clients_) client.heard += gap;
}

// Time was not judged when this deadline came: the core did not ask for it.
void Checker::check_missed_deadline() {
    if (woken_ && !deadlines_.empty() && deadlines_.begin()->first < now_) {
        fail("nobody woke when a deadline came");
    }
}

// After what was due there is nothing due, or the loop would spin.
void Checker::check_wake(std::optional<core::Time> next_wake) {
    if (event_as<core::TimeReached>() == nullptr) return;
    if (next_wake && *next_wake <= now_) fail("what was due is due still");
}

void Checker::check_time() {
    woken_ = true;
    if (!deadlines_.empty() && deadlines_.begin()->first <= now_) {
        fail("a deadline has passed without a reply");
    }
    check_readers();
    check_overdue();
    check_overrun();
    check_seats();
    if (now_ - latest_pause_ > kAfterPause) check_silence();
}

void Checker::check_readers() {
    if (options_.stall == core::Duration{0}) return;
    for (const auto& [id, request] : requests_) {
        const bool at_worker = request.place == Place::kAtWorker && !request.answered;
        if (at_worker && behind(request) && request.moved_on + options_.stall < now_) {
            fail("a reader took nothing for too long and still has its query");
        }
    }
    for (const auto& [id, client] : clients_) {
        if (behind(client) && !client.unanswered.empty() &&
            client.blocked_at + options_.stall < now_) {
            fail("a client took nothing for too long and still has its queries");
        }
    }
}

// Who does not obey within the grace time goes; a cancel is answered by then in any case.
void Checker::check_overdue() {
    for (const auto& [id, request] : requests_) {
        if (!request.told || request.place != Place::kAtWorker) continue;
        if (now_ - *request.told <= options_.grace) continue;
        if (request.cancelled && !request.answered) fail("a cancel is not answered");
        const auto* worker = find(request.worker);
        if (worker != nullptr && !worker->killed) fail("a worker that does not obey lives on");
    }
    for (const auto& [id, worker] : workers_) {
        const bool lingers =
            worker.leaving && !worker.killed && latest_pause_ < worker.leaving_since;
        if (lingers && now_ - worker.leaving_since > options_.drain + 2 * options_.grace) {
            fail("a worker that is to leave stays");
        }
    }
}

// Something is put behind a query only if that is predicted to end within `ahead`. One that takes
// longer than twice that, and a bit, keeps nobody waiting.
void Checker::check_overrun() {
    if (!by_time()) return;
    constexpr core::Duration kBit = 500us;
    for (const auto& [id, worker] : workers_) {
        if (worker.killed || now_ - worker.first_since < 2 * options_.ahead + kBit) continue;
        for (std::size_t i = 1; i < worker.pending.size(); ++i) {
            const auto& request = requests_.at(worker.pending[i]);
            if (!request.recalled && !request.told) fail("a request waits behind a long query");
        }
    }
}

void Checker::check_seats() {
    if (draining_) return;
    for (const auto& [seat, since] : empty_seats_) {
        if (now_ - since > options_.backoff_max) fail("a seat stays empty");
    }
    if (none_able_ && options_.unavailable_after != core::Duration{0} &&
        now_ - *none_able_ >= options_.unavailable_after) {
        for (const auto& [id, request] : requests_) {
            const bool queued = request.place == Place::kQueued && !request.answered;
            if (queued && request.asked.mode == core::Mode::kDeferred) {
                return fail("a request waits although nobody has been able to answer for long");
            }
        }
    }
}

void Checker::check_silence() {
    for (const auto& [id, worker] : workers_) {
        const bool watched = worker.ready && !worker.killed;
        if (watched && now_ - worker.heard > options_.worker_silence_max) {
            fail("a silent worker lives on");
        }
    }
    for (const auto& [id, client] : clients_) {
        if (!client.beats) continue;
        if (now_ - client.heard > options_.client_silence_max) fail("a silent client is kept");
        if (!client.unanswered.empty() && now_ - client.pinged > 2 * options_.ping_interval) {
            fail("a client that waits is not pinged");
        }
    }
}

void Checker::update_able() {
    const bool anybody =
        std::ranges::any_of(workers_, [this](const auto& entry) { return able(entry.second); });
    if (anybody || serving_ == 0) {
        none_able_.reset();
    } else if (!none_able_) {
        none_able_ = now_;
    }
}

}  // namespace shortq::sim
