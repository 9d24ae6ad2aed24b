// primary/core/dispatcher_impl.h: the dispatcher's state and its functions, which dispatcher_*.cpp
// implement by job. Private to the core.
#pragma once

#include <optional>
#include <vector>

#include "primary/core/client_queues.h"
#include "primary/core/dispatcher.h"
#include "primary/core/least_busy.h"
#include "primary/core/request_table.h"
#include "primary/core/run_times.h"
#include "primary/core/timer_heap.h"
#include "primary/core/worker_table.h"

namespace shortq::core {

class Dispatcher::Impl {
public:
    explicit Impl(const Options& options);

    // dispatcher.cpp
    void step(Time now, const Event& event, std::vector<Action>& out);

    // dispatcher_time.cpp
    [[nodiscard]] std::optional<Time> next_wake() const;

    // dispatcher_views.cpp
    [[nodiscard]] Snapshot snapshot(Time now) const;
    [[nodiscard]] const Totals& totals() const { return requests_.totals(); }

    // dispatcher_check.cpp
    void check_invariants() const;

private:
    enum Global : std::uint32_t { kDrainOver, kUnavailable };  // Timers that exist once.

    void emit(Action action) { out_->push_back(action); }

    // ---- dispatcher_requests.cpp: from arrival to the final reply.
    void on(const RequestArrived& event);
    void on(const CancelRequested& event);
    void on(const CancelSerial& event);
    void on(const ReplyArrived& event);
    void on(const Recalled& event);
    [[nodiscard]] std::optional<Reason> refusal(const RequestArrived& event,
                                                const Client& client) const;
    void accept(const RequestArrived& event, std::uint32_t client_slot);
    void cancel(std::uint32_t request);
    void begin_sync(std::uint32_t request);
    void final_reply(const ReplyArrived& event, std::uint32_t request);
    [[nodiscard]] Receipt receipt(const Request& request) const;
    // Each of these ends a request for its client.
    void fail(std::uint32_t request, Reason reason);
    void drop(std::uint32_t request);  // Its client has gone.
    void end_here(
        std::uint32_t request);          // Leaves whatever list it is in; abandoned if at a worker.
    void settle(std::uint32_t request);  // The client's side of the ending.
    void discard(std::uint32_t request);  // The slot's side of it.
    void interrupt(std::uint32_t request);
    void set_request_timer(std::uint32_t request);
    void request_due(std::uint32_t request);

    // ---- dispatcher_clients.cpp: arrival, silence, loss.
    void on(const ClientArrived& event);
    void on(const ClientHeard& event);
    void on(const ClientLost& event);
    void hear_client(std::uint32_t client) { queues_.clients()[client].last_heard = now_; }
    void lose_client(std::uint32_t client);
    void plan_ping(std::uint32_t client);
    void set_client_timer(std::uint32_t client);
    [[nodiscard]] bool holds_itself_up(const Client& client) const;
    [[nodiscard]] bool is_to_beat(const Client& client) const;
    void client_due(std::uint32_t client);

    // ---- dispatcher_flow.cpp: what readers have taken, and what waits for them.
    void on(const CreditArrived& event);
    void forward(std::uint32_t request, const ReplyArrived& event);
    void update_stall(std::uint32_t request);
    void clear_stall(std::uint32_t request);
    void client_took(std::uint32_t client, std::uint64_t bytes);
    void update_block(std::uint32_t client);
    void block(std::uint32_t client);
    void begin_to_wait(std::uint32_t client);
    void unblock(std::uint32_t client);

    // ---- dispatcher_assign.cpp: who gets what.
    void assign();
    void give(std::uint32_t request, std::uint32_t worker);
    // Takes it out of its worker's list. Its phase stays until the caller moves it.
    void take_back(std::uint32_t request);
    void requeue(std::uint32_t request);
    // Its worker is gone. `charged`: it was evaluating this one.
    void lose(std::uint32_t request, bool charged);
    [[nodiscard]] std::optional<Reason> loss_reason(const Request& request) const;
    void judge(std::uint32_t worker, bool success, Duration run_time);  // Streaks of failures.

    // ---- dispatcher_ahead.cpp: windows of predicted time.
    [[nodiscard]] bool by_time() const { return options_.window == kWindowAuto; }
    [[nodiscard]] bool room_ahead(const Worker& worker) const;
    void charge_ahead(std::uint32_t request, std::uint32_t worker);
    void credit_ahead(std::uint32_t request, std::uint32_t worker, bool was_head);
    void watch_overrun(std::uint32_t worker);
    [[nodiscard]] Time overruns_at(const Worker& worker) const;
    void overrun_due(std::uint32_t worker);
    void learn(const Request& request, Duration ran, bool finished);

