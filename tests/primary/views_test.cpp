#include "primary/views.h"

#include <gmock/gmock.h>

namespace shortq::primary {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::system_clock;

const system_clock::time_point kNow{seconds(1'000'000)};

ShellFacts facts() {
    ShellFacts facts;
    facts.worker = [](core::WorkerId worker) {
        return worker == core::WorkerId{11} ? WorkerDetails{4711, 1 << 20} : WorkerDetails{};
    };
    facts.client = [](core::ClientId) { return ClientDetails{3, "127.0.0.1", "native", "ann"}; };
    facts.query = [](core::RequestId) { return QueryDetails{"select 1", 0.5, false}; };
    facts.calendar = [](core::Time at) { return kNow + at; };
    return facts;
}

core::Snapshot snapshot() {
    core::Snapshot snapshot;
    snapshot.workers = {
        {.worker = core::kSyncWorker, .seat = 0},
        {.worker = core::WorkerId{11},
         .seat = 1,
         .generation = 1,
         .state = core::WorkerState::kReady,
         .pending = 2,
         .running = core::RequestId{5},
         .served = 7,
         .failed = 1,
         .restarts = 3,
         .started = seconds(2)},
        {.worker = core::WorkerId{12}, .seat = 2, .state = core::WorkerState::kEmpty}};
    snapshot.requests = {{.request = core::RequestId{5},
                          .serial = 17,
                          .mode = core::Mode::kDeferred,
                          .priority = core::Priority::kHigh,
                          .state = core::RequestState::kRunning,
                          .seat = 1,
                          .age = milliseconds(30),
                          .ran = milliseconds(20)},
                         {.request = core::RequestId{6},
                          .serial = 18,
                          .mode = core::Mode::kSync,
                          .state = core::RequestState::kPending}};
    snapshot.clients = {{.pending = 2, .served = 9, .since = seconds(1)}};
    return snapshot;
}

// A running worker and an empty seat; the primary's own engine is not among the workers.
TEST(ViewsTest, WorkersShowProcessesAndEmptySeats) {
    const auto rows = worker_rows(snapshot(), facts());
    const Value started = Timestamp{(1'000'000 + 2) * std::int64_t{1'000'000}};
    EXPECT_THAT(rows, testing::ElementsAre(
                          Row{std::int64_t{1}, std::int64_t{4711}, std::string("ready"),
                              std::int64_t{1}, std::int64_t{2}, std::int64_t{17}, std::int64_t{7},
                              std::int64_t{1}, std::int64_t{3}, std::int64_t{1 << 20}, started},
                          Row{std::int64_t{2}, Null{}, std::string("empty"), std::int64_t{0},
                              std::int64_t{0}, Null{}, std::int64_t{0}, std::int64_t{0},
                              std::int64_t{0}, Null{}, Null{}}));
}

// A request at a worker that has not started counts as queued, as the manual says.
TEST(ViewsTest, QueriesAreQueuedOrRunning) {
    const auto rows = query_rows(snapshot(), facts());
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0], (Row{std::int64_t{17}, std::int64_t{3}, std::string("ann"),
                            std::string("running"), std::int64_t{1}, std::string("high"), 30.0,
                            20.0, 0.5, std::string("select 1"), std::string("deferred")}));
    EXPECT_EQ(rows[1][3], Value(std::string("queued")));
    EXPECT_EQ(rows[1][10], Value(std::string("sync")));
}

// The look lane's query runs beside the one that the core takes for the running one.
TEST(ViewsTest, QueryInAnotherLaneRunsToo) {
    auto busy = facts();
    busy.query = [](core::RequestId) { return QueryDetails{"from shortq.queries", {}, true}; };
    EXPECT_EQ(query_rows(snapshot(), busy)[1][3], Value(std::string("running")));
}

