#include "client/session.h"

#include <algorithm>
#include <memory>

#include "proto/limits.h"
#include "proto/utf8.h"

namespace shortq::detail {
namespace {

Buffer own(std::vector<std::byte> bytes) {
    auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    return {std::span(*owner), owner};
}

Buffer own(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return own(std::vector<std::byte>(bytes.begin(), bytes.end()));
}

// A body that should be text; cut at the limit, empty if the peer left it out.
std::string text_of(const Frames& frames, std::size_t index) {
    if (index >= frames.size()) return {};
    const auto bytes = frames[index].bytes;
    return {reinterpret_cast<const char*>(bytes.data()),
            std::min(bytes.size(), proto::kErrorTextBytesMax)};
}

std::uint32_t milliseconds_until(Time deadline, Time now) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now).count();
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(left, 1, UINT32_MAX));
}

std::string seconds(std::chrono::milliseconds duration) {
    auto text = std::to_string(duration.count() / 1000);
    const auto rest = duration.count() % 1000;
    if (rest == 0) return text + " s";
    auto digits = std::to_string(1000 + rest);
    while (digits.back() == '0') digits.pop_back();
    return text + "." + digits.substr(1) + " s";
}

std::string joined(const std::vector<std::string>& texts) {
    std::string out;
    for (const auto& text : texts) out += (out.empty() ? "" : ", ") + text;
    return out;
}

Error make_error(ErrorCode code, std::string message, std::string where) {
    return {code, std::move(message), std::move(where), retryable_by_default(code)};
}

}  // namespace

Session::Session(ConnectOptions options, std::uint64_t pid, SessionTimes times)
    : options_(std::move(options)), pid_(pid), times_(times) {
    if (options_.agent.empty()) options_.agent = "libshortq/" + std::string(version());
    options_.agent.resize(std::min(options_.agent.size(), proto::kAgentBytesMax));
    // The cut may have gone through a character, and header texts must be UTF-8.
    while (!proto::is_utf8(options_.agent)) options_.agent.pop_back();
}

void Session::start(Time now) {
    lost_at_ = now;
    if (auto problem = problem_of_credentials(); !problem.empty()) {
        fail_for_good(make_error(ErrorCode::kBadRequest, std::move(problem), {}));
        return;
    }
    open_next(now);
}

std::string Session::problem_of_credentials() const {
    if (options_.user.size() > proto::kUserBytesMax) {  // A name cut short may be another user's.
        return "the user's name has more than " + std::to_string(proto::kUserBytesMax) + " bytes";
    }
    if (!proto::is_utf8(options_.user)) return "the user's name is not UTF-8";
    if (options_.password.size() > proto::kPasswordBytesMax) {
        return "the password has more than " + std::to_string(proto::kPasswordBytesMax) + " bytes";
    }
    if (!options_.password.empty() && options_.user.empty()) {
        return "a password needs a user's name";
    }
    return {};
}

// ---- requests ----

std::optional<Error> Session::refuse(const Submission& submission) const {
    const auto& options = *submission.options;
    if (phase_ == Phase::kFailed) return connect_error();
    if (submission.text.size() > server_.query_bytes_max && ever_open_) {
        return make_error(ErrorCode::kTooLarge,
                          "the query has " + std::to_string(submission.text.size()) +
                              " bytes; the server takes at most " +
                              std::to_string(server_.query_bytes_max) + " (--max-query-bytes)",
                          server_.endpoint);
    }
    if (options.service.size() > proto::kServiceBytesMax) {
        return make_error(ErrorCode::kTooLarge, "the name of the service is too long", {});
    }
    if (!proto::is_utf8(options.service)) {
        return make_error(ErrorCode::kBadRequest, "the name of the service is not UTF-8", {});
    }
    if (submission.parameters->size() > proto::kParametersMax) {
        return make_error(ErrorCode::kTooLarge,
                          "more than " + std::to_string(proto::kParametersMax) + " parameters", {});
    }
    if (options.timeout.count() < 0) {
        return make_error(ErrorCode::kBadRequest, "the timeout is negative", {});
    }
    if (ever_open_ && server_.pending_max != 0 && requests_.size() >= server_.pending_max) {
        return make_error(ErrorCode::kOverloaded,
                          "this client has " + std::to_string(requests_.size()) +
                              " unanswered requests, as many as the server allows "
                              "(--max-pending-per-client)",
                          server_.endpoint);
    }
    return std::nullopt;
}

