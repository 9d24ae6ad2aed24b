// tools/sim/world.h: the simulated clients and workers around the core, and the virtual clock.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "primary/core/dispatcher.h"
#include "tools/sim/checker.h"
#include "tools/sim/random.h"
#include "tools/sim/scenario.h"
#include "tools/sim/simulation.h"

namespace shortq::sim {

class World {
public:
    World(std::uint64_t seed, bool trace);
    [[nodiscard]] Outcome run();

private:
    // How a request behaves at its worker.
    struct Payload {
        core::Duration service{0};
        int pieces = 1;
        std::uint64_t piece_bytes = 0;
        bool error = false;
        bool poison = false;
        bool deaf = false;
        bool hang = false;
    };
    struct Job {
        core::RequestId request{};
        Payload payload;
    };
    struct Worker {
        core::WorkerId id{};
        std::uint32_t seat = 0;
        bool alive = true;
        bool ready = false;
        core::Time silent_until{0};
        std::deque<Job> jobs;  // The first one runs if `runs`.
        bool runs = false;
        std::uint64_t run = 0;      // Counts runs: what was planned for an older one is void.
        std::uint64_t sent = 0;     // Of the reply that runs.
        std::uint64_t granted = 0;  // It may send while below.
        int piece = 0;              // The next one.
        bool waits = false;         // For credit.
    };
    struct Client {
        core::ClientId id{};
        bool silent = false;
        bool deaf = false;  // Does not read.
        std::uint64_t last_request = 0;
        std::uint64_t taken = 0;
        // What was taken of an attempt of a request, by its id.
        std::map<std::uint64_t, std::pair<std::uint32_t, std::uint64_t>> readings;
        std::set<std::uint64_t> stopped;  // Requests whose reader takes nothing.
    };
    struct Planned {
        core::Time when{0};
        std::uint64_t order = 0;
        std::function<void()> what;
        bool operator<(const Planned& other) const {  // The earliest on top.
            return when != other.when ? when > other.when : order > other.order;
        }
    };

    // world.cpp: clock, core, phases.
    void plan(core::Duration delay, std::function<void()> what);
    void post(const core::Event& event);
    void step(const core::Event& event);
    void note(std::string line);
    void carry_out(const core::Action& action);
    void run_until(core::Time end, const std::function<bool()>& done);
    void plan_faults();
    void finish();
    [[nodiscard]] bool fault(double probability) { return !healed_ && dice_.chance(probability); }
    [[nodiscard]] core::Duration latency() {
        return core::Duration{static_cast<std::int64_t>(dice_.between(20'000, 400'000))};
    }

    // world_clients.cpp
    void client_arrives();
    void client_beats(core::ClientId id);
    void request_arrives();
    void send_request(Client& client);
    [[nodiscard]] core::RequestArrived draw_request(Client& client);
    [[nodiscard]] Payload draw_payload(const core::RequestArrived& request);
    void plan_cancel(const core::RequestArrived& request);
    void read(const core::ForwardReply& piece, std::uint64_t bytes);
    void take(core::ClientId id, const core::ForwardReply& piece, std::uint64_t bytes);

    // world_workers.cpp
    void spawn(const core::SpawnWorker& order);
    void worker_beats(core::WorkerId id);
    // Runs `what` when the message gets there and the worker listens.
    void tell(core::WorkerId id, std::function<void(Worker&)> what);
    void deliver(const core::SendToWorker& order);
    void start(Worker& worker);
    void plan_end(Worker& worker, const Job& job);
    void reply(Worker& worker, bool last, std::optional<ErrorCode> code);
    void end_run(Worker& worker);
    void next_piece(core::WorkerId id, std::uint64_t run);
    void grant(Worker& worker, const core::GrantCredit& grant);
    void give_back(Worker& worker, core::RequestId request, bool interrupt);
    void die(Worker& worker, core::Duration notice);
    void during_run(core::WorkerId id, std::uint64_t run, core::Duration delay,
                    std::function<void(Worker&)> what);

    std::uint64_t seed_;
    bool trace_;
    Dice dice_;
    Scenario scenario_;
    core::Dispatcher core_;
    Checker checker_;

    core::Time now_{0};
    core::Time paused_until_{0};
    std::vector<core::Event> inbox_;  // What arrives while the primary is paused.
    std::priority_queue<Planned> planned_;
    std::uint64_t order_ = 0;
    std::vector<core::Action> out_;

    std::map<core::WorkerId, Worker> workers_;
    std::map<core::ClientId, Client> clients_;
    std::vector<Payload> payloads_;  // By slot of the request.
    Payload next_payload_;
    std::optional<std::uint64_t> last_serial_;
    std::uint32_t requests_left_ = 0;
    std::uint32_t serving_ = 0;
    bool healed_ = false;
    bool stopped_ = false;
    Outcome outcome_;
    std::deque<std::string> last_;
};

}  // namespace shortq::sim
