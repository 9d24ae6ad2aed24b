#include "tests/soak/primary.h"

#include <fmt/format.h>

#include <csignal>
#include <map>
#include <regex>
#include <stdexcept>
#include <thread>
#include <utility>

namespace shortq::soak {
namespace {

std::vector<std::string> arguments_of(const Options& options, const std::string& script,
                                      std::uint16_t port) {
    // Its own session: Ctrl-C is for the soak alone. And if the soak is killed, it goes, too.
    return {"--pdeathsig", "KILL", "setsid", SHORTQ_PROGRAM, "--port", std::to_string(port),
            "--spawn", options.spawn, "--window", std::to_string(options.window),
            // Small limits, so that they are met.
            "--memory-limit", "1G", "--max-pending", "2000", "--max-pending-per-client", "300",
            "--grace", "1", "--stall", "10", "--drain", "5", std::to_string(options.workers),
            script};
}

}  // namespace

Primary::Primary(const Options& options, std::string script)
    : options_(options), script_(std::move(script)) {}

void Primary::launch() {
    auto program =
        std::make_shared<test::Program>("/usr/bin/setpriv", arguments_of(options_, script_, port_));
    std::string line;
    const bool came = test::wait_until([&] {
        line = program->out();
        return line.ends_with('\n') || program->wait(std::chrono::milliseconds(0));
    });
    static const std::regex kReady(R"(ready tcp://127\.0\.0\.1:(\d+) workers=.*\n)");
    std::smatch match;
    if (!came || !std::regex_match(line, match, kReady))
        throw std::runtime_error("no ready line but \"" + line + "\"; log:\n" + program->err());
    port_ = static_cast<std::uint16_t>(std::stoi(match[1]));
    pid_ = program->pid();
    const std::scoped_lock lock(mutex_);
    program_ = std::move(program);
}

void Primary::start() { launch(); }

void Primary::kill_and_restart() {
    const auto old = program();
    old->signal(SIGKILL);
    static_cast<void>(old->wait());
    {
        const std::scoped_lock lock(mutex_);
        earlier_log_ += old->err() + "---- killed here\n";
    }
    launch();
}

void Primary::ask_for_restart() {
    restart_asked_ = true;
    restart_asked_.wait(true);
}

void Primary::restart_if_asked() {
    if (!restart_asked_) return;
    const auto done = [this] {
        restart_asked_ = false;
        restart_asked_.notify_all();
    };
    try {
        kill_and_restart();
    } catch (...) {
        done();
        throw;
    }
    done();
}

std::optional<ExitStatus> Primary::stop() {
    const auto last = program();
    last->signal(SIGCONT);
    last->signal(SIGTERM);
    return last->wait();
}

std::shared_ptr<test::Program> Primary::program() const {
    const std::scoped_lock lock(mutex_);
    return program_;
}

std::string Primary::endpoint() const { return fmt::format("tcp://127.0.0.1:{}", port_.load()); }

std::vector<test::ProcessInfo> Primary::family() const { return program()->family(); }

std::string Primary::log() const {
    const auto last = program();
    const std::scoped_lock lock(mutex_);
    return earlier_log_ + (last ? last->err() : "");
}

std::vector<pid_t> Primary::named(const std::string& name) const {
    std::vector<pid_t> found;
    for (const auto& process : family()) {
        if (process.name == name) found.push_back(process.pid);
    }
    return found;
}

std::int64_t number(Client& control, const std::string& query) {
    const auto table = control.sync(query);
    return table && table->rows() > 0 ? table->integer(0, 0).value_or(-1) : -1;
}

namespace {

// The counters and gauges. The question itself is a request that is under way.
std::string unrest_of_stats(Client& control) {
    const std::string query = "select name, value from shortq.stats";
    const auto table = control.sync(query);
    if (!table) return "no stats: " + table.error().message;
    std::map<std::string, std::int64_t> stats;
    for (std::uint64_t row = 0; row < table->rows(); ++row)
        stats[table->text(row, 0)] = table->integer(row, 1).value_or(-1);
    std::string found;
    const auto expect = [&](const std::string& what, std::int64_t is, std::int64_t expected) {
        if (is != expected) found += fmt::format("{} is {}, not {}; ", what, is, expected);
    };
    expect("requests_queued", stats["requests_queued"], 0);
    expect("requests_at_workers, but for the question", stats["requests_at_workers"] - 1, 0);
    expect("requests_abandoned", stats["requests_abandoned"], 0);
    expect("request_bytes, but for the question",
           stats["request_bytes"] - static_cast<std::int64_t>(query.size()), 0);
    expect("accepted - answered - failed - dropped, but for the question",
           stats["requests_accepted"] - stats["requests_answered"] - stats["requests_failed"] -
               stats["requests_dropped"] - 1,
           0);
    return found;
}

}  // namespace

std::string unrest(Client& control, unsigned workers, std::size_t clients) {
    auto found = unrest_of_stats(control);
    const auto expect = [&](const std::string& query, std::int64_t expected) {
        const auto is = number(control, query);
        if (is != expected) found += fmt::format("{} is {}, not {}; ", query, is, expected);
    };
    expect("select count(*) from shortq.queries", 1);
    expect("select count(*) from shortq.workers", workers);
    expect(
        "select count(*) from shortq.workers where state = 'ready' and pending = 0 and "
        "running is null",
        workers);
    expect("select count(*) from shortq.generations", 1);
    expect("select sum(pending) from shortq.clients", 1);
    if (clients > 0) expect("select count(*) from shortq.clients", std::int64_t(clients));
    return found;
}

}  // namespace shortq::soak
