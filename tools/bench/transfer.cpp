#include "tools/bench/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "shortq/client.h"
#include "tools/bench/child.h"
#include "tools/bench/dealer.h"
#include "tools/bench/discard.h"
#include "tools/bench/shortq_server.h"
#include "tools/bench/stopwatch.h"
#include "tools/bench/temporary_folder.h"
#include "worker/engine/engine.h"

namespace shortq::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMegabyte = 1e6;
constexpr unsigned kWorkers = 2;

std::uint64_t rows_of(const TransferCase& one, const TransferOptions& options) {
    return std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(static_cast<double>(options.rows) * one.share));
}

std::string query_of(const TransferCase& one) { return "select * from " + one.name; }

std::string script_of(const std::vector<TransferCase>& cases, const TransferOptions& options) {
    std::string script;
    for (const auto& one : cases) {
        script += fmt::format("create table {} as select {} from range({}) g(i);\n", one.name,
                              one.columns, rows_of(one, options));
    }
    return script;
}

// ---- The three sides. Each gives the seconds that all the rows, or bytes, took.

struct Took {
    double seconds = 0;
    std::uint64_t bytes = 0;  // On the wire.
};

Result<Took> streamed(Client& client, const TransferCase& one, std::uint64_t rows) {
    const auto start = Clock::now();
    auto stream = client.stream(query_of(one));
    if (!stream) return tl::unexpected(stream.error());
    for (;;) {
        const auto table = stream->next();
        if (!table) return tl::unexpected(table.error());
        if (!*table) break;
    }
    const auto seconds = seconds_since(start);
    if (stream->facts().rows != rows) return fail(ErrorCode::kInternal, "rows are missing");
    return Took{seconds, stream->facts().bytes};
}

Result<Took> whole(Client& client, const TransferCase& one, std::uint64_t rows) {
    const auto start = Clock::now();
    const auto table = client.deferred(query_of(one));
    if (!table) return tl::unexpected(table.error());
    const auto seconds = seconds_since(start);
    if (table->rows() != rows) return fail(ErrorCode::kInternal, "rows are missing");
    return Took{seconds, table->facts().bytes};
}

Result<Took> in_process(engine::Engine& engine, const TransferCase& one, std::uint64_t rows) {
    Discard sink;
    const auto query = query_of(one);
    const auto start = Clock::now();
    if (auto ran = engine.run({query, {}}, sink); !ran) return tl::unexpected(ran.error());
    const auto seconds = seconds_since(start);
    if (sink.rows != rows) return fail(ErrorCode::kInternal, "rows are missing");
    return Took{seconds};
}

Result<Took> through_proxy(Dealer& dealer, std::uint64_t bytes) {
    const auto start = Clock::now();
    const auto text = std::to_string(bytes);
    if (!dealer.send({zmq::buffer(text)}))
        return fail(ErrorCode::kInternal, "the socket takes no more", "zmq");
    for (std::uint64_t got = 0; got < bytes;) {
        const auto frames = dealer.receive();
        if (!frames) return tl::unexpected(frames.error());
        got += (*frames)->back().size();
    }
    return Took{seconds_since(start), bytes};
}

// ---- What they need

// Members go in reverse order: processes before the folder of their sockets.
struct Stage {
    std::unique_ptr<TemporaryFolder> folder;
    std::vector<Child> children;  // Of zmq_proxy's side.
    std::optional<ShortqServer> server;
    std::unique_ptr<engine::Engine> engine;
    std::optional<Client> client;
    std::unique_ptr<Dealer> dealer;
};

Result<void> start_shortq(Stage& stage, const std::string& script) {
    auto server = ShortqServer::start({std::to_string(kWorkers), script});
    if (!server) return tl::unexpected(server.error());
    stage.server = std::move(*server);
    auto client = stage.server->connect();
    if (!client) return tl::unexpected(client.error());
    stage.client = std::move(*client);
    return {};
}

Result<void> start_engine(Stage& stage, const std::string& script) {
    engine::EngineOptions options;
    options.threads = std::max(1U, std::thread::hardware_concurrency() / kWorkers);
    auto engine = engine::make_engine("duckdb", options);
    if (!engine) return tl::unexpected(engine.error());
    stage.engine = std::move(*engine);
    return stage.engine->load(script);
}

