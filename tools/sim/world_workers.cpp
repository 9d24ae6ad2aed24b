// tools/sim/world_workers.cpp: workers load, run one request at a time, and fail in every way.
#include <algorithm>

#include "tools/sim/world.h"

namespace shortq::sim {

using namespace std::chrono_literals;

void World::spawn(const core::SpawnWorker& order) {
    auto& worker = workers_[order.worker];
    worker.id = order.worker;
    worker.seat = order.seat;
    const bool first_start = now_ == 0s;
    const auto id = order.worker;
    if (!first_start && fault(scenario_.load_hang)) return;
    const bool fails = !first_start && fault(scenario_.load_failure);
    plan(dice_.milliseconds(10, 2000), [this, id, fails] {
        const auto at = workers_.find(id);
        if (at == workers_.end() || !at->second.alive) return;
        if (fails) {
            post(core::WorkerLoadFailed{id});
            plan(5s, [this, id] {  // Nobody told it to leave.
                const auto still = workers_.find(id);
                if (still != workers_.end() && still->second.alive) die(still->second, 5ms);
            });
            return;
        }
        at->second.ready = true;
        post(core::WorkerReady{id});
        worker_beats(id);
    });
}

void World::worker_beats(core::WorkerId id) {
    plan(1s, [this, id] {
        const auto at = workers_.find(id);
        if (at == workers_.end() || !at->second.alive) return;
        if (at->second.silent_until <= now_) post(core::WorkerHeard{id});
        worker_beats(id);
    });
}

void World::tell(core::WorkerId id, std::function<void(Worker&)> what) {
    plan(200us,
         [this, id, what = std::move(what)] {  // The same for all: messages keep their order.
             const auto at = workers_.find(id);
             if (at == workers_.end() || !at->second.alive) return;
             auto& worker = at->second;
             if (worker.silent_until <= now_) return what(worker);
             plan(worker.silent_until - now_, [this, id, what] { tell(id, what); });
         });
}

void World::deliver(const core::SendToWorker& order) {
    const auto at = workers_.find(order.worker);
    if (at == workers_.end() || !at->second.alive) return;  // Its exit is on the way.
    if (order.worker != core::kSyncWorker && fault(scenario_.unreachable)) {
        die(at->second, dice_.milliseconds(1, 50));
        plan(0s, [this, id = order.worker] { post(core::WorkerUnreachable{id}); });
        return;
    }
    const Job job{.request = order.request, .payload = payloads_[core::slot_of(order.request)]};
    tell(order.worker, [this, job](Worker& worker) {
        worker.jobs.push_back(job);
        if (!worker.runs) start(worker);
    });
}

void World::during_run(core::WorkerId id, std::uint64_t run, core::Duration delay,
                       std::function<void(Worker&)> what) {
    plan(delay, [this, id, run, what = std::move(what)] {
        const auto at = workers_.find(id);
        if (at == workers_.end()) return;
        auto& worker = at->second;
        if (!worker.alive || !worker.runs || worker.run != run) return;
        if (worker.silent_until <= now_) return what(worker);
        during_run(id, run, worker.silent_until - now_, what);
    });
}

void World::start(Worker& worker) {
    if (worker.jobs.empty()) return;
    worker.runs = true;
    ++worker.run;
    const auto job = worker.jobs.front();
    if (worker.id != core::kSyncWorker) {
        if (fault(scenario_.worker_silent)) {
            worker.silent_until = now_ + dice_.milliseconds(100, 9000);
        }
        if (job.payload.poison || fault(scenario_.worker_crash)) {
            const auto after = std::min(job.payload.service, core::Duration{1ms});
            during_run(worker.id, worker.run, after,
                       [this](Worker& me) { die(me, dice_.milliseconds(1, 10)); });
            return;
        }
    }
    plan_end(worker, job);
}

void World::plan_end(Worker& worker, const Job& job) {
    const auto& payload = job.payload;
    if (payload.hang) return;
    if (scenario_.bad_worker && worker.seat == 1 && !healed_) {
        during_run(worker.id, worker.run, 1ms, [this](Worker& me) {
            reply(me, true, ErrorCode::kInternal);
            end_run(me);
        });
        return;
    }
    if (payload.error) {
        during_run(worker.id, worker.run, payload.service, [this](Worker& me) {
            reply(me, true, ErrorCode::kQueryError);
            end_run(me);
        });
        return;
    }
    worker.piece = 0;
    worker.sent = 0;
    worker.granted = scenario_.options.reply_window_bytes;
    next_piece(worker.id, worker.run);
}

// The last piece waits for nobody's credit.
void World::next_piece(core::WorkerId id, std::uint64_t run) {
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

void World::grant(Worker& worker, const core::GrantCredit& grant) {
    if (!worker.runs || worker.jobs.front().request != grant.request) return;
    worker.granted = std::max(worker.granted, grant.bytes);
    if (!worker.waits || worker.sent >= worker.granted) return;
    worker.waits = false;
    next_piece(worker.id, worker.run);
}

void World::reply(Worker& worker, bool last, std::optional<ErrorCode> code) {
    core::ReplyArrived event{
        .worker = worker.id, .request = worker.jobs.front().request, .last = last, .code = code};
    if (!code) event.bytes = worker.jobs.front().payload.piece_bytes;
    event.sick = last && worker.id != core::kSyncWorker && fault(scenario_.sick);
    plan(200us, [this, event] { post(event); });
    if (!last || worker.id == core::kSyncWorker || !fault(scenario_.worker_worn_out)) return;
    plan(300us, [this, id = worker.id] { post(core::WorkerWornOut{id}); });
}

void World::end_run(Worker& worker) {
    worker.jobs.pop_front();
    worker.runs = false;
    worker.waits = false;
    start(worker);
}

void World::give_back(Worker& worker, core::RequestId request, bool interrupt) {
    const auto job = std::ranges::find(worker.jobs, request, &Job::request);
    if (job == worker.jobs.end()) return;
    const bool running = worker.runs && job == worker.jobs.begin();
    if (!running) {
        worker.jobs.erase(job);
        plan(200us, [this, event = core::Recalled{worker.id, request}] { post(event); });
        return;
    }
    if (!interrupt || job->payload.deaf) return;
    during_run(worker.id, worker.run, dice_.milliseconds(0, 20), [this](Worker& me) {
        reply(me, true, ErrorCode::kCancelled);
        end_run(me);
    });
}

void World::die(Worker& worker, core::Duration notice) {
    if (!worker.alive) return;
    worker.alive = false;
    core::WorkerExited event{.worker = worker.id, .started = std::nullopt};
    if (worker.runs) event.started = worker.jobs.front().request;
    plan(notice, [this, event] {
        post(event);
        workers_.erase(event.worker);
    });
}

}  // namespace shortq::sim