// Every view's rows have exactly its columns, and every table of the engine asks for its own view.
TEST(ViewsTest, RowsHaveTheColumnsOfTheirTable) {
    Options options;
    options.facts = {{"window", "1", "default"}};
    SlowLog log;
    log.add({.serial = 1, .outcome = "ok", .text = "select 1"});
    HostLink link([&](const Question& question) {
        const auto view = std::get<View>(question.demand);
        core::Snapshot state = snapshot();
        state.generations = {{.generation = 1, .serving = true}};
        const Rows rows = view == View::kWorkers       ? worker_rows(state, facts())
                          : view == View::kQueries     ? query_rows(state, facts())
                          : view == View::kClients     ? client_rows(state, facts())
                          : view == View::kGenerations ? generation_rows(state, facts())
                          : view == View::kSettings    ? setting_rows(options)
                          : view == View::kStats       ? stat_rows(state, {})
                                                       : slow_rows(log);
        question.answer->give(rows);
    });
    for (const auto& table : host_tables(link)) {
        EXPECT_EQ(table.schema, "shortq");
        const auto rows = table.rows();
        ASSERT_FALSE(rows.empty()) << table.name;
        for (const auto& row : rows) EXPECT_EQ(row.size(), table.columns.size()) << table.name;
    }
}

// Counters of the core and of the doors are told by name, and none is taken for another.
TEST(ViewsTest, StatsHaveTheCountersOfCoreAndDoors) {
    auto state = snapshot();
    state.totals.accepted = 1;
    state.totals.refused = 2;
    state.totals.answered = 3;
    state.totals.failed = 4;
    state.totals.dropped = 5;
    state.totals.retried = 6;
    state.totals.queued = 10;
    state.totals.at_workers = 11;
    state.totals.abandoned = 12;
    state.totals.bytes = 13;
    std::string told;
    for (const auto& row : stat_rows(
             state, {.clients_malformed = 7, .clients_without_session = 8, .workers_malformed = 9}))
        told += std::get<std::string>(row[0]) + " " + std::get<std::string>(row[1]) + " " +
                std::to_string(std::get<std::int64_t>(row[2])) + "\n";
    EXPECT_EQ(
        told,
        "requests_accepted counter 1\nrequests_refused counter 2\n"
        "requests_answered counter 3\nrequests_failed counter 4\n"
        "requests_dropped counter 5\nrequests_retried counter 6\n"
        "client_messages_malformed counter 7\nclient_messages_without_session counter 8\n"
        "worker_messages_malformed counter 9\nrequests_queued gauge 10\n"
        "requests_at_workers gauge 11\nrequests_abandoned gauge 12\nrequest_bytes gauge 13\n");
}

// A call hands its argument over and gives the answer back; a wrong argument never gets there.
TEST(ViewsTest, CallsPassTheirNumberOn) {
    std::vector<std::int64_t> cancelled;
    HostLink link([&](const Question& question) {
        cancelled.push_back(std::get<CancelCall>(question.demand).serial);
        question.answer->give(Rows{{std::int64_t{17}, std::string("done")}});
    });
    const auto calls = host_calls(link);
    const auto cancel = std::ranges::find(calls, "shortq_cancel", &engine::HostCall::name);
    ASSERT_NE(cancel, calls.end());
    const std::vector<Value> number{std::int64_t{17}};
    const auto row = cancel->invoke(number);
    ASSERT_TRUE(row);
    EXPECT_EQ(row->size(), cancel->columns.size());
    const std::vector<Value> nothing{Null{}};
    EXPECT_FALSE(cancel->invoke(nothing));
    EXPECT_THAT(cancelled, testing::ElementsAre(17));
}

// The log keeps the newest entries up to its bound, and cuts texts between characters.
TEST(SlowLogTest, IsBounded) {
    SlowLog log;
    for (std::size_t i = 0; i < SlowLog::kEntriesMax + 1; ++i)
        log.add({.serial = i, .text = std::string(SlowLog::kTextBytesMax - 1, 'x') + "\u00e4"});
    EXPECT_EQ(log.entries().size(), SlowLog::kEntriesMax);
    EXPECT_EQ(log.entries().front().serial, 1U);
    EXPECT_EQ(log.entries().back().text, std::string(SlowLog::kTextBytesMax - 1, 'x') + "...");
}

// A question that nobody answers ends when its lane is interrupted, from another thread.
TEST(HostLinkTest, InterruptEndsTheWait) {
    HostLink* self = nullptr;
    HostLink link([&](const Question&) { self->interrupt(); });
    self = &link;
    const auto rows = link.ask(ReloadCall{});
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().code, ErrorCode::kCancelled);
    link.close();
    EXPECT_FALSE(link.ask(View::kWorkers));
}

}  // namespace
}  // namespace shortq::primary
