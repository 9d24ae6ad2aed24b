#include "tests/soak/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <sstream>
#include <vector>

#include "tests/patience.h"
#include "tests/soak/connect.h"
#include "tests/soak/judge.h"

namespace shortq::soak {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kFaultsStream = 1;
constexpr int kPoisonKills = 2;  // A query that takes its workers along takes two at most.
constexpr milliseconds kSurelyBegun{500};
constexpr milliseconds kLook{20};
constexpr std::size_t kReloadsAtOnce = 2;
constexpr std::chrono::seconds kSignalIsOver{20};

std::string told(const Result<Table>& result) {
    return result ? "ok"
                  : std::string(name_of(result.error().code)) + ": " + result.error().message;
}

}  // namespace

Faults::Faults(const Options& options, Parts parts)
    : options_(options), parts_(parts), random_(options.seed, kFaultsStream) {}

void Faults::run() try {
    auto control = connect_to(parts_.primary.endpoint(), "soak faults");
    // Many in a short run, too.
    const auto longest_pause =
        std::clamp(options_.length / 15, milliseconds(300), milliseconds(2000));
    while (true) {
        pause(random_.milliseconds(50, longest_pause.count()));
        const Gate::Turn turn(parts_.gate);
        if (!turn) break;
        one(control);
    }
} catch (const std::exception& error) {
    parts_.ledger.wrong(std::string("the faults end: ") + error.what());
}

void Faults::pause(milliseconds duration) {
    const auto end = Clock::now() + duration;
    while (parts_.gate.is_open() && Clock::now() < end) {
        parts_.gate.pause(kLook);
        go_on(false);
        collect_reloads();
    }
    if (parts_.gate.is_open()) return;
    go_on(true);
    // At rest everything is well again, the script also.
    while (!reloads_.empty()) {
        reloads_.front().submitted.reply.wait();
        collect_reloads();
    }
}

void Faults::stop_for(pid_t pid, milliseconds duration, const std::string& what) {
    send(pid, SIGSTOP, "stop " + what);
    stopped_.push_back({pid, Clock::now() + duration, what});
}

void Faults::go_on(bool all) {
    std::erase_if(stopped_, [&](const Stopped& one) {
        if (!all && Clock::now() < one.until) return false;
        send(one.pid, SIGCONT, "continue " + one.what);
        return true;
    });
}

void Faults::one(Client& control) {
    // However short the run is, it has these.
    if (version_ == 1) return reload(control);
    if (counts_.worker_kills == 0) return kill_worker();
    auto draw = random_.between(1, options_.restarts ? 104 : 100);
    const auto within = [&](int weight) { return (draw -= weight) <= 0; };
    if (within(38)) return kill_worker();
    if (within(3)) return kill_several_workers();
    if (within(7)) return kill_by_call(control);
    if (within(6)) return drain_by_call(control);
    if (within(6)) return cancel_by_call(control);
    if (within(8)) return stop_worker();
    if (within(4)) return kill_fork_server();
    if (within(3)) return kill_fork_server_and_worker();
    if (within(3)) return stop_fork_server();
    if (within(2)) return stop_primary();
    if (within(9)) return reload(control);
    if (within(2)) return reload_twice(control);
    if (within(2)) return reload_by_signal();
    if (within(3)) return reload_broken(control);
    if (within(4)) return poison(control);
    return restart_primary();
}

void Faults::send(pid_t pid, int signal, const std::string& what) {
    if (pid <= 1) return;
    parts_.ledger.fault(fmt::format("{} {}", what, pid));
    ::kill(pid, signal);
}

// ---- Workers

void Faults::kill_worker() {
    const auto workers = parts_.primary.workers();
    if (workers.empty()) return;
    parts_.ledger.blow();
    send(random_.one_of(workers), SIGKILL, "kill worker");
    ++counts_.worker_kills;
}

