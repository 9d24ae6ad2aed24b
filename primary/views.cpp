// primary/views.cpp: columns beside the rows that fill them.
#include "primary/views.h"

#include <algorithm>

namespace shortq::primary {
namespace {

using Columns = std::vector<engine::HostTable::Column>;

std::int64_t whole(std::uint64_t number) { return static_cast<std::int64_t>(number); }

double milliseconds(std::chrono::nanoseconds duration) {
    return std::chrono::duration<double, std::milli>(duration).count();
}

Timestamp timestamp(std::chrono::system_clock::time_point at) {
    return Timestamp{
        std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch()).count()};
}

std::string state_name(core::WorkerState state) {
    switch (state) {
        case core::WorkerState::kEmpty:
            return "empty";
        case core::WorkerState::kLoading:
            return "loading";
        case core::WorkerState::kReady:
            return "ready";
        case core::WorkerState::kDraining:
            return "draining";
        case core::WorkerState::kStopping:
            return "stopping";
    }
    return "unknown";
}

std::string state_name(core::RequestState state) {
    switch (state) {
        case core::RequestState::kQueued:
        case core::RequestState::kPending:  // At a worker, behind another: it waits all the same.
            return "queued";
        case core::RequestState::kRunning:
            return "running";
        case core::RequestState::kAbandoned:
            return "abandoned";
    }
    return "unknown";
}

std::string priority_name(core::Priority priority) {
    switch (priority) {
        case core::Priority::kHigh:
            return "high";
        case core::Priority::kNormal:
            return "normal";
        case core::Priority::kLow:
            return "low";
    }
    return "unknown";
}

const Columns kWorkerColumns{
    {"id", "BIGINT"},         {"pid", "BIGINT"},           {"state", "VARCHAR"},
    {"generation", "BIGINT"}, {"pending", "BIGINT"},       {"running", "BIGINT"},
    {"served", "BIGINT"},     {"failed", "BIGINT"},        {"restarts", "BIGINT"},
    {"rss_bytes", "BIGINT"},  {"started_at", "TIMESTAMP"},
};
const Columns kQueryColumns{
    {"id", "BIGINT"},       {"client", "BIGINT"},    {"user", "VARCHAR"},  {"state", "VARCHAR"},
    {"worker", "BIGINT"},   {"priority", "VARCHAR"}, {"age_ms", "DOUBLE"}, {"run_ms", "DOUBLE"},
    {"progress", "DOUBLE"}, {"text", "VARCHAR"},     {"mode", "VARCHAR"},
};
const Columns kClientColumns{
    {"id", "BIGINT"},      {"address", "VARCHAR"}, {"door", "VARCHAR"},    {"user", "VARCHAR"},
    {"pending", "BIGINT"}, {"served", "BIGINT"},   {"since", "TIMESTAMP"},
};
const Columns kGenerationColumns{
    {"id", "BIGINT"},
    {"serving", "BOOLEAN"},
    {"workers_ready", "BIGINT"},
    {"workers_loading", "BIGINT"},
    {"started_at", "TIMESTAMP"},
};
const Columns kSettingColumns{{"name", "VARCHAR"}, {"value", "VARCHAR"}, {"origin", "VARCHAR"}};
const Columns kSlowColumns{
    {"id", "BIGINT"},          {"client", "BIGINT"}, {"worker", "BIGINT"},
    {"queued_ms", "DOUBLE"},   {"run_ms", "DOUBLE"}, {"outcome", "VARCHAR"},
    {"ended_at", "TIMESTAMP"}, {"text", "VARCHAR"},
};
const Columns kStatColumns{{"name", "VARCHAR"}, {"kind", "VARCHAR"}, {"value", "BIGINT"}};

// The core knows one running request per worker; the primary's own engine has several lanes.
std::string state_of(const core::RequestSnapshot& request, const QueryDetails& details) {
    const bool beside = request.state == core::RequestState::kPending && details.running;
    return beside ? "running" : state_name(request.state);
}

// The worker that is running something says so by the serial of the request, as `queries` shows it.
Value serial_of(const core::Snapshot& snapshot, core::RequestId request) {
    if (request == core::RequestId{}) return Null{};
    const auto found =
        std::ranges::find(snapshot.requests, request, &core::RequestSnapshot::request);
    return found == snapshot.requests.end() ? Value(Null{}) : Value(whole(found->serial));
}

}  // namespace

