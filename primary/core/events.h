// primary/core/events.h: facts that have happened (events) and orders to the shell (actions).
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "primary/core/types.h"

namespace shortq::core {

// ---- Events. Stale ids (of a client, worker or request that is gone) are legal and ignored.

struct Started {};      // Once, first: spawns generation 1.
struct TimeReached {};  // Sockets have been drained and next_wake() has come, or any time.

// Said hello. Answered with ClientOpened as the first action.
struct ClientArrived {
    // False: its silence means nothing, for its door hears at once when it goes (kdb+ clients).
    bool heartbeats = true;
};
struct ClientHeard {
    ClientId client;
};  // Any message of a known client that is no other event.
struct ClientLost {
    ClientId client;
};  // Goodbye, unreachable, or a new hello.

struct RequestArrived {
    ClientId client;
    std::uint64_t client_request = 0;  // The client's own id.
    Mode mode = Mode::kDeferred;
    Priority priority = Priority::kNormal;
    bool streaming = false;
    Duration timeout{0};  // The client's budget; zero: none.
    std::uint32_t min_generation = 0;
    std::uint64_t bytes = 0;  // Text and parameters.
    // The same for queries that are alike but for their literals; 0: not known. For kWindowAuto.
    std::uint64_t fingerprint = 0;
};
struct CancelRequested {
    ClientId client;
    std::uint64_t client_request = 0;
};
struct CancelSerial {
    std::uint64_t serial = 0;
};  // call shortq_cancel(ID): any client's request.

struct WorkerReady {
    WorkerId worker;
};
struct WorkerHeard {
    WorkerId worker;
};
struct WorkerLoadFailed {
    WorkerId worker;
};  // It told why; it is about to exit.
// The process is gone (reaped). `started`: the request it was evaluating, if any.
struct WorkerExited {
    WorkerId worker;
    std::optional<RequestId> started;
};
struct WorkerUnreachable {
    WorkerId worker;
};  // A send failed: treated as sick.

// One piece of a reply. `code` none: a result. With a code, `last` is true.
struct ReplyArrived {
    WorkerId worker;
    RequestId request;
    bool last = true;
    std::optional<ErrorCode> code;
    bool sick = false;  // The worker says that its engine is not to be trusted any more.
    std::optional<Duration> run_time;  // In the engine, if the worker says so.
    std::uint64_t bytes = 0;
};
// How many body bytes of replies a client has taken, in all: of one attempt of a request, or with
// `client_request` 0 of everything it was sent.
struct CreditArrived {
    ClientId client;
    std::uint64_t client_request = 0;
    std::uint32_t attempt = 0;
    std::uint64_t bytes = 0;
};
struct Recalled {
    WorkerId worker;
    RequestId request;
};

struct WorkerWornOut {
    WorkerId worker;
};  // It is to be replaced when it is idle; nothing it does is wrong.
struct DrainWorker {
    std::uint32_t seat = 0;
};  // call shortq_drain: finish, leave, be replaced.
struct KillSeat {
    std::uint32_t seat = 0;
};                          // call shortq_kill
struct ReloadRequested {};  // Coalesces with a reload that has not begun to load.
struct DrainRequested {};   // SIGTERM: refuse new requests, finish those under way, stop.
struct StopRequested {};    // Second signal: stop now.

using Event = std::variant<Started, TimeReached, ClientArrived, ClientHeard, ClientLost,
                           RequestArrived, CancelRequested, CancelSerial, WorkerReady, WorkerHeard,
                           WorkerLoadFailed, WorkerExited, WorkerUnreachable, ReplyArrived,
                           CreditArrived, Recalled, WorkerWornOut, DrainWorker, KillSeat,
                           ReloadRequested, DrainRequested, StopRequested>;

// ---- Actions, to be carried out in sequence, before the next event.

// Where a final reply goes, and what the core knows about its cost.
struct Receipt {
    ClientId client{};
    std::uint64_t client_request = 0;
    std::uint32_t attempt = 0;
    std::uint32_t sequence = 0;
    std::uint32_t seat = 0;  // 0: the primary itself, or no worker.
    std::uint32_t generation = 0;
    Duration queued{0};
    Duration ran{0};
    bool operator==(const Receipt&) const = default;
};

struct ClientOpened {
    ClientId client;
    bool operator==(const ClientOpened&) const = default;
};
// The core has forgotten the client (silent or lost): free what the shell keeps at its slot.
struct ClientClosed {
    ClientId client;
    bool operator==(const ClientClosed&) const = default;
};
struct PingClient {
    ClientId client;
    bool operator==(const PingClient&) const = default;
};

// The request of this event was accepted; keep its payload at slot_of(request) until Release.
// `serial` is its number for people (shortq.queries.id).
struct Accepted {
    RequestId request;
    std::uint64_t serial = 0;
    bool operator==(const Accepted&) const = default;
};
// Nobody needs the payload any more. Comes after the final reply, once no retry is possible.
struct Release {
    RequestId request;
    bool operator==(const Release&) const = default;
};

// `budget`: time left until the deadline, zero: none. `expected`: its predicted run time, zero:
// unknown. The payload stays with the shell (a retry may need it).
struct SendToWorker {
    WorkerId worker;
    RequestId request;
    Duration budget{0};
    Duration expected{0};
    bool operator==(const SendToWorker&) const = default;
};
// Pass the reply message of this event on, under a new header made from `to`.
struct ForwardReply {
    Receipt to;
    bool last = true;
    bool operator==(const ForwardReply&) const = default;
};
struct SendError {
    Receipt to;
    Reason reason{};
    bool operator==(const SendError&) const = default;
};
struct Interrupt {
    WorkerId worker;
    RequestId request;
    bool operator==(const Interrupt&) const = default;
};
struct Recall {
    WorkerId worker;
    RequestId request;
    bool operator==(const Recall&) const = default;
};

// The worker may send pieces of this reply while what it has sent is below `bytes`.
struct GrantCredit {
    WorkerId worker;
    RequestId request;
    std::uint64_t bytes = 0;
    bool operator==(const GrantCredit&) const = default;
};

struct SpawnWorker {
    WorkerId worker;
    std::uint32_t seat = 0;
    std::uint32_t generation = 0;
    bool operator==(const SpawnWorker&) const = default;
};
struct StopWorker {
    WorkerId worker;
    bool operator==(const StopWorker&) const = default;
};  // Idle, or it could not load: ask it to leave.
struct KillWorker {
    WorkerId worker;
    bool operator==(const KillWorker&) const = default;
};  // SIGKILL.

struct GenerationServing {
    std::uint32_t generation = 0;
    bool operator==(const GenerationServing&) const = default;
};
struct ReloadFailed {
    std::uint32_t generation = 0;
    bool operator==(const ReloadFailed&) const = default;
};
struct StartFailed {
    WorkerId worker;
    bool operator==(const StartFailed&) const = default;
};  // Generation 1 cannot load.
struct Stopped {
    bool operator==(const Stopped&) const = default;
};  // Drained; every worker is gone.

using Action =
    std::variant<ClientOpened, ClientClosed, PingClient, Accepted, Release, SendToWorker,
                 ForwardReply, SendError, Interrupt, Recall, GrantCredit, SpawnWorker, StopWorker,
                 KillWorker, GenerationServing, ReloadFailed, StartFailed, Stopped>;

}  // namespace shortq::core