Result<RequestNumber> Session::submit(Time now, const Submission& submission) {
    if (auto error = refuse(submission)) return tl::unexpected(*std::move(error));
    Pending request;
    request.mode = submission.mode;
    request.streaming = submission.streaming;
    request.options = *submission.options;
    request.bodies.push_back(own(submission.text));
    if (!submission.parameters->empty()) {
        request.bodies.push_back(own(proto::encode_parameters(*submission.parameters)));
        const auto bytes = request.bodies[0].bytes.size() + request.bodies[1].bytes.size();
        if (ever_open_ && bytes > server_.query_bytes_max) {
            return fail(ErrorCode::kTooLarge,
                        "the query and its parameters have " + std::to_string(bytes) +
                            " bytes; the server takes at most " +
                            std::to_string(server_.query_bytes_max) + " (--max-query-bytes)",
                        server_.endpoint);
        }
    }
    request.submitted = now;
    // Beyond what the wire can say, a deadline is as good as none.
    const std::chrono::milliseconds longest{UINT32_MAX};
    if (request.options.timeout.count() > 0 && request.options.timeout <= longest) {
        request.expires = now + request.options.timeout;
    }
    const auto id = ++last_number_;
    const auto place = requests_.emplace(id, std::move(request)).first;
    if (place->second.expires) deadlines_.emplace(deadline_of(place->second), id);
    if (phase_ == Phase::kOpen) send_request(now, id, place->second);
    return RequestNumber{id};
}

void Session::send_request(Time now, std::uint64_t id, Pending& request) {
    proto::Request header;
    header.id = id;
    header.session = session_;
    header.mode = request.mode;
    header.streaming = request.streaming;
    header.priority = static_cast<proto::Priority>(request.options.priority);
    header.timeout_ms = request.expires ? milliseconds_until(*request.expires, now) : 0;
    header.min_generation = request.options.min_generation;
    header.service = request.options.service;
    request.sent = true;
    send(header, request.bodies);
}

void Session::cancel(RequestNumber number) {
    const auto id = static_cast<std::uint64_t>(number);
    const auto found = requests_.find(id);
    if (found == requests_.end()) return;  // Answered already.
    if (phase_ == Phase::kOpen) {
        send(proto::Cancel{id, session_});
    } else {
        answer(found, tl::unexpected(make_error(ErrorCode::kCancelled,
                                                "cancelled while there was no connection", {})));
    }
}

void Session::answer(Requests::iterator request, Result<Table> reply) {
    if (request->second.expires) deadlines_.erase({deadline_of(request->second), request->first});
    actions_.emplace_back(Answer{RequestNumber{request->first}, std::move(reply)});
    requests_.erase(request);
}

void Session::answer_error(std::uint64_t id, Error error) {
    const auto found = requests_.find(id);
    if (found != requests_.end()) answer(found, tl::unexpected(std::move(error)));
}

Time Session::deadline_of(const Pending& request) const {
    return *request.expires + times_.deadline_slack;
}

// ---- connection ----

void Session::open_next(Time now) {
    const auto& endpoints = options_.endpoints;
    server_.endpoint = endpoints[attempts_ % endpoints.size()];
    const auto round = std::min<std::size_t>(attempts_ / endpoints.size(), 8);
    auto patience = std::min(times_.hello_first * (1U << round), times_.hello_longest);
    if (!options_.password.empty()) patience = std::max(patience, times_.hello_judged);
    ++attempts_;
    attempt_started_ = now;
    next_attempt_ = now + patience;
    actions_.emplace_back(Open{server_.endpoint});
    proto::Hello hello;
    hello.version_max = proto::kVersionMax;
    hello.pid = pid_;
    hello.agent = options_.agent;
    hello.user = options_.user;
    Frames bodies;
    if (!options_.password.empty()) bodies.push_back(own(options_.password));
    send(hello, std::move(bodies));
}

void Session::schedule_attempt(Time now) {
    next_attempt_ = std::max(now, attempt_started_ + times_.attempt_gap);
}

