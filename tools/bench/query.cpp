#include "tools/bench/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <thread>
#include <utility>

#include "tools/bench/discard.h"
#include "tools/bench/kdb_asker.h"
#include "tools/bench/shortq_server.h"
#include "tools/bench/statistics.h"
#include "tools/bench/stopwatch.h"
#include "tools/bench/target.h"
#include "tools/ticks/script.h"
#include "worker/engine/engine.h"

namespace shortq::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kInProcess = "one by one in process";

struct MixedQuery {
    const char* name;
    const char* text;
};
// From rows of one file to sums over all of them.
constexpr std::array<MixedQuery, 6> kMix{{
    {"blocks", "select sym, price from trade where size > 50000 order by time limit 100"},
    {"summary",
     "select sym, count(*) as trades, min(price), max(price), sum(size) from trade group by sym "
     "order by sym"},
    {"vwap",
     "select date_trunc('minute', time) as minute, sum(price * size) / sum(size) as vwap "
     "from trade where sym = 'IBM' and date = '2024-01-08' group by minute order by minute"},
    {"last", "select sym, arg_max(price, time) as price from trade group by sym order by sym"},
    {"spread", "select sym, avg(ask - bid) as spread from quote group by sym order by sym"},
    {"asof",
     "select avg(t.price - q.bid) as edge from trade t asof join quote q on t.sym = q.sym and "
     "t.time >= q.time where t.sym = 'IBM' and q.sym = 'IBM' and t.date = '2024-01-08' and "
     "q.date = '2024-01-08'"},
}};

// Clients that ask all queries of the mix, of a server with so many workers.
struct Cell {
    unsigned clients = 1;
    unsigned workers = 1;
};
constexpr std::array<Cell, 5> kCells{{{1, 1}, {4, 1}, {4, 2}, {4, 4}, {16, 4}}};

// ---- Figures

constexpr const char* kTiny = "query.select1.p50";
constexpr const char* kTinyByKdb = "query.select1.kdb.p50";
constexpr const char* kTinyToProxy = "query.select1.to_proxy.p50";

std::string figure_of(const MixedQuery& query) {
    return fmt::format("query.single.{}.p50", query.name);
}

std::string figure_of(const Cell& cell) {
    return fmt::format("query.mix.c{}.w{}.throughput", cell.clients, cell.workers);
}

struct Wanted {
    bool tiny = false;
    bool tiny_by_kdb = false;
    std::vector<MixedQuery> queries{};
    std::vector<Cell> cells{};
};

Wanted select(const std::function<bool(const std::string&)>& wants) {
    Wanted wanted;
    wanted.tiny = wants(kTiny) || wants(kTinyToProxy);
    wanted.tiny_by_kdb = wants(kTinyByKdb);
    const auto names_one = [&](const auto& candidate) { return wants(figure_of(candidate)); };
    std::ranges::copy_if(kMix, std::back_inserter(wanted.queries), names_one);
    std::ranges::copy_if(kCells, std::back_inserter(wanted.cells), names_one);
    return wanted;
}

Result<std::unique_ptr<engine::Engine>> load_engine(const std::filesystem::path& source,
                                                    unsigned threads) {
    engine::EngineOptions options;
    options.threads = threads;
    auto engine = engine::make_engine("duckdb", options);
    if (!engine) return engine;
    if (auto loaded = (*engine)->load(source); !loaded) return tl::unexpected(loaded.error());
    return engine;
}

Result<void> run_in(engine::Engine& engine, std::string_view text) {
    Discard sink;
    return engine.run({text, {}}, sink);
}

Result<void> ask(Client& client, std::string_view text) {
    if (const auto table = client.deferred(text); !table) return tl::unexpected(table.error());
    return {};
}

// ---- Latencies

// Again and again for a while; the median time, in microseconds.
using Action = std::function<Result<void>()>;
Result<double> median_us(const Action& action, std::chrono::milliseconds length) {
    std::vector<double> took;
    const auto start = Clock::now();
    do {
        const auto begun = Clock::now();
        if (auto done = action(); !done) return tl::unexpected(done.error());
        took.push_back(seconds_since(begun) * 1e6);
    } while (Clock::now() - start < length);
    return median(std::move(took));
}

std::function<Result<double>()> side(Action action, std::chrono::milliseconds length) {
    return [action = std::move(action), length] { return median_us(action, length); };
}

