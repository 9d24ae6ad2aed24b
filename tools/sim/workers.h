// tools/sim/workers.h: worker processes: they load, run one request at a time, send results piece
// by piece, and fail in every way.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "tools/sim/ground.h"
#include "tools/sim/messages.h"

namespace shortq::sim {

class Primary;

class Workers {
public:
    Workers(Ground& ground, Primary& primary);

    // Orders of the primary's.
    void deliver(const core::SendToWorker& order, const Payload& payload);
    void take(const core::Interrupt& order);
    void take(const core::Recall& order);
    void take(const core::GrantCredit& order);
    void take(const core::SpawnWorker& order);
    void take(const core::StopWorker& order);
    void take(const core::KillWorker& order);

private:
    struct Job {
        core::RequestId request{};
        Payload payload;
    };
    struct Worker {
        core::WorkerId id{};
        std::uint32_t seat = 0;
        bool alive = true;
        core::Time silent_until{0};
        std::deque<std::function<void(Worker&)>> unread;  // While it is silent.
        std::deque<Job> jobs;                             // The first one runs if `runs`.
        bool runs = false;
        std::uint64_t run = 0;  // Counts runs: what was planned for an older one is void.
        core::Time run_since{0};
        std::uint64_t sent = 0;     // Of the reply that runs.
        std::uint64_t granted = 0;  // It may send while below.
        int piece = 0;              // The next one.
        bool waits = false;         // For credit.
        Link down;                  // From the primary.
        Link up;
    };

    // workers.cpp: lives and messages.
    [[nodiscard]] Worker* find(core::WorkerId id);
    // Does `what` when the message has come and the worker reads.
    void tell(core::WorkerId id, std::function<void(Worker&)> what);
    void say(Worker& worker, const core::Event& event, std::uint64_t words = 0);
    void load(core::WorkerId id, bool fails);
    void beat(core::WorkerId id);
    void fall_silent(Worker& worker);
    void die(Worker& worker, core::Duration notice);
    void haunt(const Worker& gone);

    // worker_runs.cpp: queries.
    void begin(Worker& worker, const Job& job);
    void start(Worker& worker);
    void plan_end(Worker& worker, const Job& job);
    void during_run(core::WorkerId id, std::uint64_t run, core::Duration delay,
                    std::function<void(Worker&)> what);
    void next_piece(core::WorkerId id, std::uint64_t run);
    void reply(Worker& worker, bool last, std::optional<ErrorCode> code);
    void end_run(Worker& worker);
    void grant(Worker& worker, const core::GrantCredit& order);
    void give_back(Worker& worker, core::RequestId request, bool interrupt);

    Ground& ground_;
    Primary& primary_;
    std::map<core::WorkerId, Worker> workers_;
    core::RequestId latest_{};  // The request delivered last, to whomever.
};

}  // namespace shortq::sim
