// primary/core/dispatcher.h: the dispatcher: which request goes to which worker, and what becomes
// of it. A pure state machine: no socket, clock, thread, file or random device in it. The event
// loop, the simulator and the benches drive the same code.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "primary/core/events.h"
#include "primary/core/snapshot.h"
#include "primary/core/types.h"

namespace shortq::core {

// Threads: none of its own; use from one thread.
class Dispatcher {
public:
    explicit Dispatcher(const Options& options);
    ~Dispatcher();
    Dispatcher(Dispatcher&&) noexcept;
    Dispatcher& operator=(Dispatcher&&) noexcept;

    // Takes one event and appends the resulting actions to `out`, which the caller reuses: in the
    // steady state no allocation per request. Never fails: a stale event is dropped.
    // Pre: `now` never goes back. Source of the rules: the folder's README.
    void step(Time now, const Event& event, std::vector<Action>& out);

    // When TimeReached is due; none: nothing is timed.
    [[nodiscard]] std::optional<Time> next_wake() const;

    // O(everything); for views and checks.
    [[nodiscard]] Snapshot snapshot(Time now) const;
    // The gauges and counters alone, O(1).
    [[nodiscard]] const Totals& totals() const;

    // Recounts every gauge and walks every list; aborts with a message on a difference. For tests,
    // the simulator and debug builds.
    void check_invariants() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace shortq::core
