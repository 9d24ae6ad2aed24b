#include "tools/bench/start.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>
#include <utility>

#include "shortq/client.h"
#include "tools/bench/child.h"
#include "tools/bench/processes.h"
#include "tools/bench/short_queries.h"
#include "tools/bench/stopwatch.h"
#include "tools/bench/temporary_folder.h"

namespace shortq::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::minutes kPatience{10};  // For whatever takes long: the load of big data.
// A seat whose workers die soon after they became ready gets the next one after a pause, to spare
// the machine. One that has been ready for ten seconds is replaced at once.
constexpr std::chrono::milliseconds kUntilStable{10'500};
constexpr std::chrono::milliseconds kBeforeReload{700};  // Short queries are counted this long.
constexpr const char* kProbe = "select 1";

struct Source {
    std::string name;
    std::string path;
    std::string scan;
};

// A running server and a connection to it.
class Server {
public:
    static Result<Server> start(const std::string& source, const std::string& spawn,
                                unsigned workers) {
        auto primary =
            Child::start({program_next_to_this_one("shortq"), "-p", "0", "--spawn", spawn,
                          "--log-level", "warn", std::to_string(workers), source});
        if (!primary) return tl::unexpected(primary.error());
        ConnectOptions options;
        options.endpoints = {endpoint_in(primary->first_line())};
        options.connect_timeout = kPatience;
        options.wait_until_ready = true;
        auto client = Client::connect(options);
        if (!client) return tl::unexpected(client.error());
        return Server(std::move(*primary), std::move(*client), workers);
    }

    [[nodiscard]] pid_t pid() const { return primary_.pid(); }

    // Until every worker can answer.
    Result<void> wait_until_ready() {
        return until("not all workers became ready", [this]() -> Result<bool> {
            const auto ready = number("select count(*) from shortq.workers where state = 'ready'");
            if (!ready) return tl::unexpected(ready.error());
            return *ready == workers_;
        });
    }

    // Until every worker has run `query`.
    Result<void> run_everywhere(const std::string& query) {
        std::set<std::uint32_t> missing = all_seats();
        return until("a worker gets no query", [&]() -> Result<bool> {
            const auto answered = run_at_once(query);
            if (!answered) return tl::unexpected(answered.error());
            for (const auto seat : *answered) missing.erase(seat);
            return missing.empty();
        });
    }

    // Kills the worker on a seat; milliseconds until the one that follows has answered a query.
    Result<double> replace(std::uint32_t seat) {
        const auto pid_query = fmt::format("select pid from shortq.workers where id = {}", seat);
        const auto pid = number(pid_query);
        if (!pid) return tl::unexpected(pid.error());
        const auto start = Clock::now();
        if (*pid <= 1 || ::kill(static_cast<pid_t>(*pid), SIGKILL) != 0)
            return fail(ErrorCode::kInternal, "the worker cannot be killed");
        // Nothing was under way, so that whatever the seat answers from now on is the successor's.
        auto back = until("a killed worker does not come back", [&]() -> Result<bool> {
            const auto answered = run_at_once(kProbe);
            if (!answered) return tl::unexpected(answered.error());
            return answered->contains(seat);
        });
        if (!back) return tl::unexpected(back.error());
        const auto took = seconds_since(start) * 1000;
        const auto successor = number(pid_query);
        if (!successor) return tl::unexpected(successor.error());
        if (*successor == *pid) return fail(ErrorCode::kInternal, "the worker was not replaced");
        return took;
    }

    // Seconds until a reload has answered.
    Result<double> reload() {
        const auto start = Clock::now();
        QueryOptions options;
        options.timeout = kPatience;
        const auto answered = client_.sync("call shortq_reload()", {}, options);
        if (!answered) return tl::unexpected(answered.error());
        return seconds_since(start);
    }

    // Until nothing is left of the generation before.
    Result<void> wait_until_alone() {
        return until("an old generation does not leave", [this]() -> Result<bool> {
            const auto count = number("select count(*) from shortq.generations");
            if (!count) return tl::unexpected(count.error());
            return *count == 1;
        });
    }

    [[nodiscard]] std::string endpoint() const { return endpoint_in(primary_.first_line()); }

private:
    Server(Child primary, Client client, unsigned workers)
        : primary_(std::move(primary)), client_(std::move(client)), workers_(workers) {}

    template <class Condition>
    static Result<void> until(const char* otherwise, Condition holds) {
        constexpr std::chrono::milliseconds kBetweenLooks{1};  // Asking is not to be the load.
        for (const auto start = Clock::now(); Clock::now() - start < kPatience;) {
            const auto so = holds();
            if (!so) return tl::unexpected(so.error());
            if (*so) return {};
            std::this_thread::sleep_for(kBetweenLooks);
        }
        return fail(ErrorCode::kTimeout, otherwise);
    }

    [[nodiscard]] std::set<std::uint32_t> all_seats() const {
        std::set<std::uint32_t> seats;
        for (std::uint32_t seat = 1; seat <= workers_; ++seat) seats.insert(seat);
        return seats;
    }

    // One query for each worker; the seats that answered.
    Result<std::set<std::uint32_t>> run_at_once(const std::string& query) {
        QueryOptions options;
        options.timeout = kPatience;
        std::vector<Submitted> submitted;
        for (unsigned i = 0; i < workers_; ++i)
            submitted.push_back(client_.submit(query, {}, options));
        std::set<std::uint32_t> seats;
        for (auto& one : submitted) {
            const auto table = one.reply.get();
            if (!table) return tl::unexpected(table.error());
            seats.insert(table->facts().worker);
        }
        return seats;
    }

    Result<std::int64_t> number(const std::string& query) {
        const auto table = client_.sync(query);
        if (!table) return tl::unexpected(table.error());
        if (table->rows() != 1) return fail(ErrorCode::kInternal, "not one row", query);
        return table->integer(0, 0);
    }

    Child primary_;
    Client client_;
    unsigned workers_;
};

Result<void> kill_each(Server& server, unsigned kills, StartRow& row) {
    for (unsigned round = 0; round < kills; ++round) {
        if (round > 0) std::this_thread::sleep_for(kUntilStable);
        for (std::uint32_t seat = 1; seat <= row.workers; ++seat) {
            const auto replaced = server.replace(seat);
            if (!replaced) return tl::unexpected(replaced.error());
            row.replaced_ms.push_back(*replaced);
        }
    }
    return {};
}

// As many short queries at a time as there are workers, before each reload and during it.
Result<void> reload_under_load(Server& server, unsigned reloads, StartRow& row) {
    if (reloads == 0) return {};
    auto queries = ShortQueries::start(server.endpoint(), row.workers);
    if (!queries) return tl::unexpected(queries.error());
    for (unsigned round = 0; round < reloads; ++round) {
        if (auto alone = server.wait_until_alone(); !alone) return alone;
        (*queries)->begin_count();
        std::this_thread::sleep_for(kBeforeReload);
        row.asked_before.push_back((*queries)->per_second());
        (*queries)->begin_count();
        const auto took = server.reload();
        if (!took) return tl::unexpected(took.error());
        row.asked_during.push_back((*queries)->per_second());
        row.reload_s.push_back(*took);
    }
    if (auto stopped = (*queries)->stop(); !stopped) return stopped;
    return server.wait_until_alone();
}

// Starts the row's server, and adds how long it took.
Result<Server> start(const Source& source, StartRow& row, Progress& progress) {
    progress.step(fmt::format("start, {}, {}, workers: {}", row.source, row.spawn, row.workers));
    const auto start = Clock::now();
    auto server = Server::start(source.path, row.spawn, row.workers);
    if (!server) return server;
    if (auto ready = server->wait_until_ready(); !ready) return tl::unexpected(ready.error());
    row.ready_s.push_back(seconds_since(start));
    return server;
}

Result<void> measure(const Source& source, const StartOptions& options, StartRow& row,
                     Progress& progress) {
    auto server = start(source, row, progress);
    if (!server) return tl::unexpected(server.error());
    if (auto run = server->run_everywhere(source.scan); !run) return run;
    const auto memory = proportional_bytes(family_of(server->pid()));
    if (!memory) return tl::unexpected(memory.error());
    row.memory_mb = static_cast<double>(*memory) / (1024 * 1024);
    if (auto done = reload_under_load(*server, options.reloads, row); !done) return done;
    return kill_each(*server, options.kills, row);
}

// The rows of one source and way to spawn, which are compared with each other.
Result<std::vector<StartRow>> compare(const Source& source, const std::string& spawn,
                                      const StartOptions& options, Progress& progress) {
    std::vector<StartRow> rows;
    for (const unsigned workers : options.workers)
        rows.push_back({.source = source.name, .spawn = spawn, .workers = workers});
    for (unsigned round = 1; round < options.starts; ++round) {
        for (auto& row : rows) {
            if (auto server = start(source, row, progress); !server)
                return tl::unexpected(server.error());
        }
    }
    for (auto& row : rows) {
        if (auto done = measure(source, options, row, progress); !done)
            return tl::unexpected(done.error());
    }
    return rows;
}

// ---- Sources

Result<std::string> write_script(const std::filesystem::path& path, const std::string& sql) {
    std::ofstream file(path);
    file << sql;
    if (!file.flush()) return fail(ErrorCode::kInternal, std::strerror(errno), path.string());
    return path.string();
}

// A table t of four columns, made by a script, and a database file with the same table.
Result<std::vector<Source>> generate(const std::filesystem::path& folder, std::uint64_t rows) {
    const auto select = fmt::format(
        "select i as id, (i * 7919) % 1000000 as k, hash(i) % 1000003 as h, (i % 9973) * "
        "0.25::double as v from range({}) g(i)",
        rows);
    const std::string scan = "select count(*), max(id), sum(k), sum(h), sum(v) from t";
    const auto script = write_script(folder / "load.sql", "create table t as " + select + ";\n");
    if (!script) return tl::unexpected(script.error());
    const auto file = (folder / "table.duckdb").string();
    const auto maker =
        write_script(folder / "make.sql", fmt::format("attach '{}' as f;\ncreate table f.t as {};\n"
                                                      "detach f;\n",
                                                      file, select));
    if (!maker) return tl::unexpected(maker.error());
    // Ends at once: its script has made the file.
    if (auto made = Server::start(*maker, "exec", 1); !made) return tl::unexpected(made.error());
    return std::vector<Source>{{"in memory", *script, scan}, {"in a file", file, scan}};
}

}  // namespace

void make_quick(StartOptions& options) {
    constexpr std::uint64_t kRowsOfQuick = 2'000'000;
    options.rows = std::min(options.rows, kRowsOfQuick);
    options.starts = std::min(options.starts, 2U);
    options.kills = std::min(options.kills, 1U);
    options.reloads = std::min(options.reloads, 1U);
}

Result<std::vector<StartRow>> run_start(const StartOptions& options, Progress& progress) {
    progress.step("start, making the data");
    const TemporaryFolder folder;
    auto sources = options.source.empty()
                       ? generate(folder.path(), options.rows)
                       : std::vector<Source>{{options.source, options.source, options.scan}};
    if (!sources) return tl::unexpected(sources.error());
    progress.expect(1 + sources->size() * options.spawns.size() * options.workers.size() *
                            options.starts);
    std::vector<StartRow> rows;
    for (const auto& source : *sources) {
        for (const auto& spawn : options.spawns) {
            auto compared = compare(source, spawn, options, progress);
            if (!compared) return compared;
            rows.insert(rows.end(), compared->begin(), compared->end());
        }
    }
    return rows;
}

}  // namespace shortq::bench