void SlowLog::add(SlowQuery query) {
    if (query.text.size() > kTextBytesMax) {
        auto end = kTextBytesMax;  // Not in the middle of a UTF-8 character.
        while (end > 0 && (static_cast<unsigned char>(query.text[end]) & 0xC0U) == 0x80U) --end;
        query.text.resize(end);
        query.text += "...";
    }
    if (entries_.size() == kEntriesMax) entries_.pop_front();
    entries_.push_back(std::move(query));
}

Rows worker_rows(const core::Snapshot& snapshot, const ShellFacts& facts) {
    Rows rows;
    for (const auto& worker : snapshot.workers) {
        if (worker.seat == 0) continue;  // The primary's own engine is no process.
        const auto details = facts.worker(worker.worker);
        const bool lives = details.pid > 0;
        rows.push_back({std::int64_t{worker.seat}, lives ? Value(details.pid) : Value(Null{}),
                        state_name(worker.state), std::int64_t{worker.generation},
                        std::int64_t{worker.pending}, serial_of(snapshot, worker.running),
                        whole(worker.served), whole(worker.failed), whole(worker.restarts),
                        lives ? Value(details.rss_bytes) : Value(Null{}),
                        lives ? Value(timestamp(facts.calendar(worker.started))) : Value(Null{})});
    }
    return rows;
}

Rows query_rows(const core::Snapshot& snapshot, const ShellFacts& facts) {
    Rows rows;
    for (const auto& request : snapshot.requests) {
        const auto details = facts.query(request.request);
        const auto client = facts.client(request.client);
        rows.push_back(
            {whole(request.serial), client.number, client.user, state_of(request, details),
             std::int64_t{request.seat}, priority_name(request.priority), milliseconds(request.age),
             milliseconds(request.ran), details.progress ? Value(*details.progress) : Value(Null{}),
             details.text, std::string(request.mode == core::Mode::kSync ? "sync" : "deferred")});
    }
    return rows;
}

Rows client_rows(const core::Snapshot& snapshot, const ShellFacts& facts) {
    Rows rows;
    for (const auto& client : snapshot.clients) {
        const auto details = facts.client(client.client);
        rows.push_back({details.number, details.address, details.door, details.user,
                        std::int64_t{client.pending}, whole(client.served),
                        timestamp(facts.calendar(client.since))});
    }
    return rows;
}

Rows generation_rows(const core::Snapshot& snapshot, const ShellFacts& facts) {
    Rows rows;
    for (const auto& generation : snapshot.generations) {
        rows.push_back({std::int64_t{generation.generation}, generation.serving,
                        std::int64_t{generation.workers_ready},
                        std::int64_t{generation.workers_loading},
                        timestamp(facts.calendar(generation.started))});
    }
    return rows;
}

Rows setting_rows(const Options& options) {
    Rows rows{
        {std::string("workers"), std::to_string(options.workers), std::string("command line")},
        {std::string("source"), options.source.string(), std::string("command line")}};
    for (const auto& fact : options.facts) rows.push_back({fact.name, fact.value, fact.origin});
    return rows;
}

Rows slow_rows(const SlowLog& log) {
    Rows rows;
    for (const auto& slow : log.entries()) {
        rows.push_back({whole(slow.serial), slow.client, std::int64_t{slow.seat},
                        milliseconds(slow.queued), milliseconds(slow.ran), slow.outcome,
                        timestamp(slow.ended), slow.text});
    }
    return rows;
}