    // ---- dispatcher_workers.cpp: the lives of workers.
    void on(const WorkerReady& event);
    void on(const WorkerHeard& event);
    void on(const WorkerLoadFailed& event);
    void on(const WorkerExited& event);
    void on(const WorkerUnreachable& event);
    void on(const WorkerWornOut& event);
    void on(const DrainWorker& event);
    void on(const KillSeat& event);
    void spawn(Generation& generation, std::uint32_t seat);
    void change_state(std::uint32_t worker, WorkerState to);
    void refresh(std::uint32_t worker);  // Whether it may be given work.
    void list_if_eligible(std::uint32_t worker);
    void drain_worker(std::uint32_t worker, bool planned);
    void recall_unstarted(std::uint32_t worker);
    void stop_if_drained(std::uint32_t worker);
    void kill_process(std::uint32_t worker);
    enum class Charge : std::uint8_t { kNobody, kHead };
    void kill_and_lose(std::uint32_t worker, Charge charge);
    void lose_all(std::uint32_t worker, std::uint32_t charged);
    void give_back(std::uint32_t worker);
    void set_worker_timer(std::uint32_t worker);
    void worker_due(std::uint32_t worker);
    void refill_seat(std::uint32_t seat, const Worker& dead);
    void seat_due(std::uint32_t seat);
    [[nodiscard]] std::uint32_t worker_on(std::uint32_t seat) const;  // Serving; kNone.

    // ---- dispatcher_generations.cpp: start, reload, stop.
    void on(const Started& event);
    void on(const ReloadRequested& event);
    void on(const DrainRequested& event);
    void on(const StopRequested& event);
    [[nodiscard]] Generation make_generation(std::uint32_t number) const;
    [[nodiscard]] Generation* generation(std::uint32_t number);
    [[nodiscard]] std::uint32_t serving_number() const { return serves_ ? serving_.number : 0; }
    void begin_reload();
    void worker_became_ready(const Worker& worker);
    void load_failed(std::uint32_t worker);
    void fail_start(WorkerId worker);
    void fail_reload();
    void take_over();
    void generation_serves();
    void able_changed();
    void unavailable_due();
    void begin_stop(bool at_once);
    void finish_drain_if_done();
    void finish_stop_if_done();
    template <class Function>
    void for_workers(const Function& function) {  // Processes, in the order of their slots.
        for (std::uint32_t slot = kSyncSlot + 1; slot < workers_.size(); ++slot) {
            if (workers_.live(slot)) function(slot);
        }
    }

    // ---- dispatcher_time.cpp: timers and pauses.
    void on(const TimeReached& event);
    void fire(const TimerHeap::Timer& timer);
    void notice_pause(Time now);

    // ---- dispatcher_views.cpp
    void view_generations(Snapshot& out) const;
    [[nodiscard]] WorkerSnapshot view_seat(const Generation& generation, std::uint32_t seat) const;
    void view_requests(Snapshot& out, Time now) const;

    // ---- dispatcher_check.cpp
    void check_requests() const;
    void check_lists() const;
    void check_workers() const;
    void check_assignment() const;

    [[nodiscard]] auto place() {
        return [this](std::uint32_t slot) -> Links& { return requests_[slot].place; };
    }

    Options options_;
    RequestTable requests_;
    ClientQueues queues_;
    Slab<Worker, WorkerId> workers_;
    LeastBusy least_busy_;
    RunTimes run_times_;
    TimerHeap timers_;
    std::vector<SeatCounters> seats_;

    Generation serving_;              // Before it serves: generation 1, loading.
    std::optional<Generation> next_;  // Loading. Never together with old_.
    std::optional<Generation> old_;   // Leaving: replaced, or failed to load.
    std::uint32_t last_generation_ = 0;
    bool serves_ = false;  // A worker of generation 1 has been ready.
    bool reload_wanted_ = false;

    std::uint32_t able_workers_ = 0;  // Ready, of the serving generation.
    std::uint32_t failing_workers_ = 0;
    std::optional<Duration> success_time_;  // Moving average of results' run time; none: no result.
    bool unavailable_ = false;              // Nobody has been able for unavailable_after.
    bool draining_ = false;
    bool stopping_ = false;
    bool stopped_ = false;

    bool stepped_ = false;
    Time now_{0};
    Duration pause_min_{0};  // A gap between steps above this is a pause; zero: nothing is watched.
    std::vector<Action>* out_ = nullptr;  // During a step.
};

}  // namespace shortq::core