std::vector<double> sums(const std::vector<double>& one, const std::vector<double>& other) {
    std::vector<double> all;
    for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i)
        all.push_back(one[i] + other[i]);
    return all;
}

// `select 1` has next to nothing to do: what it takes is the way there and back, and what the
// engine needs for it. Echoes tell the way, the engine in this process the rest.
Result<void> measure_tiny(const QueryBenchOptions& options, std::vector<Metric>& out) {
    constexpr const char* kQuery = "select 1";
    const TemporaryFolder folder;
    const auto script = folder.path() / "startup.sql";
    std::ofstream(script) << "select 1;\n";
    const auto engine = load_engine(script, 1);
    if (!engine) return tl::unexpected(engine.error());
    const auto server = ShortqServer::start({"--threads", "1", "1", script.string()});
    if (!server) return tl::unexpected(server.error());
    auto client = server->connect();
    if (!client) return tl::unexpected(client.error());
    const Site site{.workers = 1, .transport = Transport::kIpc};
    const auto echo_server = start_shortq(site, {});
    if (!echo_server) return tl::unexpected(echo_server.error());
    const auto echo = echo_server->client->connect("1");
    if (!echo) return tl::unexpected(echo.error());
    const auto proxy = start_proxy(site);
    if (!proxy) return tl::unexpected(proxy.error());
    const auto proxied = (*proxy)->connect("1");
    if (!proxied) return tl::unexpected(proxied.error());
    const auto took = interleave<double>(
        options.rounds, {side([&] { return ask(*client, kQuery); }, options.measured),
                         side([&] { return (*echo)->exchange(); }, options.measured),
                         side([&] { return (*proxied)->exchange(); }, options.measured),
                         side([&] { return run_in(**engine, kQuery); }, options.measured)});
    if (!took) return tl::unexpected(took.error());
    const auto& all = *took;
    out.push_back({kTiny, "us", all[0], "shortq's echo + in process", sums(all[1], all[3])});
    out.push_back(
        {kTinyToProxy, "us", all[0], "zmq_proxy's echo + in process", sums(all[2], all[3])});
    return {};
}

// Through the kdb+ door and through the native one, both by TCP.
Result<void> measure_tiny_by_kdb(const QueryBenchOptions& options, std::vector<Metric>& out) {
    constexpr const char* kQuery = "select 1";
    const TemporaryFolder folder;
    const auto script = folder.path() / "startup.sql";
    std::ofstream(script) << "";
    const auto port = free_port();
    const auto server = ShortqServer::start(
        {"--kdb-port", std::to_string(port), "1", script.string()}, Transport::kTcp);
    if (!server) return tl::unexpected(server.error());
    auto native = server->connect();
    if (!native) return tl::unexpected(native.error());
    auto asker = KdbAsker::connect(port);
    if (!asker) return tl::unexpected(asker.error());
    const auto took = interleave<double>(
        options.rounds, {side([&] { return asker->ask(kQuery); }, options.measured),
                         side([&] { return ask(*native, kQuery); }, options.measured)});
    if (!took) return tl::unexpected(took.error());
    out.push_back({kTinyByKdb, "us", (*took)[0], "the native door", (*took)[1]});
    return {};
}

// Each query of the mix with nothing beside it: with as many threads, only the way differs.
Result<void> measure_single(const std::vector<MixedQuery>& queries,
                            const std::filesystem::path& ticks, const QueryBenchOptions& options,
                            engine::Engine& engine, std::vector<Metric>& out) {
    const auto server = ShortqServer::start({"1", ticks.string()});
    if (!server) return tl::unexpected(server.error());
    auto client = server->connect();
    if (!client) return tl::unexpected(client.error());
    for (const auto& query : queries) {
        const auto took = interleave<double>(
            options.rounds, {side([&] { return ask(*client, query.text); }, options.measured),
                             side([&] { return run_in(engine, query.text); }, options.measured)});
        if (!took) return tl::unexpected(took.error());
        out.push_back({figure_of(query), "us", (*took)[0], kInProcess, (*took)[1]});
    }
    return {};
}

// ---- The mix

// Every query once, beginning with another one than the other clients.
Result<void> ask_mix(Client& client, std::size_t first) {
    for (std::size_t i = 0; i < kMix.size(); ++i) {
        if (auto done = ask(client, kMix[(first + i) % kMix.size()].text); !done) return done;
    }
    return {};
}

