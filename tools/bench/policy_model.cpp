// tools/bench/policy_model.cpp: a queue of events, and what the core's orders make of them.
#include "tools/bench/policy_model.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <stdexcept>
#include <utility>
#include <variant>

#include "primary/core/dispatcher.h"

namespace shortq::bench {
namespace {

using core::Time;

core::Options core_options(const PolicyModelOptions& options) {
    constexpr auto kNoBound = std::numeric_limits<std::uint32_t>::max();
    core::Options core;
    core.workers = options.workers;
    core.window = options.window;
    core.policy = options.policy;
    core.pending_max = kNoBound;
    core.pending_per_client_max = kNoBound;
    core.client_window_bytes = std::numeric_limits<std::uint64_t>::max();
    // Everybody lives, so nobody is asked for a sign of it.
    core.client_silence_max = Time{0};
    core.worker_silence_max = Time{0};
    core.ping_interval = Time{0};
    return core;
}

class Model {
public:
    Model(const Trace& trace, const PolicyModelOptions& options)
        : trace_(trace), options_(options), core_(core_options(options)), stays_(trace.size()) {}

    std::vector<std::chrono::nanoseconds> run() {
        tell(core::Started{});
        tell(core::ClientArrived{});
        start_ = now_;
        for (std::size_t i = 0; i < trace_.size(); ++i)
            at(start_ + trace_[i].arrival + options_.hop, [this, i] { arrive(i); });
        while (answered_ < trace_.size()) {
            const auto wake = core_.next_wake();
            if (wake && (events_.empty() || *wake < events_.top().when)) {
                now_ = std::max(now_, *wake);
                tell(core::TimeReached{});
                continue;
            }
            if (events_.empty()) throw std::logic_error("the core has forgotten a request");
            const auto event = events_.top();
            events_.pop();
            now_ = event.when;
            event.happen();
        }
        return std::move(stays_);
    }

private:
    struct Event {
        Time when;
        std::uint64_t number;  // What was planned first happens first.
        std::function<void()> happen;
        bool operator<(const Event& other) const {  // The top of the queue is the greatest.
            return std::pair(when, number) > std::pair(other.when, other.number);
        }
    };
    struct Worker {
        std::deque<core::RequestId> given;  // The first runs, if it is busy.
        bool busy = false;
    };

    void at(Time when, std::function<void()> happen) {
        events_.push({when, ++planned_, std::move(happen)});
    }

    void tell(const core::Event& event) {
        std::vector<core::Action> actions;
        core_.step(now_, event, actions);
        for (const auto& action : actions)
            std::visit([this](const auto& order) { carry_out(order); }, action);
    }

    void carry_out(const core::SpawnWorker& order) {
        at(now_, [this, worker = order.worker] { tell(core::WorkerReady{worker}); });
    }
    void carry_out(const core::ClientOpened& order) { client_ = order.client; }
    void carry_out(const core::Accepted& order) { number_of_[order.request] = arriving_; }
    void carry_out(const core::Release& order) { number_of_.erase(order.request); }
    void carry_out(const core::SendToWorker& order) {
        at(now_ + options_.hop, [this, order] {
            workers_[order.worker].given.push_back(order.request);
            begin(order.worker);
        });
    }
    void carry_out(const core::Recall& order) {
        at(now_ + options_.hop, [this, order] { give_back(order.worker, order.request); });
    }
    void carry_out(const core::ForwardReply& order) {
        const auto number = order.to.client_request - 1;
        stays_[number] = now_ + options_.hop - (start_ + trace_[number].arrival);
        ++answered_;
    }
    void carry_out(const core::GenerationServing& /*order*/) {}
    template <class Other>
    void carry_out(const Other& /*order*/) {
        throw std::logic_error("nothing may fail in this model");
    }

    void arrive(std::size_t number) {
        arriving_ = number;
        core::RequestArrived event;
        event.client = client_;
        event.client_request = number + 1;
        event.fingerprint = options_.per_class && !trace_[number].is_short ? 2 : 1;
        tell(event);
    }

    void begin(core::WorkerId id) {
        auto& worker = workers_[id];
        if (worker.busy || worker.given.empty()) return;
        worker.busy = true;
        const auto request = worker.given.front();
        at(now_ + trace_[number_of_.at(request)].service,
           [this, id, request] { end(id, request); });
    }

    void end(core::WorkerId id, core::RequestId request) {
        auto& worker = workers_[id];
        worker.busy = false;
        worker.given.pop_front();
        core::ReplyArrived reply;
        reply.worker = id;
        reply.request = request;
        reply.run_time = trace_[number_of_.at(request)].service;
        at(now_ + options_.hop, [this, reply] { tell(reply); });
        begin(id);
    }

    void give_back(core::WorkerId id, core::RequestId request) {
        auto& worker = workers_[id];
        const auto unbegun = worker.given.begin() + (worker.busy ? 1 : 0);
        const auto found = std::find(unbegun, worker.given.end(), request);
        if (found == worker.given.end()) return;
        worker.given.erase(found);
        at(now_ + options_.hop, [this, id, request] { tell(core::Recalled{id, request}); });
    }

    const Trace& trace_;
    PolicyModelOptions options_;
    core::Dispatcher core_;
    std::vector<std::chrono::nanoseconds> stays_;
    Time now_{std::chrono::seconds(1)};
    Time start_{0};
    std::priority_queue<Event> events_;
    std::uint64_t planned_ = 0;
    core::ClientId client_{};
    std::map<core::WorkerId, Worker> workers_;
    std::map<core::RequestId, std::size_t> number_of_;  // In the trace.
    std::size_t arriving_ = 0;
    std::size_t answered_ = 0;
};

}  // namespace

std::vector<std::chrono::nanoseconds> modelled_stays(const Trace& trace,
                                                     const PolicyModelOptions& options) {
    return Model(trace, options).run();
}

}  // namespace shortq::bench
