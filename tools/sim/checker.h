// tools/sim/checker.h: watches events and actions and says which promise was broken. Shares no code
// with the core: it has its own, simple books, kept only from what goes in and comes out.
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
    explicit Checker(const core::Options& options) : options_(options) {}

    // One step: what went in, what came out, and the gauges afterwards.
    void step(core::Time now, const core::Event& event, const std::vector<core::Action>& actions,
              const core::Totals& totals);
    // Everything has been healed and time enough has passed.
    void settled(const core::Totals& totals);

    [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

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
        std::size_t suspicions = 0;  // Was first at a worker that was killed.
        bool answered = false;
        bool cancelled = false;
        std::uint32_t attempt = 0;
        std::uint64_t sent = 0;   // Of this attempt.
        std::uint64_t taken = 0;  // Of it, by its reader.
        core::Time moved_on{0};   // When its reader fell behind, or last took something.
        bool moved = false;       // Came back from a worker, or waited for a generation.
    };
    struct Worker {
        std::uint32_t seat = 0;
        std::uint32_t generation = 0;
        bool ready = false;
        bool leaving = false;
        int failures = 0;
        std::vector<core::RequestId> pending;
    };
    struct Client {
        std::map<std::uint64_t, core::RequestId> unanswered;
        std::uint64_t bytes = 0;
        std::uint64_t sent = 0;
        std::uint64_t taken = 0;
        // By priority: serials that wait for a worker.
        std::array<std::map<std::uint64_t, core::RequestId>, 3> queues;
    };

    void fail(std::string text);
    void before(const core::Event& event);
    void after(const core::Event& event);
    void before_exit(const core::WorkerExited& exited);
    void before_reply(const core::ReplyArrived& reply);
    void come_back(core::WorkerId worker, core::RequestId id);
    void come_back_all(core::WorkerId worker);
    [[nodiscard]] static bool has(const Worker& worker, core::RequestId id);
    void see(const core::Accepted& action);
    void see(const core::SendToWorker& action);
    void see(const core::ForwardReply& action);
    void see(const core::SendError& action);
    void see(const core::Release& action);
    void see(const core::Interrupt& action);
    void see(const core::Recall& action);
    void see(const core::SpawnWorker& action);
    void see(const core::StopWorker& action);
    void see(const core::KillWorker& action);
    void see(const core::ClientOpened& action);
    void see(const core::ClientClosed& action);
    void see(const core::GenerationServing& action);
    void see(const core::StartFailed& action);
    void see(const core::Stopped& action);
    template <class Other>
    void see(const Other&) {}

    void refused(const core::SendError& error);
    void check_order(const Request& request, const Client& client);
    void check_totals(const core::Totals& totals);
    void check_idle();
    void check_deadlines();
    void check_stalls();
    void before_credit(const core::CreditArrived& credit);
    void count_piece(Request& request, Client& client, const core::ForwardReply& action,
                     std::uint64_t bytes);
    [[nodiscard]] bool behind(const Request& request) const {
        return request.sent - request.taken >= options_.reply_window_bytes;
    }
    [[nodiscard]] bool behind(const Client& client) const {
        return client.sent - client.taken >= options_.client_window_bytes;
    }
    [[nodiscard]] bool waits_for_reader(const Worker& worker) const;
    [[nodiscard]] bool parked(const Request& request) const;
    [[nodiscard]] Request* unanswered(core::ClientId client, std::uint64_t id, const char* what);
    void end(Request& request);
    void leave_worker(core::RequestId id, Request& request);
    void queue(core::RequestId id, Request& request);
    void unqueue(Request& request);

    core::Options options_;
    core::Time now_{0};
    const core::Event* event_ = nullptr;
    std::map<core::RequestId, Request> requests_;  // Until Release.
    std::map<core::WorkerId, Worker> workers_;
    std::map<core::ClientId, Client> clients_;
    std::set<std::pair<core::Time, core::RequestId>> deadlines_;  // Of unanswered ones.
    std::uint32_t serving_ = 0;
    std::uint64_t unanswered_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t accepted_ = 0;
    std::uint64_t finals_ = 0;
    std::uint64_t dropped_ = 0;
    std::uint64_t arrivals_answered_ = 0;  // Accepted or refused, in this step.
    bool stopped_ = false;
    bool draining_ = false;
    std::vector<std::string> violations_;
};

}  // namespace shortq::sim
