// tests/primary/core/harness.h: drives a dispatcher through scripted scenarios.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "primary/core/dispatcher.h"

namespace shortq::core {

// Steps the core and keeps what the last step did. Every step checks all invariants unless told
// not to.
class Harness {
public:
    explicit Harness(const Options& options, bool start = true, bool check = true)
        : core(options), check_(check) {
        if (!start) return;
        step(Started{});
        workers = spawned();
        for (const auto worker : workers) step(WorkerReady{worker});
    }

    const std::vector<Action>& step(const Event& event) {
        actions.clear();
        core.step(now, event, actions);
        if (check_) core.check_invariants();
        return actions;
    }
    ClientId client() {
        step(ClientArrived{});
        return all<ClientOpened>().at(0).client;
    }
    // The id of the accepted request; 0: refused.
    RequestId ask(ClientId client, std::uint64_t id, RequestArrived how = {}) {
        how.client = client;
        how.client_request = id;
        step(how);
        const auto accepted = all<Accepted>();
        return accepted.empty() ? RequestId{} : accepted[0].request;
    }
    const std::vector<Action>& reply(WorkerId worker, RequestId request,
                                     std::optional<ErrorCode> code = {},
                                     Duration run = std::chrono::milliseconds(1)) {
        ReplyArrived event;
        event.worker = worker;
        event.request = request;
        event.code = code;
        event.run_time = run;
        return step(event);
    }
    const std::vector<Action>& exit(WorkerId worker, std::optional<RequestId> started = {}) {
        return step(WorkerExited{worker, started});
    }
    // Lets time pass in the way the event loop does, everybody being heard of.
    std::vector<Action> pass(Duration time, bool heartbeats = true) {
        std::vector<Action> seen;
        const auto end = now + time;
        const auto keep = [&] { seen.insert(seen.end(), actions.begin(), actions.end()); };
        while (now < end) {
            const auto wake = core.next_wake();
            now = std::min(
                {end, wake ? std::max(*wake, now) : end, now + std::chrono::milliseconds(500)});
            if (heartbeats) {
                for (const auto& worker : core.snapshot(now).workers) {
                    if (worker.worker != WorkerId{}) step(WorkerHeard{worker.worker});
                    keep();
                }
                for (const auto& one : core.snapshot(now).clients) {
                    step(ClientHeard{one.client});
                    keep();
                }
            }
            step(TimeReached{});
            keep();
        }
        return seen;
    }

    template <class Kind>
    static std::vector<Kind> of(const std::vector<Action>& from) {
        std::vector<Kind> out;
        for (const auto& action : from) {
            if (const auto* one = std::get_if<Kind>(&action)) out.push_back(*one);
        }
        return out;
    }
    template <class Kind>
    [[nodiscard]] std::vector<Kind> all() const {
        return of<Kind>(actions);
    }
    [[nodiscard]] std::vector<WorkerId> spawned() const {
        std::vector<WorkerId> out;
        for (const auto& spawn : all<SpawnWorker>()) out.push_back(spawn.worker);
        return out;
    }
    [[nodiscard]] std::vector<RequestId> sent() const {
        std::vector<RequestId> out;
        for (const auto& send : all<SendToWorker>()) out.push_back(send.request);
        return out;
    }
    [[nodiscard]] std::vector<Reason> errors() const {
        std::vector<Reason> out;
        for (const auto& error : all<SendError>()) out.push_back(error.reason);
        return out;
    }

    Dispatcher core;
    Time now{std::chrono::seconds(1)};
    std::vector<Action> actions;
    std::vector<WorkerId> workers;

private:
    bool check_;
};

inline Options workers_and_window(std::uint32_t workers, std::uint32_t window) {
    Options options;
    options.workers = workers;
    options.window = window;
    return options;
}

inline RequestArrived with_timeout(Duration timeout) {
    RequestArrived how;
    how.timeout = timeout;
    return how;
}

}  // namespace shortq::core