void Session::lose(Time now) {
    phase_ = Phase::kGreeting;
    session_ = 0;
    lost_at_ = now;
    attempts_ = 0;
    std::vector<std::uint64_t> broken;
    for (auto& [id, request] : requests_) {
        const bool read_from = request.streaming && request.assembly.begun();
        if (request.sent && (request.mode == proto::Mode::kSync || read_from)) {
            broken.push_back(id);
            continue;
        }
        request.sent = false;
        request.assembly = {};
        request.taken = {};
    }
    for (const auto id : broken) {
        const bool sync = requests_.at(id).mode == proto::Mode::kSync;
        auto error = make_error(
            ErrorCode::kConnection,
            "the connection to " + server_.endpoint +
                (sync ? " broke while a sync request was under way; it may or may not have run"
                      : " broke in the middle of the result; ask again"),
            server_.endpoint);
        error.retryable = !sync;
        answer_error(id, std::move(error));
    }
    schedule_attempt(now);
    if (next_attempt_ <= now) open_next(now);
}

void Session::fail_for_good(Error error) {
    phase_ = Phase::kFailed;
    refusal_ = error;
    while (!requests_.empty()) answer(requests_.begin(), tl::unexpected(error));
}

void Session::disconnected(Time now) {
    if (phase_ == Phase::kOpen) lose(now);
    if (phase_ == Phase::kGreeting) schedule_attempt(now);
}

void Session::refused(Time now) {
    // Alone, the socket's own retries do; they are quicker than a fresh one.
    if (phase_ == Phase::kGreeting && options_.endpoints.size() > 1) schedule_attempt(now);
}

void Session::handshake_failed(Time now, bool mismatch) {
    constexpr unsigned kHungUpMax = 3;  // In between, a server may have been restarted.
    if (phase_ != Phase::kGreeting) return;
    const auto& where = server_.endpoint;
    if (mismatch) {
        const bool encrypts = !options_.server_key.empty();
        return fail_for_good(
            make_error(ErrorCode::kDenied,
                       encrypts ? "this client encrypts, and the server at " + where +
                                      " does not: it was started without --curve-keys"
                                : "the server at " + where +
                                      " wants encryption (or is no shortq): give its public key "
                                      "(--server-key)",
                       where));
    }
    refusal_ = make_error(ErrorCode::kConnection,
                          options_.server_key.empty()
                              ? "the server at " + where +
                                    " hangs up at once; if it wants encryption, give its public "
                                    "key (--server-key); or is that its port for kdb+ clients?"
                              : "cannot agree on encryption with the server at " + where +
                                    ": is the server key its own, and was it started with "
                                    "--curve-keys?",
                          where);
    ++hung_up_;
    const bool may_still_start = ever_open_ || options_.wait_until_ready;
    if (hung_up_ >= kHungUpMax * options_.endpoints.size() && !may_still_start) {
        if (!options_.server_key.empty()) refusal_->code = ErrorCode::kDenied;
        fail_for_good(*refusal_);
    } else if (options_.endpoints.size() > 1) {
        schedule_attempt(now);
    }
}

Error Session::connect_error() const {
    if (refusal_) return *refusal_;
    const auto endpoints = joined(options_.endpoints);
    const auto within = seconds(options_.connect_timeout);
    if (answered_not_ready_) {
        return make_error(ErrorCode::kConnection,
                          "cannot use " + endpoints +
                              ": shortq answered, but no worker was ready "
                              "within " +
                              within + "; is it still loading?",
                          endpoints);
    }
    const auto& first = options_.endpoints.front();
    const auto port = first.substr(first.rfind(':') + 1);
    return make_error(ErrorCode::kConnection,
                      "cannot connect to " + endpoints + ": no shortq answered within " + within +
                          "; is it running? (start one with: shortq -p " + port + " 2 startup.sql)",
                      endpoints);
}

void Session::send(const proto::Message& message, Frames bodies) {
    proto::HeaderBuffer buffer;
    const auto header = proto::encode(message, buffer);
    bodies.insert(bodies.begin(), own(std::vector<std::byte>(header.begin(), header.end())));
    const bool bundled = phase_ == Phase::kOpen && version_ >= proto::kVersionBundles;
    actions_.emplace_back(Send{std::move(bodies), bundled});
}

