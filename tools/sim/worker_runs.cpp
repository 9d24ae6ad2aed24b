// tools/sim/worker_runs.cpp: how queries run at a worker, and end.
#include <algorithm>

#include "tools/sim/primary.h"
#include "tools/sim/workers.h"

namespace shortq::sim {

using namespace std::chrono_literals;

void Workers::begin(Worker& worker, const Job& job) {
    worker.jobs.push_back(job);
    if (!worker.runs) start(worker);
}

void Workers::during_run(core::WorkerId id, std::uint64_t run, core::Duration delay,
                         std::function<void(Worker&)> what) {
    ground_.time.after(delay, [this, id, run, what = std::move(what)] {
        auto* const worker = find(id);
        if (worker == nullptr || !worker->runs || worker->run != run) return;
        if (worker->silent_until <= ground_.now()) return what(*worker);
        during_run(id, run, worker->silent_until - ground_.now(), what);
    });
}

void Workers::start(Worker& worker) {
    if (worker.jobs.empty()) return;
    worker.runs = true;
    ++worker.run;
    worker.run_since = ground_.now();
    const auto job = worker.jobs.front();
    if (worker.id != core::kSyncWorker) {
        if (ground_.fault(ground_.scenario.worker_silent)) fall_silent(worker);
        if (job.payload.poison || ground_.fault(ground_.scenario.worker_crash)) {
            const auto after = std::min(job.payload.service, core::Duration{1ms});
            during_run(worker.id, worker.run, after,
                       [this](Worker& me) { die(me, ground_.dice.milliseconds(0, 10)); });
            return;
        }
    }
    plan_end(worker, job);
}

void Workers::plan_end(Worker& worker, const Job& job) {
    const auto& payload = job.payload;
    if (payload.hang) return;
    const bool bad = ground_.scenario.bad_worker && worker.seat == 1 && !ground_.healed;
    if (bad || payload.error) {
        const auto code = bad ? ErrorCode::kInternal : ErrorCode::kQueryError;
        during_run(worker.id, worker.run, bad ? core::Duration{1ms} : payload.service,
                   [this, code](Worker& me) {
                       reply(me, true, code);
                       end_run(me);
                   });
        return;
    }
    worker.piece = 0;
    worker.sent = 0;
    worker.granted = ground_.scenario.options.reply_window_bytes;
    next_piece(worker.id, worker.run);
}

// The last piece waits for nobody's credit.
void Workers::next_piece(core::WorkerId id, std::uint64_t run) {
    const auto& payload = workers_.at(id).jobs.front().payload;
    during_run(id, run, payload.service / payload.pieces, [this](Worker& me) {
        const bool last = me.piece + 1 == me.jobs.front().payload.pieces;
        me.waits = !last && me.sent >= me.granted;
        if (me.waits) return;
        ++me.piece;
        me.sent += me.jobs.front().payload.piece_bytes;
        reply(me, last, std::nullopt);
        if (last) return end_run(me);
        next_piece(me.id, me.run);
    });
}

void Workers::grant(Worker& worker, const core::GrantCredit& order) {
    if (!worker.runs || worker.jobs.front().request != order.request) return;
    worker.granted = std::max(worker.granted, order.bytes);
    if (!worker.waits || worker.sent >= worker.granted) return;
    worker.waits = false;
    next_piece(worker.id, worker.run);
}

void Workers::reply(Worker& worker, bool last, std::optional<ErrorCode> code) {
    const auto& job = worker.jobs.front();
    core::ReplyArrived event{
        .worker = worker.id, .request = job.request, .last = last, .code = code, .run_time = {}};
    if (!code) event.bytes = job.payload.piece_bytes;
    const bool process = worker.id != core::kSyncWorker;
    if (ground_.dice.chance(0.9)) event.run_time = ground_.now() - worker.run_since;
    event.sick = last && process && ground_.fault(ground_.scenario.sick);
    say(worker, event, job.payload.words);
    if (!last || !process) return;
    if (ground_.fault(ground_.scenario.worker_worn_out))
        say(worker, core::WorkerWornOut{worker.id});
    if (ground_.fault(ground_.scenario.ghosts)) say(worker, event, job.payload.words);  // Twice.
}

void Workers::end_run(Worker& worker) {
    worker.jobs.pop_front();
    worker.runs = false;
    worker.waits = false;
    start(worker);
}

void Workers::give_back(Worker& worker, core::RequestId request, bool interrupt) {
    const auto job = std::ranges::find(worker.jobs, request, &Job::request);
    if (job == worker.jobs.end()) return;
    const bool running = worker.runs && job == worker.jobs.begin();
    if (!running) {
        worker.jobs.erase(job);
        say(worker, core::Recalled{worker.id, request});
        return;
    }
    if (!interrupt || job->payload.deaf) return;
    during_run(worker.id, worker.run, ground_.dice.milliseconds(0, 20), [this](Worker& me) {
        reply(me, true, ErrorCode::kCancelled);
        end_run(me);
    });
}

}  // namespace shortq::sim