void Faults::kill_several_workers() {
    for (const auto pid : parts_.primary.workers()) {
        if (random_.one_in(4)) continue;
        parts_.ledger.blow();
        send(pid, SIGKILL, "kill worker (several)");
        ++counts_.worker_kills;
    }
}

void Faults::kill_by_call(Client& control) {
    const auto seat = random_.between(1, options_.workers);
    parts_.ledger.fault(fmt::format("call shortq_kill({})", seat));
    if (control.sync(fmt::format("call shortq_kill({})", seat))) ++counts_.worker_kills;
}

void Faults::drain_by_call(Client& control) {
    const auto seat = random_.between(1, options_.workers);
    parts_.ledger.fault(fmt::format("call shortq_drain({})", seat));
    static_cast<void>(control.sync(fmt::format("call shortq_drain({})", seat)));
    ++counts_.calls;
}

void Faults::cancel_by_call(Client& control) {
    const auto query = control.sync(
        "select id, regexp_extract(text, '\\d+')::bigint from shortq.queries where text like "
        "'select%' and text not like '%shortq.%' order by random() limit 1");
    if (!query || query->rows() == 0) return;
    const auto serial = query->integer(0, 0).value_or(0);
    const auto request = query->integer(0, 1).value_or(0);
    if (!parts_.ledger.allow_cancel(static_cast<std::uint64_t>(request))) return;
    parts_.ledger.fault(fmt::format("call shortq_cancel({}) of request {}", serial, request));
    static_cast<void>(control.sync(fmt::format("call shortq_cancel({})", serial)));
    ++counts_.calls;
}

void Faults::stop_worker() {
    const auto workers = parts_.primary.workers();
    if (workers.empty()) return;
    ++counts_.worker_stops;
    parts_.ledger.blow();
    // Beyond the silence that the primary bears it is killed.
    stop_for(random_.one_of(workers),
             random_.one_in(3) ? milliseconds(8000) : random_.milliseconds(10, 3000), "worker");
}

// ---- Fork servers

void Faults::kill_fork_server() {
    for (const auto pid : parts_.primary.fork_servers()) {
        send(pid, SIGKILL, "kill fork server");
        ++counts_.fork_server_kills;
    }
}

void Faults::kill_fork_server_and_worker() {
    kill_worker();
    kill_fork_server();
}