Rows stat_rows(const core::Snapshot& snapshot, const DoorCounts& doors) {
    Rows rows;
    const auto add = [&rows](const char* name, const char* kind, std::uint64_t value) {
        rows.push_back({std::string(name), std::string(kind), whole(value)});
    };
    const auto& totals = snapshot.totals;
    add("requests_accepted", "counter", totals.accepted);
    add("requests_refused", "counter", totals.refused);
    add("requests_answered", "counter", totals.answered);
    add("requests_failed", "counter", totals.failed);
    add("requests_dropped", "counter", totals.dropped);
    add("requests_retried", "counter", totals.retried);
    add("client_messages_malformed", "counter", doors.clients_malformed);
    add("client_messages_without_session", "counter", doors.clients_without_session);
    add("worker_messages_malformed", "counter", doors.workers_malformed);
    add("requests_queued", "gauge", totals.queued);
    add("requests_at_workers", "gauge", totals.at_workers);
    add("requests_abandoned", "gauge", totals.abandoned);
    add("request_bytes", "gauge", totals.bytes);
    return rows;
}

// ---- The engine's side

namespace {

engine::HostTable table(HostLink& link, std::string name, const Columns& columns, View view) {
    return {.schema = "shortq",
            .name = std::move(name),
            .columns = columns,
            // No rows at all is all that a table can say when the primary is leaving.
            .rows = [&link, view] { return link.ask(view).value_or(Rows{}); }};
}

// Calls answer one row.
Result<Row> first_row(Result<Rows> rows) {
    if (!rows) return tl::unexpected(rows.error());
    if (rows->empty()) return fail(ErrorCode::kInternal, "a call without an answer", "primary");
    return std::move(rows->front());
}

template <class Call>
engine::HostCall call_with_number(HostLink& link, std::string name, std::string argument,
                                  Columns columns) {
    return {.name = std::move(name),
            .parameter_types = {"BIGINT"},
            .columns = std::move(columns),
            .invoke = [&link, argument](std::span<const Value> values) -> Result<Row> {
                const auto* number =
                    values.size() == 1 ? std::get_if<std::int64_t>(&values[0]) : nullptr;
                if (number == nullptr)
                    return fail(ErrorCode::kBadRequest, argument + " must be a whole number",
                                "primary");
                return first_row(link.ask(Call{*number}));
            }};
}

}  // namespace

std::vector<engine::HostTable> host_tables(HostLink& link) {
    return {table(link, "workers", kWorkerColumns, View::kWorkers),
            table(link, "queries", kQueryColumns, View::kQueries),
            table(link, "clients", kClientColumns, View::kClients),
            table(link, "generations", kGenerationColumns, View::kGenerations),
            table(link, "settings", kSettingColumns, View::kSettings),
            table(link, "slow_log", kSlowColumns, View::kSlowLog),
            table(link, "stats", kStatColumns, View::kStats)};
}

std::vector<engine::HostCall> host_calls(HostLink& link) {
    engine::HostCall reload{
        .name = "shortq_reload",
        .parameter_types = {},
        .columns = {{"generation", "BIGINT"}, {"action", "VARCHAR"}},
        .invoke = [&link](std::span<const Value>) { return first_row(link.ask(ReloadCall{})); }};
    return {std::move(reload),
            call_with_number<CancelCall>(link, "shortq_cancel", "ID",
                                         {{"id", "BIGINT"}, {"action", "VARCHAR"}}),
            call_with_number<DrainCall>(link, "shortq_drain", "WORKER",
                                        {{"worker", "BIGINT"}, {"action", "VARCHAR"}}),
            call_with_number<KillCall>(link, "shortq_kill", "WORKER",
                                       {{"worker", "BIGINT"}, {"action", "VARCHAR"}})};
}

}  // namespace shortq::primary
