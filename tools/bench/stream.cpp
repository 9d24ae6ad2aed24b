#include "tools/bench/stream.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "shortq/client.h"
#include "tools/bench/child.h"
#include "tools/bench/discard.h"
#include "tools/bench/memory_peak.h"
#include "tools/bench/processes.h"
#include "tools/bench/rounds.h"
#include "tools/bench/statistics.h"
#include "tools/bench/stopwatch.h"
#include "tools/bench/temporary_folder.h"
#include "worker/engine/engine.h"

namespace shortq::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMegabyte = 1e6;

std::string query_of(std::uint64_t rows) {
    return fmt::format(
        "select i, i * 2 as b, i * 3 as c, i::double as d, i % 100 as e from range({}) t(i)", rows);
}

Result<Client> connect(const Child& primary) {
    ConnectOptions options;
    options.endpoints = {endpoint_in(primary.first_line())};
    options.wait_until_ready = true;
    return Client::connect(options);
}

// Reads on to the end: at the slow pace until `slow_until`, or until `stop`, and then as fast as
// it comes. The bytes read.
Result<std::uint64_t> read(Stream& stream, std::uint64_t slow_bytes, Clock::time_point slow_until,
                           const std::atomic<bool>* stop = nullptr) {
    const auto start = Clock::now();
    while (stop == nullptr || !*stop) {
        const auto rows = stream.next();
        if (!rows) return tl::unexpected(rows.error());
        if (!*rows) break;
        const auto read = stream.facts().bytes;
        const std::chrono::duration<double> due{static_cast<double>(read) /
                                                static_cast<double>(slow_bytes)};
        const auto next = start + std::chrono::duration_cast<Clock::duration>(due);
        if (Clock::now() < slow_until) std::this_thread::sleep_until(std::min(next, slow_until));
    }
    return stream.facts().bytes;
}

// ---- Memory

Result<void> measure_memory(const Child& primary, Client& reader, const StreamOptions& options,
                            std::vector<Metric>& out) {
    auto workers = family_of(primary.pid());
    std::erase(workers, primary.pid());
    const MemoryPeak of_primary({primary.pid()});
    const MemoryPeak of_workers(workers);
    const MemoryPeak of_client({::getpid()});
    auto stream = reader.stream(query_of(options.rows));
    if (!stream) return tl::unexpected(stream.error());
    const auto done = read(*stream, options.slow_bytes, Clock::now() + options.slow);
    if (!done) return tl::unexpected(done.error());
    if (stream->facts().rows != options.rows)
        return fail(ErrorCode::kInternal, fmt::format("{} rows came", stream->facts().rows));
    const auto add = [&](const char* who, const MemoryPeak& peak) {
        out.push_back({fmt::format("stream.memory.{}", who),
                       "MB",
                       {static_cast<double>(peak.grown_bytes()) / kMegabyte},
                       "the result",
                       {static_cast<double>(*done) / kMegabyte}});
    };
    add("primary", of_primary);
    add("worker", of_workers);
    add("client", of_client);
    return {};
}

// ---- Short queries

struct Asked {
    double per_second = 0;
    double p50_us = 0;
};

// One after the other for the time of a round.
Result<Asked> ask(Client& client, std::chrono::milliseconds round) {
    const auto start = Clock::now();
    std::vector<double> took;
    while (Clock::now() - start < round) {
        const auto begun = Clock::now();
        const auto table = client.deferred("select 1");
        if (!table) return tl::unexpected(table.error());
        took.push_back(seconds_since(begun) * 1e6);
    }
    const auto per_second = static_cast<double>(took.size()) / seconds_since(start);
    return Asked{per_second, median(std::move(took))};
}

// The same, while another client reads rows slowly.
Result<Asked> ask_beside(Client& client, Client& reader, const StreamOptions& options) {
    // It has no end, so that the worker is held for all of the round.
    auto stream = reader.stream(query_of(1'000'000'000'000));
    if (!stream) return tl::unexpected(stream.error());
    if (auto first = stream->next(); !first) return tl::unexpected(first.error());
    std::atomic<bool> stop = false;
    std::optional<Error> error;
    std::thread slow([&] {
        const auto done = read(*stream, options.slow_bytes, Clock::time_point::max(), &stop);
        if (!done) error = done.error();
    });
    auto asked = ask(client, options.round);
    stop = true;
    slow.join();
    if (error) return tl::unexpected(*error);
    return asked;
}