void Faults::stop_fork_server() {
    const auto servers = parts_.primary.fork_servers();
    if (servers.empty()) return;
    ++counts_.fork_server_stops;
    // It takes ten seconds to be missed: meanwhile all workers may be killed.
    parts_.ledger.may_be_unavailable(std::chrono::seconds(40));
    stop_for(random_.one_of(servers),
             random_.one_in(3) ? milliseconds(12'000) : random_.milliseconds(10, 3000),
             "fork server");
    kill_worker();
}

// ---- The primary

void Faults::stop_primary() {
    ++counts_.primary_stops;
    const auto pid = parts_.primary.pid();
    send(pid, SIGSTOP, "stop primary");
    // Alone: who asks it now would wait.
    parts_.gate.pause(random_.milliseconds(200, 4500));
    if (random_.one_in(2)) kill_worker();
    send(pid, SIGCONT, "continue primary");
}

void Faults::restart_primary() {
    if (std::ranges::any_of(reloads_, &Reload::broken)) return;  // It could not start.
    parts_.ledger.fault("kill primary, and start another one");
    ++counts_.restarts;
    parts_.primary.ask_for_restart();
    parts_.ledger.fault("the other primary is ready");
}

// ---- Reloads

void Faults::refresh() {
    parts_.versions.writing(++version_);
    parts_.files.refresh(version_);
}

void Faults::begin_reload(Client& control, bool broken) {
    parts_.ledger.fault(fmt::format("reload of version {}{}", version_, broken ? ", broken" : ""));
    reloads_.push_back({control.submit_sync("call shortq_reload()"), version_, broken});
}

void Faults::collect_reloads() {
    std::erase_if(reloads_, [&](Reload& reload) {
        if (reload.submitted.reply.wait_for(milliseconds(0)) != std::future_status::ready)
            return false;
        const auto reply = reload.submitted.reply.get();
        parts_.ledger.fault(
            fmt::format("the reload of version {}: {}", reload.version, told(reply)));
        if (reload.broken) {
            if (reply) parts_.ledger.wrong("the reload of a broken script succeeded");
            parts_.files.write_script(true);
            ++counts_.broken_reloads;
        } else if (reply) {  // Else its loader was killed, say.
            const auto generation = reply->integer(0, 0).value_or(0);
            parts_.versions.serving(static_cast<std::uint32_t>(generation), reload.version);
            ++counts_.reloads;
        }
        return true;
    });
}

void Faults::reload(Client& control) {
    const bool broken = std::ranges::any_of(reloads_, &Reload::broken);
    if (broken || reloads_.size() >= kReloadsAtOnce) return;
    refresh();
    begin_reload(control, false);
}

void Faults::reload_twice(Client& control) {
    reload(control);
    reload(control);
    kill_worker();
}

void Faults::reload_by_signal() {
    if (std::ranges::any_of(reloads_, &Reload::broken)) return;
    refresh();
    send(parts_.primary.pid(), SIGHUP, "HUP to primary");
    last_signal_ = Clock::now();
}

// Alone: another one would be broken, too.
void Faults::reload_broken(Client& control) {
    if (!reloads_.empty() || Clock::now() < last_signal_ + kSignalIsOver) return;
    parts_.files.write_script(false);
    begin_reload(control, true);
}

// ---- A query whose workers die

std::optional<pid_t> Faults::worker_running(Client& control, std::uint64_t number) {
    // The two views may be of two moments: the seat has to be the same in both.
    const auto table = control.sync(
        fmt::format("select w.pid from shortq.workers w join shortq.queries q on q.id = w.running "
                    "and q.worker = w.id where q.text like 'select {}::%' and q.run_ms > {}",
                    number, kSurelyBegun.count()));
    if (!table || table->rows() != 1) return std::nullopt;
    return static_cast<pid_t>(table->integer(0, 0).value_or(-1));
}

// By the primary's word: it may have ended one of those workers itself a moment before.
int Faults::deaths_by(std::uint64_t number) const {
    std::istringstream log(parts_.primary.log());
    const auto text = fmt::format("select {}::", number);
    int deaths = 0;
    for (std::string line; std::getline(log, line);) {
        const bool died = line.find(" died: ") != std::string::npos;
        if (died && line.find(text) != std::string::npos) ++deaths;
    }
    return deaths;
}

void Faults::poison(Client& control) {
    auto plan = make_plan(random_, Kind::kEndless, parts_.ledger.next_number(), parts_.versions);
    plan.options.timeout = test::kPatience;
    plan.options.priority = RequestPriority::kHigh;
    plan.patience = 2 * plan.options.timeout;
    parts_.ledger.sent(plan, "poisoner");
    parts_.ledger.fault(fmt::format("request {} is poison", plan.number));
    auto submitted = control.submit(plan.text, {}, plan.options);
    pid_t last = -1;
    while (submitted.reply.wait_for(kLook) != std::future_status::ready) {
        go_on(false);
        collect_reloads();
        const auto victim = worker_running(control, plan.number);
        if (!victim || *victim == last) continue;
        last = *victim;
        parts_.ledger.blow();
        send(last, SIGKILL, "kill worker of the poison");
        ++counts_.worker_kills;
    }
    ++counts_.poisons;
    const auto reply = submitted.reply.get();
    const Judge judge(parts_.ledger, parts_.versions);
    judge.tell(plan, "poisoner", reply);
    const auto deaths = deaths_by(plan.number);
    if (deaths > kPoisonKills)
        parts_.ledger.wrong(fmt::format("the poison {} took {} workers", plan.number, deaths));
}

}  // namespace shortq::soak