Result<void> start_zmq(Stage& stage) {
    const auto clients = "ipc://" + (stage.folder->path() / "bytes").string();
    const auto source = "ipc://" + (stage.folder->path() / "source").string();
    for (const auto& role : std::vector<std::vector<std::string>>{{"echo-proxy", clients, source},
                                                                  {"byte-source", source}}) {
        auto child = start_this_program(role);
        if (!child) return tl::unexpected(child.error());
        stage.children.push_back(std::move(*child));
    }
    stage.dealer = std::make_unique<Dealer>(std::vector<std::string>{clients});
    return {};
}

Result<Stage> start(const std::vector<TransferCase>& cases, const TransferOptions& options) {
    Stage stage;
    stage.folder = std::make_unique<TemporaryFolder>();
    const auto script = (stage.folder->path() / "startup.sql").string();
    std::ofstream(script) << script_of(cases, options);
    if (auto done = start_shortq(stage, script); !done) return tl::unexpected(done.error());
    if (auto done = start_engine(stage, script); !done) return tl::unexpected(done.error());
    if (auto done = start_zmq(stage); !done) return tl::unexpected(done.error());
    return stage;
}

// ---- Figures

// How much a second, in each round.
std::vector<double> rates(const std::vector<Took>& rounds, double amount) {
    std::vector<double> rates;
    rates.reserve(rounds.size());
    for (const auto& round : rounds) rates.push_back(amount / round.seconds);
    return rates;
}

Result<void> measure(const TransferCase& one, const TransferOptions& options, Stage& stage,
                     std::vector<Metric>& out) {
    const auto rows = rows_of(one, options);
    const auto first = streamed(*stage.client, one, rows);  // Warm, and tells the bytes.
    if (!first) return tl::unexpected(first.error());
    std::vector<std::function<Result<Took>()>> sides{
        [&] { return streamed(*stage.client, one, rows); },
        [&] { return through_proxy(*stage.dealer, first->bytes); },
        [&] { return in_process(*stage.engine, one, rows); }};
    if (one.whole) sides.emplace_back([&] { return whole(*stage.client, one, rows); });
    const auto took = interleave<Took>(options.rounds, sides);
    if (!took) return tl::unexpected(took.error());
    const auto megabytes = static_cast<double>(first->bytes) / kMegabyte;
    const auto add = [&](const std::string& way, const std::vector<Took>& ours) {
        out.push_back({fmt::format("transfer.{}{}.throughput", one.name, way), "MB/s",
                       rates(ours, megabytes), "zmq_proxy", rates((*took)[1], megabytes)});
        const auto count = static_cast<double>(rows);
        out.push_back({fmt::format("transfer.{}{}.rows", one.name, way), "rows/s",
                       rates(ours, count), "DuckDB in process", rates((*took)[2], count)});
    };
    add("", (*took)[0]);
    if (one.whole) add(".whole", (*took)[3]);
    return {};
}

}  // namespace

std::vector<std::string> TransferCase::figures() const {
    std::vector<std::string> names;
    for (const auto* way : {"", ".whole"}) {
        if (*way != '\0' && !whole) continue;
        for (const auto* figure : {"throughput", "rows"})
            names.push_back(fmt::format("transfer.{}{}.{}", name, way, figure));
    }
    return names;
}

std::vector<TransferCase> transfer_cases() {
    return {{"five_columns", "i, i * 2 as b, i * 3 as c, i::double as d, i % 100 as e", 1, true},
            {"bigint", "i * 7919 as v", 1},
            {"double", "i * 0.25::double as v", 1},
            {"varchar_short", "'sym' || (i % 1000) as v", 0.5},
            {"varchar_long", "repeat('x', 180) || i as v", 0.05},
            {"timestamp", "make_timestamp(i * 1000000) as v", 1},
            {"decimal", "((i % 1000000) / 100)::decimal(18, 2) as v", 1},
            {"list", "[i, i + 1, i + 2, i + 3] as v", 0.2}};
}

Result<std::vector<Metric>> run_transfer(const std::vector<TransferCase>& cases,
                                         const TransferOptions& options, Progress& progress) {
    progress.expect(cases.size() + 1);
    progress.step("transfer, making the data");
    auto stage = start(cases, options);
    if (!stage) return tl::unexpected(stage.error());
    std::vector<Metric> metrics;
    for (const auto& one : cases) {
        progress.step("transfer." + one.name);
        if (auto done = measure(one, options, *stage, metrics); !done)
            return tl::unexpected(done.error());
    }
    return metrics;
}

}  // namespace shortq::bench