Result<void> measure_short_queries(Client& client, Client& reader, const StreamOptions& options,
                                   std::vector<Metric>& out) {
    const auto asked =
        interleave<Asked>({options.rounds}, {[&] { return ask_beside(client, reader, options); },
                                             [&] { return ask(client, options.round); }});
    if (!asked) return tl::unexpected(asked.error());
    const auto add = [&](const char* figure, const char* unit, auto member) {
        Metric metric{fmt::format("stream.short_queries.{}", figure), unit, {}, "no reader beside"};
        for (const auto& one : asked->front()) metric.samples.push_back(one.*member);
        for (const auto& one : asked->back()) metric.baseline_samples.push_back(one.*member);
        out.push_back(std::move(metric));
    };
    add("throughput", "queries/s", &Asked::per_second);
    add("p50", "us", &Asked::p50_us);
    return {};
}

// ---- Full speed

// The engine by itself, with as many threads as a worker has; rows a second.
Result<double> engine_speed(engine::Engine& engine, std::uint64_t rows) {
    Discard sink;
    const auto query = query_of(rows);
    const auto start = Clock::now();
    if (auto ran = engine.run({query, {}}, sink); !ran) return tl::unexpected(ran.error());
    return static_cast<double>(sink.rows) / seconds_since(start);
}

Result<double> streaming_speed(Client& reader, const StreamOptions& options) {
    const auto start = Clock::now();
    auto stream = reader.stream(query_of(options.rows));
    if (!stream) return tl::unexpected(stream.error());
    if (auto bytes = read(*stream, options.slow_bytes, start); !bytes)
        return tl::unexpected(bytes.error());
    return static_cast<double>(options.rows) / seconds_since(start);
}

Result<double> whole_speed(Client& reader, const StreamOptions& options) {
    const auto start = Clock::now();
    const auto table = reader.deferred(query_of(options.rows));
    if (!table) return tl::unexpected(table.error());
    return static_cast<double>(options.rows) / seconds_since(start);
}

Result<void> measure_speed(Client& reader, const StreamOptions& options, std::vector<Metric>& out) {
    engine::EngineOptions engine_options;
    engine_options.threads = std::max(1U, std::thread::hardware_concurrency() / 2);
    auto engine = engine::make_engine("duckdb", engine_options);
    if (!engine) return tl::unexpected(engine.error());
    if (auto loaded = (*engine)->load({}); !loaded) return loaded;
    const auto speeds = interleave<double>({options.rounds},
                                           {[&] { return streaming_speed(reader, options); },
                                            [&] { return whole_speed(reader, options); },
                                            [&] { return engine_speed(**engine, options.rows); }});
    if (!speeds) return tl::unexpected(speeds.error());
    constexpr auto kAlone = "the engine alone";
    out.push_back({"stream.speed.streamed", "rows/s", (*speeds)[0], kAlone, (*speeds)[2]});
    out.push_back({"stream.speed.whole", "rows/s", (*speeds)[1], kAlone, (*speeds)[2]});
    return {};
}

}  // namespace

Result<std::vector<Metric>> run_stream(const StreamOptions& options, Progress& progress) {
    progress.expect(3);
    const TemporaryFolder folder;
    const auto source = folder.path() / "startup.sql";
    std::ofstream(source) << "select 1;\n";
    const auto primary = Child::start(
        {program_next_to_this_one("shortq"), "-p", "0", "--log-level", "warn", "2", source});
    if (!primary) return tl::unexpected(primary.error());
    auto reader = connect(*primary);
    if (!reader) return tl::unexpected(reader.error());
    auto client = connect(*primary);
    if (!client) return tl::unexpected(client.error());
    for (int i = 0; i < 100; ++i) {  // Everything has been used once.
        if (const auto warm = client->deferred("select 1"); !warm)
            return tl::unexpected(warm.error());
    }
    std::vector<Metric> metrics;
    progress.step("stream, memory, slow reader");
    if (auto done = measure_memory(*primary, *reader, options, metrics); !done)
        return tl::unexpected(done.error());
    progress.step("stream, short queries beside it");
    if (auto done = measure_short_queries(*client, *reader, options, metrics); !done)
        return tl::unexpected(done.error());
    progress.step("stream, speed");
    if (auto done = measure_speed(*reader, options, metrics); !done)
        return tl::unexpected(done.error());
    return metrics;
}

}  // namespace shortq::bench