void Session::stop() {
    if (phase_ == Phase::kOpen) send(proto::Goodbye{session_});
    fail_for_good(make_error(ErrorCode::kCancelled, "the client was closed", {}));
}

// ---- messages ----

void Session::receive(Time now, const Frames& frames) {
    if (phase_ == Phase::kFailed || frames.empty()) return;
    const auto message = proto::decode(frames.front().bytes);
    if (!message) {
        ++malformed_;
        return;
    }
    last_heard_ = now;
    if (const auto* welcome = std::get_if<proto::Welcome>(&*message)) {
        on(now, *welcome);
    } else if (const auto* reply = std::get_if<proto::Reply>(&*message)) {
        on(*reply, frames);
    } else if (const auto* progress = std::get_if<proto::Progress>(&*message)) {
        on(*progress);
    } else if (const auto* error = std::get_if<proto::ErrorReply>(&*message)) {
        on(now, *error, frames);
    } else if (!std::holds_alternative<proto::Heartbeat>(*message) &&
               !std::holds_alternative<proto::Ping>(*message)) {
        ++malformed_;
    }
}

void Session::on(Time now, const proto::Welcome& welcome) {
    if (phase_ != Phase::kGreeting) return;
    if (welcome.version < proto::kVersionMin || welcome.version > proto::kVersionMax) {
        fail_for_good(make_error(ErrorCode::kBadRequest,
                                 "the server speaks protocol version " +
                                     std::to_string(welcome.version) + ", this client version " +
                                     std::to_string(proto::kVersionMax),
                                 server_.endpoint));
        return;
    }
    if (options_.wait_until_ready && !ever_open_ && welcome.workers == 0) {
        answered_not_ready_ = true;
        send(proto::Goodbye{welcome.session});
        --attempts_;  // The same endpoint again.
        schedule_attempt(now);
        return;
    }
    refusal_.reset();
    hung_up_ = 0;
    session_ = welcome.session;
    version_ = welcome.version;
    taken_ = {};
    server_.server = welcome.server;
    server_.workers = welcome.workers;
    server_.generation = welcome.generation;
    server_.query_bytes_max = welcome.query_bytes_max;
    server_.pending_max = welcome.pending_max;
    phase_ = Phase::kOpen;
    ever_open_ = true;
    last_heard_ = now;
    next_heartbeat_ = now + proto::kHeartbeatInterval;
    for (auto& [id, request] : requests_) send_request(now, id, request);
}

void Session::on(const proto::Reply& reply, const Frames& frames) {
    if (phase_ != Phase::kOpen) return;
    std::uint64_t bytes = 0;
    for (const auto& body : std::span(frames).subspan(1)) bytes += body.bytes.size();
    taken_.bytes += bytes;  // Whoever it was for.
    give_credit(0, 0, taken_);
    const auto found = requests_.find(reply.id);
    if (found == requests_.end() || !found->second.sent) return;  // Timed out here, or not ours.
    auto added = found->second.assembly.add(reply, std::span(frames).subspan(1));
    if (!added) {
        ++malformed_;
        send(proto::Cancel{reply.id, session_});
        added.error().where = server_.endpoint;
        answer(found, tl::unexpected(std::move(added.error())));
    } else if (*added) {
        answer(found, **std::move(added));
    } else if (reply.attempt == found->second.assembly.attempt()) {
        on_piece(found, reply, bytes);
    }
}

void Session::on_piece(Requests::iterator found, const proto::Reply& reply, std::uint64_t bytes) {
    auto& request = found->second;
    if (reply.sequence == 0) request.taken = {};  // Of the first attempt, or of a new one.
    request.rows = reply.facts.rows;
    if (request.options.progress) {
        actions_.emplace_back(
            Progressed{request.options.progress, {-1, request.rows, reply.facts.bytes}});
    }
    if (request.streaming) {
        actions_.emplace_back(
            Piece{RequestNumber{reply.id}, request.assembly.take(reply.facts), bytes});
        return;
    }
    request.taken.bytes += bytes;
    give_credit(reply.id, reply.attempt, request.taken);
}

