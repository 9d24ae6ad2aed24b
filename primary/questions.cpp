// primary/questions.cpp: class Primary, what sync queries ask: the views' rows and the calls.
#include <fmt/format.h>

#include <algorithm>

#include "primary/overloaded.h"
#include "primary/primary.h"

namespace shortq::primary {

void Primary::answer(const Question& question) {
    std::visit(Overloaded{
                   [&](View view) { question.answer->give(rows_of(view)); },
                   [&](const ReloadCall&) { reload(question.answer); },
                   [&](const CancelCall& call) { question.answer->give(cancel(call.serial)); },
                   [&](const DrainCall& call) { question.answer->give(drain(call.seat)); },
                   [&](const KillCall& call) { question.answer->give(kill(call.seat)); },
               },
               question.demand);
}

void Primary::reload(const std::shared_ptr<Answer>& answer) {
    if (drain_requested_) {
        return answer->give(
            fail(ErrorCode::kUnavailable, "the primary is shutting down", "primary"));
    }
    if (auto users = reload_users(); !users) {
        auto& error = users.error();
        error.message = "nothing is reloaded, the old users stay: " + error.message;
        return answer->give(tl::unexpected(std::move(error)));
    }
    // One that loads already may have read what is old by now.
    reload_waiters_.push_back({begun_generation_ + 1, answer});
    step(core::ReloadRequested{});
}

void Primary::answer_reloads(const Result<Rows>& result, std::uint32_t generation) {
    std::erase_if(reload_waiters_, [&](const ReloadWaiter& waiter) {
        if (waiter.first > generation) return false;
        waiter.answer->give(result);
        return true;
    });
}

Rows Primary::rows_of(View view) {
    const auto facts = shell_facts();
    switch (view) {
        case View::kWorkers:
            return worker_rows(dispatcher_.snapshot(now()), facts);
        case View::kQueries:
            return query_rows(dispatcher_.snapshot(now()), facts);
        case View::kClients:
            return client_rows(dispatcher_.snapshot(now()), facts);
        case View::kGenerations:
            return generation_rows(dispatcher_.snapshot(now()), facts);
        case View::kSettings:
            return setting_rows(options_);
        case View::kSlowLog:
            return slow_rows(slow_log_);
        case View::kStats:
            return stat_rows(dispatcher_.snapshot(now()),
                             {.clients_malformed = clients_.malformed(),
                              .clients_without_session = clients_.without_session(),
                              .workers_malformed = workers_.malformed()});
    }
    return {};
}

ShellFacts Primary::shell_facts() {
    ShellFacts facts;
    facts.worker = [this](core::WorkerId worker) {
        const auto* known = supervisor_.facts(worker);
        if (known == nullptr) return WorkerDetails{};
        return WorkerDetails{known->pid, static_cast<std::int64_t>(known->rss_bytes)};
    };
    facts.client = [this](core::ClientId client) {
        const auto* known = facts_of(client);
        if (known == nullptr) return ClientDetails{};
        const bool is_kdb = kdb_clients_.facts(client) != nullptr;
        return ClientDetails{static_cast<std::int64_t>(known->number), known->address,
                             is_kdb ? "kdb" : "native", known->user};
    };
    facts.query = [this](core::RequestId request) {
        const auto* payload = payloads_.find(request);
        QueryDetails details;
        if (payload != nullptr) details.text = payload->text_view();
        const bool sync = payload != nullptr && payload->mode == core::Mode::kSync;
        const double progress =
            sync ? sync_.progress_of(request) : supervisor_.progress_of(request);
        details.running = sync && sync_.is_running(request);
        if (progress >= 0) details.progress = progress;
        return details;
    };
    facts.calendar = [time = now(), today = std::chrono::system_clock::now()](core::Time at) {
        return today - std::chrono::duration_cast<std::chrono::system_clock::duration>(time - at);
    };
    return facts;
}

Result<Rows> Primary::cancel(std::int64_t serial) {
    const auto snapshot = dispatcher_.snapshot(now());
    const auto found = std::ranges::find_if(snapshot.requests, [&](const auto& request) {
        return static_cast<std::int64_t>(request.serial) == serial &&
               request.state != core::RequestState::kAbandoned;
    });
    if (found == snapshot.requests.end()) {
        return fail(ErrorCode::kNotFound,
                    fmt::format("no unanswered request has id {}; see shortq.queries", serial),
                    "primary");
    }
    const bool running = found->state == core::RequestState::kRunning;
    step(core::CancelSerial{static_cast<std::uint64_t>(serial)});
    return Rows{
        {serial, std::string(running ? "interrupted while running" : "cancelled while queued")}};
}

Result<core::WorkerSnapshot> Primary::worker_at(std::int64_t seat) const {
    const auto snapshot = dispatcher_.snapshot(now());
    std::optional<core::WorkerSnapshot> best;
    for (const auto& worker : snapshot.workers) {
        if (seat < 1 || std::int64_t{worker.seat} != seat) continue;
        if (!best || worker.generation > best->generation) best = worker;
    }
    if (!best) {
        return fail(ErrorCode::kNotFound,
                    fmt::format("there is no worker {}; they are numbered from 1 to {}", seat,
                                options_.workers),
                    "primary");
    }
    return *best;
}

Result<Rows> Primary::drain(std::int64_t seat) {
    const auto worker = worker_at(seat);
    if (!worker) return tl::unexpected(worker.error());
    step(core::DrainWorker{worker->seat});
    return Rows{
        {seat, fmt::format("finishes {} requests, then leaves and is replaced", worker->pending)}};
}

Result<Rows> Primary::kill(std::int64_t seat) {
    const auto worker = worker_at(seat);
    if (!worker) return tl::unexpected(worker.error());
    const auto* facts = supervisor_.facts(worker->worker);
    if (facts == nullptr)
        return fail(ErrorCode::kNotFound, fmt::format("worker {} has no process now", seat),
                    "primary");
    const auto pid = facts->pid;
    step(core::KillSeat{worker->seat});
    return Rows{{seat, fmt::format("killed process {}; it is replaced", pid)}};
}

}  // namespace shortq::primary
