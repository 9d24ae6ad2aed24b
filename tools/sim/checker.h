// tools/sim/checker.h: watches events and actions and says which promise was broken. Shares no code
// with the core: it has its own, simple books, kept only from what goes in and comes out.
//
// checker.cpp keeps the books; one file for each kind of promise looks at them:
// checker_requests.cpp (one final reply each), checker_order.cpp (who is next), checker_workers.cpp
// (their lives), checker_flow.cpp (readers), checker_time.cpp (deadlines, silence, waits), and
// checker_gauges.cpp (counts and snapshots).
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "primary/core/events.h"
#include "primary/core/snapshot.h"

namespace shortq::sim {

class Checker {
public:
    // Appends to `violations`, which outlives it.
    Checker(const core::Options& options, std::vector<std::string>& violations)
        : options_(options), violations_(violations) {}

    // One step: what went in, what came out, the gauges, and when it wants to be woken.
    void step(core::Time now, const core::Event& event, const std::vector<core::Action>& actions,
              const core::Totals& totals, std::optional<core::Time> next_wake);
    // The primary did not run; called before what it then does first.
    void paused(core::Time from, core::Time until);
    // The core's view of itself against the books.
    void compare(const core::Snapshot& snapshot);
    // Everything has been healed and answered. `steps` were made since, in `time`.
    void at_rest(const core::Snapshot& snapshot, std::uint64_t steps, core::Duration time);
    void stopped(const core::Totals& totals);

private:
    enum class Place { kQueued, kAtWorker };
    struct Request {
        core::RequestArrived asked;
        std::uint64_t serial = 0;
        core::Time arrived{0};
        core::Time deadline{0};
        Place place = Place::kQueued;
        core::WorkerId worker{};
        std::size_t deaths = 0;      // Of workers that were evaluating it.
        std::size_t suspicions = 0;  // Was first at a worker that was killed for its silence.
        bool answered = false;
        bool cancelled = false;
        bool lost = false;  // A worker that may have begun it is gone, or has dropped it.
        std::optional<core::Time> told;  // When its worker was told to interrupt it.
        bool recalled = false;           // Its worker was asked to give it back.
        std::uint32_t attempt = 0;
        std::uint32_t sequence = 0;
        std::uint64_t sent = 0;   // Of this attempt.
        std::uint64_t taken = 0;  // Of it, by its reader.
        core::Time moved_on{0};   // When its reader fell behind, or last took something.
    };
    struct Worker {
        std::uint32_t seat = 0;
        std::uint32_t generation = 0;
        core::Time spawned{0};
        core::Time heard{0};
        core::Time leaving_since{0};
        bool ready = false;
        bool leaving = false;
        bool worn_out = false;
        bool killed = false;
        int failures = 0;
        std::vector<core::RequestId> pending;  // The first one runs.
        core::Time first_since{0};
    };
    struct Client {
        std::map<std::uint64_t, core::RequestId> unanswered;
        std::uint64_t bytes = 0;
        std::uint64_t sent = 0;
        std::uint64_t taken = 0;
        bool beats = true;  // Else its silence means nothing.
        core::Time heard{0};
        core::Time pinged{0};      // Or since when it has something unanswered.
        core::Time blocked_at{0};  // Since then it has been behind and has taken nothing.
        // By priority: serials of deferred ones that wait for a worker.
        std::array<std::map<std::uint64_t, core::RequestId>, 3> queues;
        // By priority: how often others had a turn while it waited for one.
        std::array<std::map<core::ClientId, int>, 3> passed_by;
    };

    void fail(std::string text);
    template <class Wanted>
    [[nodiscard]] const Wanted* event_as() const {
        return std::get_if<Wanted>(event_);
    }

    // ---- checker.cpp: the books.
    void before(const core::Event& event);
    void before_exit(const core::WorkerExited& exited);
    void before_reply(const core::ReplyArrived& reply);
    void before_credit(const core::CreditArrived& credit);
    void before_cancel();
    void hear(const core::Event& event);
    void after(const core::Event& event);
    void come_back(core::WorkerId worker, core::RequestId id);
    void come_back_all(core::WorkerId worker);
    void leave_worker(core::RequestId id, Request& request);
    void queue(core::RequestId id, Request& request);
    void unqueue(Request& request);
    void end(Request& request);
    void leaves(Worker& worker);
    [[nodiscard]] static bool has(const Worker& worker, core::RequestId id);
    [[nodiscard]] bool parked(const Request& request) const {
        return request.asked.mode == core::Mode::kDeferred &&
               request.asked.min_generation > serving_;
    }
    [[nodiscard]] bool able(const Worker& worker) const {
        return worker.ready && !worker.leaving && worker.generation == serving_;
    }
    [[nodiscard]] Worker* find(core::WorkerId id);
    [[nodiscard]] Client* find(core::ClientId id);

