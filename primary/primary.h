// primary/primary.h: the whole primary: the dispatcher, and around it the doors, the workers'
// processes and the sync engines. Everything here happens on one thread, the main one.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>
#include <zmq.hpp>

#include "primary/client_door.h"
#include "primary/core/dispatcher.h"
#include "primary/event_loop.h"
#include "primary/inbox.h"
#include "primary/kdb/door.h"
#include "primary/kdb_clients.h"
#include "primary/options.h"
#include "primary/payload.h"
#include "primary/private_directory.h"
#include "primary/signal_fd.h"
#include "primary/startup.h"
#include "primary/supervisor.h"
#include "primary/sync_executor.h"
#include "primary/views.h"
#include "primary/worker_door.h"

namespace shortq::primary {

// The core decides, this class carries out: it turns what arrives into events, and actions into
// what leaves. An action never calls back into the core: what it causes is queued as an event.
class Primary {
public:
    // Binds both doors and starts the sync engines, but no worker yet. Errors: throws
    // std::runtime_error with a text for people.
    Primary(zmq::context_t& context, const Options& options, SignalFd& signals);
    ~Primary();
    Primary(const Primary&) = delete;
    Primary& operator=(const Primary&) = delete;

    // Serves until it is told to stop, or cannot start. The process's exit status.
    [[nodiscard]] int run();

private:
    // ---- The loop (primary.cpp)
    void round();
    void flush_doors();
    [[nodiscard]] bool read_sockets();  // False: there may be more.
    [[nodiscard]] core::Time now() const;
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> next_wake();
    [[nodiscard]] std::optional<core::Time> time_due();
    void keep_time(bool drained);
    void print_ready_line();
    void step(const core::Event& event);
    void step_one(const core::Event& event);

    // ---- What arrives (arrivals.cpp). False: there may be more.
    [[nodiscard]] bool read_clients();
    [[nodiscard]] bool read_workers(int messages_max);
    void read_inbox();
    void read_signals();
    void on_client_message();
    void on_client_request(NewRequest request);
    void take_request(NewRequest request, zmq::message_t text, zmq::message_t parameters);
    void on_worker_message(const WorkerDoor::WorkerSays& says);
    void on_worker_ready(core::WorkerId worker, const proto::Ready& ready);
    void tell_progress(const proto::Heartbeat& heartbeat);
    void on_worker_heartbeat(core::WorkerId worker, const proto::Heartbeat& heartbeat);
    void on_load_failed(core::WorkerId worker);
    void load_failed(std::uint32_t generation, core::WorkerId worker, Error error);
    void on_reply(core::WorkerId worker, proto::Reply reply, std::vector<zmq::message_t>& bodies);
    void on_error_reply(core::WorkerId worker, proto::ErrorReply reply,
                        std::vector<zmq::message_t>& bodies);
    [[nodiscard]] bool over_result_limit(core::WorkerId worker, const proto::Reply& reply,
                                         std::uint64_t bytes);
    void on_worker_ended(core::WorkerId worker);
    void note_load_error(std::uint32_t generation, Error error);

    // ---- What leaves (actions.cpp): one function per action
    void carry_out(const core::Action& action);
    void act(const core::ClientOpened& action);
    void act(const core::ClientClosed& action);
    void act(const core::PingClient& action);
    void act(const core::Accepted& action);
    void act(const core::Release& action);
    void act(const core::SendToWorker& action);
    void act(const core::ForwardReply& action);
    void act(const core::SendError& action);
    void act(const core::Interrupt& action);
    void act(const core::Recall& action);
    void act(const core::GrantCredit& action);
    void act(const core::SpawnWorker& action);
    void act(const core::StopWorker& action);
    void act(const core::KillWorker& action);
    void act(const core::GenerationServing& action);
    void act(const core::ReloadFailed& action);
    void act(const core::StartFailed& action);
    void act(const core::Stopped& action);
    [[nodiscard]] Result<void> renew_folders();
    void send_to_sync(Payload& payload);
    void send_to_client(core::ClientId client, const proto::Message& header,
                        std::vector<zmq::message_t>& bodies);
    // ---- Clients of the kdb+ door (kdb_requests.cpp)
    void open_kdb_door();
    void guard_doors();
    [[nodiscard]] Result<void> reload_users();
    void on_kdb(KdbSays& says);
    void on_kdb_request(KdbAsked& asked);
    void send_to_kdb(KdbConnectionId connection, core::ClientId client,
                     const proto::Message& header, std::vector<zmq::message_t>& bodies);
    // Of either door's client.
    [[nodiscard]] const ClientFacts* facts_of(core::ClientId client);

