// client/session.h: the client's end of a connection as a pure state machine: hello and welcome,
// requests and their replies, deadlines, heartbeats, loss and failover. No sockets, clocks or
// threads: facts and the time come in, actions go out. PROTOCOL.md#hello, #deferred-request.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "client/assembly.h"
#include "proto/limits.h"
#include "proto/message.h"
#include "shortq/client.h"

namespace shortq::detail {

using Time = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;
using Frames = std::vector<Buffer>;

// Orders to the shell, carried out in sequence.
struct Open {  // Close the socket, if any, and open a fresh one.
    std::string endpoint;
};
struct Send {
    Frames frames;
    bool bundled = false;  // The server understands bundles.
};
struct Piece {  // Of a streaming request, before its Answer, which has the last rows.
    RequestNumber number{};
    Table rows;
    std::uint64_t bytes = 0;  // To be given to took() when the reader is done with it.
};
struct Progressed {
    ProgressCallback tell;
    Progress progress;
};
struct Answer {  // Exactly one per accepted request.
    RequestNumber number{};
    Result<Table> reply;
};
using Action = std::variant<Open, Send, Piece, Progressed, Answer>;

// How long things may take. Fixed in production; tests may shorten them.
struct SessionTimes {
    // A server that is silent this long is given up where there is another endpoint to go to.
    std::chrono::milliseconds silence_failover{3000};
    // With one endpoint there is nothing to win by leaving early: a server that was paused comes
    // back with every request it holds.
    std::chrono::milliseconds silence_alone{15000};
    std::chrono::milliseconds hello_first{1000};  // Patience per attempt; doubles each round
    std::chrono::milliseconds hello_longest{8000};
    // With a password: a server may let whoever guessed before wait, and another try would count.
    std::chrono::milliseconds hello_judged{10000};
    std::chrono::milliseconds attempt_gap{100};  // Between the starts of two attempts.
    // Requests without a connection end after this long.
    std::chrono::milliseconds lost_patience{30000};
    // What a request's own deadline leaves to the server, to answer `timeout` itself.
    std::chrono::milliseconds deadline_slack{2000};
};

//   greeting --welcome--> open --loss: silence, disconnect, unknown session--> greeting
//   greeting --refusal: denied, other version--> failed (for good)
class Session {
public:
    enum class Phase : std::uint8_t { kGreeting, kOpen, kFailed };

    struct Submission {
        proto::Mode mode = proto::Mode::kDeferred;
        std::string_view text;
        const Parameters* parameters = nullptr;
        const QueryOptions* options = nullptr;
        bool streaming = false;
    };

    // `pid`: this process, told to the server.
    explicit Session(ConnectOptions options, std::uint64_t pid = 0, SessionTimes times = {});

    void start(Time now);
    // Errors: kOverloaded, kTooLarge, kBadRequest: nothing was sent, and no Answer follows.
    [[nodiscard]] Result<RequestNumber> submit(Time now, const Submission& submission);
    void cancel(RequestNumber number);
    // The reader of a streaming request is done with pieces of so many bytes.
    void took(RequestNumber number, std::uint64_t bytes);
    // A message from the current socket. Untrusted: what makes no sense is counted and dropped.
    void receive(Time now, const Frames& frames);
    void disconnected(Time now);  // The current socket lost its connection.
    // The two ends did not come together: one of them encrypts and the other does not (`mismatch`),
    // or the other end hung up, as it does on who has another server's key.
    void handshake_failed(Time now, bool mismatch);
    void refused(Time now);  // The current socket could not connect; it keeps trying.
    // Deadlines, heartbeats, silence. Call when next_wake() has come and the socket is drained.
    void tick(Time now);
    [[nodiscard]] Time next_wake() const;
    // Says goodbye and ends every request with kCancelled.
    void stop();
    // The shell cannot go on: ends every request, and every later one, with this error.
    void abandon(Error error) { fail_for_good(std::move(error)); }

    [[nodiscard]] std::vector<Action> take_actions() { return std::exchange(actions_, {}); }
    [[nodiscard]] Phase phase() const noexcept { return phase_; }
    [[nodiscard]] const ServerInfo& server() const noexcept { return server_; }
    [[nodiscard]] std::uint64_t malformed() const noexcept { return malformed_; }
    // Why there is no connection: the server's refusal, or that nobody answered.
    [[nodiscard]] Error connect_error() const;

private:
    // What a reader has taken, and how much of that the server has been told.
    struct Taken {
        std::uint64_t bytes = 0;
        std::uint64_t told = 0;
        [[nodiscard]] bool is_news() const noexcept { return bytes - told >= proto::kCreditBytes; }
    };
    struct Pending {
        proto::Mode mode = proto::Mode::kDeferred;
        QueryOptions options;
        Frames bodies;  // Text [, parameters]: kept for sending again.
        Time submitted{};
        std::optional<Time> expires;  // The user's deadline.
        bool sent = false;            // In the session that is open now.
        bool streaming = false;
        ReplyAssembly assembly;
        Taken taken;  // Of the attempt under way.
        std::uint64_t rows = 0;
    };
    using Requests = std::map<std::uint64_t, Pending>;  // In order of submission.

    [[nodiscard]] std::optional<Error> refuse(const Submission& submission) const;
    void open_next(Time now);
    void schedule_attempt(Time now);
    void lose(Time now);
    void fail_for_good(Error error);
    void send(const proto::Message& message, Frames bodies = {});
    void send_request(Time now, std::uint64_t id, Pending& request);
    void answer(Requests::iterator request, Result<Table> reply);
    void answer_error(std::uint64_t id, Error error);
    void expire(Time now);
    void give_up_waiting(Time now);
    [[nodiscard]] std::string problem_of_credentials() const;
    [[nodiscard]] Time deadline_of(const Pending& request) const;
    [[nodiscard]] Duration silence_limit() const;

    void on(Time now, const proto::Welcome& welcome);
    void on(const proto::Reply& reply, const Frames& frames);
    void on(const proto::Progress& progress);
    void on_piece(Requests::iterator request, const proto::Reply& reply, std::uint64_t bytes);
    void give_credit(std::uint64_t id, std::uint32_t attempt, Taken& taken);
    void on(Time now, const proto::ErrorReply& error, const Frames& frames);
    void on_connection_error(Time now, Error error);

    ConnectOptions options_;
    std::uint64_t pid_;
    SessionTimes times_;
    Phase phase_ = Phase::kGreeting;
    ServerInfo server_;
    std::uint64_t session_ = 0;
    std::uint16_t version_ = proto::kVersionMin;  // Of the session.
    Taken taken_;                                 // Of all replies of this session.
    Requests requests_;
    std::set<std::pair<Time, std::uint64_t>> deadlines_;
    std::uint64_t last_number_ = 0;
    std::vector<Action> actions_;
    std::uint64_t malformed_ = 0;

    // Greeting: which endpoint is being tried, since when, and when to try the next.
    std::size_t attempts_ = 0;  // Since the connection was lost.
    Time attempt_started_{};
    Time next_attempt_{};
    Time lost_at_{};
    bool ever_open_ = false;
    bool answered_not_ready_ = false;
    unsigned hung_up_ = 0;  // Handshakes that the other end ended, in a row.
    std::optional<Error> refusal_;

    // Open.
    Time next_heartbeat_{};
    Time last_heard_{};
};

}  // namespace shortq::detail