    // ---- checker_requests.cpp
    void see(const core::Accepted& action);
    void see(const core::ForwardReply& action);
    void see(const core::SendError& action);
    void see(const core::Release& action);
    void refused(const core::SendError& error);
    void check_receipt(const Request& request, const core::Receipt& to);
    [[nodiscard]] bool holds(core::Reason reason, const Request& request) const;
    [[nodiscard]] Request* unanswered(const core::Receipt& to, const char* what);

    // ---- checker_order.cpp
    void see(const core::SendToWorker& action);
    void check_worker(const Request& request, const core::SendToWorker& action);
    void check_place(const Request& request, const Client& client);
    void check_turns(const Request& request);
    void check_priorities(std::size_t priority);
    void check_idle();
    void waits_no_more(Client& client, std::size_t priority);
    [[nodiscard]] bool waits(const Client& client, std::size_t priority) const {
        return !client.queues[priority].empty() && !behind(client);
    }

    [[nodiscard]] bool by_time() const { return options_.window == core::kWindowAuto; }
    [[nodiscard]] bool has_room(const Worker& worker) const;

    // ---- checker_workers.cpp
    void see(const core::Interrupt& action);
    void see(const core::Recall& action);
    void see(const core::SpawnWorker& action);
    void see(const core::StopWorker& action);
    void see(const core::KillWorker& action);
    void see(const core::GenerationServing& action);
    void see(const core::ReloadFailed& action);
    void see(const core::StartFailed& action);
    void see(const core::Stopped& action);
    [[nodiscard]] bool may_kill(core::WorkerId id, const Worker& worker) const;
    [[nodiscard]] bool overdue(const Worker& worker) const;
    [[nodiscard]] bool silent(const Worker& worker) const {
        return options_.worker_silence_max != core::Duration{0} &&
               now_ - worker.heard >= options_.worker_silence_max;
    }

    // ---- checker_flow.cpp
    void see(const core::ClientOpened& action);
    void see(const core::ClientClosed& action);
    void see(const core::PingClient& action);
    void see(const core::GrantCredit& action);
    void count_piece(Request& request, Client& client, const core::ForwardReply& action,
                     std::uint64_t bytes);
    [[nodiscard]] bool behind(const Request& request) const {
        return request.sent - request.taken >= options_.reply_window_bytes;
    }
    [[nodiscard]] bool behind(const Client& client) const {
        return client.sent - client.taken >= options_.client_window_bytes;
    }
    [[nodiscard]] bool waits_for_reader(const Worker& worker) const;

    // ---- checker_time.cpp
    void check_wake(std::optional<core::Time> next_wake);
    void check_missed_deadline();
    void check_time();
    void check_readers();
    void check_silence();
    void check_overdue();
    void check_overrun();
    void check_seats();
    void update_able();

    // ---- checker_gauges.cpp
    void check_totals(const core::Totals& totals);
    void compare_worker(const core::WorkerSnapshot& seen);
    void compare_request(const core::RequestSnapshot& seen);

    core::Options options_;
    std::vector<std::string>& violations_;
    core::Time now_{0};
    const core::Event* event_ = nullptr;
    std::map<core::RequestId, Request> requests_;  // Until Release.
    std::map<core::WorkerId, Worker> workers_;
    std::map<core::ClientId, Client> clients_;
    std::set<std::pair<core::Time, core::RequestId>> deadlines_;  // Of unanswered ones.
    std::set<std::uint64_t> known_;             // Fingerprints of queries that have ended.
    std::vector<core::RequestId> ended_;        // In this step, at a worker.
    std::vector<core::RequestId> interrupted_;  // In this step.
    std::array<int, 3> passed_by_{};            // How often other priorities had a turn meanwhile.
    std::map<std::uint32_t, core::Time> empty_seats_;  // Of the serving generation, since when.
    std::uint32_t serving_ = 0;
    std::uint32_t failed_reload_ = 0;
    std::uint32_t newest_ = 0;             // The generation that began to load last.
    bool reload_asked_ = false;            // And none has begun to load since.
    std::optional<core::Time> none_able_;  // Since when.
    core::Time latest_pause_{-std::chrono::hours(1)};
    bool woken_ = true;  // No pause has ended without time having been judged since.
    std::uint64_t unanswered_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t accepted_ = 0;
    std::uint64_t refused_ = 0;
    std::uint64_t finals_ = 0;
    std::uint64_t dropped_ = 0;
    std::uint64_t arrivals_answered_ = 0;  // Accepted or refused, in this step.
    bool stopped_ = false;
    bool draining_ = false;
};

}  // namespace shortq::sim