void Session::took(RequestNumber number, std::uint64_t bytes) {
    const auto found = requests_.find(static_cast<std::uint64_t>(number));
    if (found == requests_.end() || !found->second.sent) return;
    auto& request = found->second;
    request.taken.bytes += bytes;
    give_credit(found->first, request.assembly.attempt(), request.taken);
}

void Session::give_credit(std::uint64_t id, std::uint32_t attempt, Taken& taken) {
    if (!taken.is_news()) return;
    taken.told = taken.bytes;
    send(proto::Credit{.id = id, .session = session_, .attempt = attempt, .bytes = taken.bytes});
}

void Session::on(const proto::Progress& progress) {
    const auto found = requests_.find(progress.id);
    if (found == requests_.end() || !found->second.options.progress) return;
    const auto& request = found->second;
    const double fraction = progress.progress_ppm < 0 ? -1 : progress.progress_ppm / 1e6;
    actions_.emplace_back(
        Progressed{request.options.progress, {fraction, request.rows, request.taken.bytes}});
}

void Session::on(Time now, const proto::ErrorReply& error, const Frames& frames) {
    Error converted{error.code, text_of(frames, 1), text_of(frames, 2), error.retryable};
    if (converted.message.empty()) converted.message = std::string(name_of(error.code));
    if (error.code == ErrorCode::kUnknownSession) {
        if (phase_ == Phase::kOpen) lose(now);
    } else if (error.id == 0) {
        on_connection_error(now, std::move(converted));
    } else {
        answer_error(error.id, std::move(converted));
    }
}

void Session::on_connection_error(Time now, Error error) {
    if (error.where.empty()) error.where = server_.endpoint;
    const bool hopeless = error.code == ErrorCode::kDenied ||
                          (error.code == ErrorCode::kBadRequest && phase_ == Phase::kGreeting);
    if (hopeless) {
        fail_for_good(std::move(error));
    } else if (phase_ == Phase::kGreeting) {
        refusal_ = std::move(error);  // Told if no later attempt succeeds.
        schedule_attempt(now);
    }
}

// ---- time ----

void Session::tick(Time now) {
    expire(now);
    if (phase_ == Phase::kOpen && now - last_heard_ >= silence_limit()) {
        send(proto::Goodbye{session_});  // If it is only slow, it need not finish the old ones.
        lose(now);
    }
    if (phase_ == Phase::kOpen && now >= next_heartbeat_) {
        proto::Heartbeat heartbeat;
        heartbeat.session = session_;
        send(heartbeat);
        next_heartbeat_ = now + proto::kHeartbeatInterval;
    }
    if (phase_ == Phase::kGreeting && now >= next_attempt_) open_next(now);
    if (phase_ == Phase::kGreeting && ever_open_) give_up_waiting(now);
}

Duration Session::silence_limit() const {
    return options_.endpoints.size() > 1 ? times_.silence_failover : times_.silence_alone;
}

void Session::expire(Time now) {
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
        const auto id = deadlines_.begin()->second;
        const auto found = requests_.find(id);
        if (found->second.sent) send(proto::Cancel{id, session_});
        answer(found, tl::unexpected(make_error(ErrorCode::kTimeout,
                                                "no answer from " + server_.endpoint +
                                                    " within the timeout of " +
                                                    seconds(found->second.options.timeout),
                                                server_.endpoint)));
    }
}

void Session::give_up_waiting(Time now) {
    std::vector<std::uint64_t> stranded;
    for (const auto& [id, request] : requests_) {
        if (std::max(lost_at_, request.submitted) + times_.lost_patience <= now) {
            stranded.push_back(id);
        }
    }
    for (const auto id : stranded) {
        answer_error(id, make_error(ErrorCode::kConnection,
                                    "the connection to " + joined(options_.endpoints) +
                                        " broke, and no shortq answered there for " +
                                        seconds(times_.lost_patience),
                                    server_.endpoint));
    }
}

Time Session::next_wake() const {
    auto wake = deadlines_.empty() ? Time::max() : deadlines_.begin()->first;
    if (phase_ == Phase::kOpen) {
        wake = std::min({wake, next_heartbeat_, last_heard_ + silence_limit()});
    } else if (phase_ == Phase::kGreeting) {
        wake = std::min(wake, next_attempt_);
    }
    return wake;
}

}  // namespace shortq::detail