// Queries a second of all clients together.
Result<double> mix_throughput(std::vector<Client>& clients) {
    const auto start = Clock::now();
    std::vector<Result<void>> done(clients.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < clients.size(); ++i)
        threads.emplace_back([&, i] { done[i] = ask_mix(clients[i], i); });
    for (auto& thread : threads) thread.join();
    for (const auto& one : done) {
        if (!one) return tl::unexpected(one.error());
    }
    return static_cast<double>(kMix.size() * clients.size()) / seconds_since(start);
}

Result<double> mix_in_process(engine::Engine& engine) {
    const auto start = Clock::now();
    for (const auto& query : kMix) {
        if (auto done = run_in(engine, query.text); !done) return tl::unexpected(done.error());
    }
    return static_cast<double>(kMix.size()) / seconds_since(start);
}

Result<void> measure_mix(const Cell& cell, const std::filesystem::path& ticks,
                         const QueryBenchOptions& options, engine::Engine& engine,
                         std::vector<Metric>& out) {
    const auto server = ShortqServer::start({std::to_string(cell.workers), ticks.string()});
    if (!server) return tl::unexpected(server.error());
    std::vector<Client> clients;
    for (unsigned i = 0; i < cell.clients; ++i) {
        auto client = server->connect();
        if (!client) return tl::unexpected(client.error());
        clients.push_back(std::move(*client));
    }
    if (auto warm = mix_throughput(clients); !warm) return tl::unexpected(warm.error());
    const auto rates = interleave<double>(options.rounds, {[&] { return mix_throughput(clients); },
                                                           [&] { return mix_in_process(engine); }});
    if (!rates) return tl::unexpected(rates.error());
    out.push_back({figure_of(cell), "queries/s", (*rates)[0], kInProcess, (*rates)[1]});
    return {};
}

Result<std::filesystem::path> write_ticks(const std::filesystem::path& folder,
                                          const QueryBenchOptions& options) {
    auto ticks = folder / "ticks";
    std::filesystem::create_directory(ticks);
    const auto script = folder / "ticks.sql";
    std::ofstream(script) << ticks::tick_script(
        {.days = options.days, .trades_per_day = options.trades}, ticks);
    // A startup script may write files: loading it is all there is to do.
    if (const auto written = load_engine(script, 1); !written)
        return tl::unexpected(written.error());
    return ticks;
}

// What has ticks.
Result<void> measure_ticks(const Wanted& wanted, const QueryBenchOptions& options,
                           Progress& progress, std::vector<Metric>& out) {
    const TemporaryFolder folder;
    progress.step("query, making the ticks");
    const auto ticks = write_ticks(folder.path(), options);
    if (!ticks) return tl::unexpected(ticks.error());
    const auto engine = load_engine(*ticks, std::max(1U, std::thread::hardware_concurrency()));
    if (!engine) return tl::unexpected(engine.error());
    if (auto warm = mix_in_process(**engine); !warm) return tl::unexpected(warm.error());
    if (!wanted.queries.empty()) {
        progress.step("query.single");
        if (auto done = measure_single(wanted.queries, *ticks, options, **engine, out); !done)
            return done;
    }
    for (const auto& cell : wanted.cells) {
        progress.step(figure_of(cell));
        if (auto done = measure_mix(cell, *ticks, options, **engine, out); !done) return done;
    }
    return {};
}

}  // namespace

Result<std::vector<Metric>> run_query(const std::function<bool(const std::string&)>& wants,
                                      const QueryBenchOptions& options, Progress& progress) {
    const auto wanted = select(wants);
    progress.expect(4 + wanted.cells.size());
    std::vector<Metric> metrics;
    if (wanted.tiny) {
        progress.step(kTiny);
        if (auto done = measure_tiny(options, metrics); !done) return tl::unexpected(done.error());
    }
    if (wanted.tiny_by_kdb) {
        progress.step(kTinyByKdb);
        if (auto done = measure_tiny_by_kdb(options, metrics); !done)
            return tl::unexpected(done.error());
    }
    if (wanted.queries.empty() && wanted.cells.empty()) return metrics;
    if (auto done = measure_ticks(wanted, options, progress, metrics); !done)
        return tl::unexpected(done.error());
    return metrics;
}

}  // namespace shortq::bench