    // ---- A sync query that misses a worker's table (table_probe.cpp)
    [[nodiscard]] bool ask_workers_for_table(SyncReply& reply);
    [[nodiscard]] bool is_probe(core::ClientId client) const;
    void finish_probe(core::ClientId client, bool found);
    struct Probe {
        core::ClientId client{};
        SyncReply held;  // The error, until the answer is known.
        std::string table;
    };

    void log_if_slow(const core::Receipt& to, std::string_view outcome,
                     std::chrono::nanoseconds ran);

    // ---- What sync queries ask (questions.cpp)
    void answer(const Question& question);
    [[nodiscard]] Rows rows_of(View view);
    [[nodiscard]] ShellFacts shell_facts();
    [[nodiscard]] Result<Rows> cancel(std::int64_t serial);
    [[nodiscard]] Result<Rows> drain(std::int64_t seat);
    [[nodiscard]] Result<Rows> kill(std::int64_t seat);
    [[nodiscard]] Result<core::WorkerSnapshot> worker_at(std::int64_t seat) const;
    // Those who asked before this generation, or one before it, began to load.
    void reload(const std::shared_ptr<Answer>& answer);
    void answer_reloads(const Result<Rows>& result, std::uint32_t generation = UINT32_MAX);

    const Options& options_;
    SignalFd& signals_;
    core::Time begun_;
    core::Dispatcher dispatcher_;
    PrivateDirectory socket_directory_;
    PrivateDirectory spill_directory_;
    ClientDoor clients_;
    WorkerDoor workers_;
    EventLoop loop_;
    Supervisor supervisor_;
    PayloadTable payloads_;
    SlowLog slow_log_;
    Startup startup_;

    // The event under way: what its actions may need beyond the event itself.
    std::optional<Payload> arriving_;
    std::variant<std::monostate, proto::Reply, proto::ErrorReply> reply_;
    std::vector<zmq::message_t>* reply_bodies_ = nullptr;
    std::deque<core::Event> follow_ups_;
    std::vector<core::Action> actions_;
    bool stepping_ = false;

    struct LoadError {
        std::uint32_t generation = 0;
        Error error;
    };
    std::optional<LoadError> load_error_;  // The first one of the newest generation that failed.
    std::vector<Probe> probes_;
    bool opening_probe_ = false;
    struct ReloadWaiter {
        std::uint32_t first = 0;  // The first generation that has what the caller wrote before.
        std::shared_ptr<Answer> answer;
    };
    std::vector<ReloadWaiter> reload_waiters_;
    std::uint32_t begun_generation_ = 0;  // The newest one that a worker was asked to load.
    std::uint32_t serving_generation_ = 0;
    core::Time next_heartbeat_{0};
    std::optional<core::Time> hold_until_;  // After a pause: when the time may be told.
    bool drain_requested_ = false;
    bool stop_requested_ = false;
    std::optional<int> exit_status_;

    KdbClients kdb_clients_;
    const KdbArrived* arriving_kdb_ = nullptr;

    Inbox<std::variant<SyncReply, Question, KdbSays, HelloJudged>> inbox_;
    SyncExecutor sync_;  // These two last: their threads use the inbox.
    std::unique_ptr<KdbDoor> kdb_door_;
    // After the doors: at its end it tells who still waits, in their threads' queues.
    std::unique_ptr<auth::Authenticator> authenticator_;
};

}  // namespace shortq::primary
