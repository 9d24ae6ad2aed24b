// primary/client_door.cpp: PROTOCOL.md's client side of the primary.
#include "primary/client_door.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "primary/machine.h"
#include "primary/overloaded.h"
#include "worker/engine/unique_fd.h"

namespace shortq::primary {
namespace {

constexpr int kLingerMs = 1000;  // How long last replies may take to leave when the primary ends.
constexpr std::string_view kServer = "shortq/" SHORTQ_VERSION;

// A process that is stopped keeps its connection for ever, and with it what lies here for it. Who
// reads, however slowly, is not affected; nor is who is silent for a while, by the floor.
int connection_patience_ms(std::chrono::nanoseconds stall) {
    using std::chrono::milliseconds;
    constexpr std::chrono::seconds kLeast{10};
    constexpr std::chrono::hours kMost{24};
    if (stall == std::chrono::nanoseconds{0}) return 0;  // The system's own.
    const auto patience = std::clamp<std::chrono::nanoseconds>(stall, kLeast, kMost);
    return static_cast<int>(std::chrono::duration_cast<milliseconds>(patience).count());
}

void configure(zmq::socket_t& socket, const ClientDoorOptions& options) {
    socket.set(zmq::sockopt::router_mandatory, true);
    socket.set(zmq::sockopt::router_handover, false);
    socket.set(zmq::sockopt::ipv6, options.endpoint.find('[') != std::string::npos);
    socket.set(zmq::sockopt::linger, kLingerMs);
    socket.set(zmq::sockopt::tcp_maxrt, connection_patience_ms(options.stall));
    if (!options.secret_key.empty()) {
        socket.set(zmq::sockopt::curve_server, true);
        socket.set(zmq::sockopt::curve_secretkey, options.secret_key);
    }
    // A frame over this drops the connection without a word, so it lies above what is answered.
    socket.set(zmq::sockopt::maxmsgsize,
               static_cast<std::int64_t>(options.query_bytes_max + proto::kFrameSlackBytes));
}

// ZeroMQ would take a socket's file away from whoever listens there. One that was left behind by a
// process that was killed is no obstacle.
void check_not_served(std::string_view endpoint) {
    constexpr std::string_view kIpc = "ipc://";
    if (!endpoint.starts_with(kIpc)) return;
    const auto path = endpoint.substr(kIpc.size());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return;  // Which bind() says.
    path.copy(address.sun_path, path.size());
    const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return;
    errno = EADDRINUSE;
    throw zmq::error_t();
}

std::string peer_address(zmq::message_t& frame) {
    try {
        const char* address = frame.gets("Peer-Address");
        return address == nullptr ? std::string() : std::string(address);
    } catch (const zmq::error_t&) {
        return {};
    }
}

}  // namespace

ClientDoor::ClientDoor(zmq::context_t& context, ClientDoorOptions options)
    : options_(std::move(options)), router_(context) {
    configure(router_.socket(), options_);
    check_not_served(options_.endpoint);
    router_.socket().bind(options_.endpoint);
}

std::string ClientDoor::endpoint() { return router_.socket().get(zmq::sockopt::last_endpoint); }

bool ClientDoor::receive() { return router_.receive(in_); }

const ClientFacts* ClientDoor::sender() const {
    const auto found = by_identity_.find(in_.sender());
    return found == by_identity_.end() ? nullptr : facts(found->second);
}

ClientSays ClientDoor::interpret() {
    const auto message = proto::decode(in_.header_bytes());
    if (!message) return refuse_malformed(0, message.error().code, message.error().message);
    const auto* known = sender();
    const auto session_is = [&](std::uint64_t session) {
        return known != nullptr && known->session == session;
    };
    // These have no answer. A client that leaves after its session has ended still says goodbye.
    const auto ignore_session = [&]() -> ClientSays {
        without_session_.add_expected("a message of an unknown session");
        return Nothing{};
    };
    return std::visit(Overloaded{
                          [&](const proto::Hello& hello) {
                              // ZeroMQ tells the address of what comes by itself only.
                              if (in_.bundled)
                                  return refuse_malformed(0, ErrorCode::kBadRequest,
                                                          "a hello does not go in a bundle");
                              return on_hello(hello);
                          },
                          [&](const proto::Request& request) { return on_request(request, known); },
                          [&](const proto::Cancel& cancel) -> ClientSays {
                              if (!session_is(cancel.session)) return ignore_session();
                              return core::CancelRequested{known->client, cancel.id};
                          },
                          [&](const proto::Credit& credit) -> ClientSays {
                              if (!session_is(credit.session)) return ignore_session();
                              return core::CreditArrived{.client = known->client,
                                                         .client_request = credit.id,
                                                         .attempt = credit.attempt,
                                                         .bytes = credit.bytes};
                          },
                          [&](const proto::Heartbeat& heartbeat) -> ClientSays {
                              if (session_is(heartbeat.session)) {
                                  // The answer is how an idle client knows that this end is alive.
                                  static_cast<void>(send(known->client, proto::Heartbeat{}));
                                  return core::ClientHeard{known->client};
                              }
                              return refuse_session(0);
                          },
                          [&](const proto::Goodbye& goodbye) -> ClientSays {
                              if (!session_is(goodbye.session)) return ignore_session();
                              return core::ClientLost{known->client};
                          },
                          [&](const auto&) {
                              return refuse_malformed(0, ErrorCode::kBadRequest,
                                                      "a client does not send this kind");
                          },
                      },
                      *message);
}

ClientSays ClientDoor::on_hello(const proto::Hello& hello) {
    if (const auto* known = sender()) return HelloAgain{known->client};
    const auto version = std::min(hello.version_max, proto::kVersionMax);
    if (version < hello.version_min || version < proto::kVersionMin) {
        return refuse_malformed(
            0, ErrorCode::kBadRequest,
            fmt::format("no common protocol version: this primary speaks {} to {}, the client {} "
                        "to {}",
                        proto::kVersionMin, proto::kVersionMax, hello.version_min,
                        hello.version_max));
    }
    if (hello.role != proto::Role::kClient)
        return refuse_malformed(0, ErrorCode::kBadRequest, "workers do not connect here");
    arriving_ = ClientFacts{};
    arriving_.identity = in_.sender();
    arriving_.address = peer_address(in_.header);
    arriving_.user = hello.user;
    arriving_.agent = hello.agent;
    arriving_.session = random_number();
    arriving_.version = version;
    if (authenticator_ != nullptr) return check_password();
    return NewClient{};
}

void ClientDoor::guard(auth::Authenticator& authenticator, std::function<void(HelloJudged)> tell) {
    authenticator_ = &authenticator;
    tell_judged_ = std::move(tell);
}

// PROTOCOL.md#hello: the password is the hello's body. To come without one is no guess.
ClientSays ClientDoor::check_password() {
    if (arriving_.user.empty() || in_.bodies.empty())
        return refuse(0, ErrorCode::kDenied, "this server wants a user's name and a password");
    auto& body = in_.bodies.front();
    if (body.size() > proto::kPasswordBytesMax || in_.bodies.size() > 1) {
        return refuse_malformed(0, ErrorCode::kBadRequest,
                                fmt::format("a hello has one body, a password of at most {} bytes",
                                            proto::kPasswordBytesMax));
    }
    auth::Secret password(body.to_string_view());
    auth::wipe(body.data(), body.size());
    // Who says hello again while it is looked at has had the one answer that is to come.
    const auto [place, added] = checking_.try_emplace(arriving_.identity, std::move(arriving_));
    if (!added) return Nothing{};
    auto done = [tell = tell_judged_, identity = place->first](auth::Verdict verdict) {
        tell({identity, verdict});
    };
    authenticator_->check(
        {place->second.user, std::move(password), place->second.address, std::move(done)});
    return Nothing{};
}

bool ClientDoor::judged(const HelloJudged& hello) {
    auto found = checking_.extract(hello.identity);
    if (found.empty()) return false;
    if (hello.verdict == auth::Verdict::kAccepted) {
        arriving_ = std::move(found.mapped());
        return true;
    }
    const bool busy = hello.verdict == auth::Verdict::kBusy;
    proto::ErrorReply reply;
    reply.code = busy ? ErrorCode::kOverloaded : ErrorCode::kDenied;
    reply.retryable = retryable_by_default(reply.code);
    std::array<zmq::message_t, 2> bodies{
        frame_of(busy ? "too many passwords wait to be checked" : "wrong user name or password"),
        frame_of("primary")};
    static_cast<void>(router_.send(hello.identity, reply, bodies));
    return false;
}

ClientSays ClientDoor::on_request(const proto::Request& request, const ClientFacts* known) {
    if (known == nullptr || known->session != request.session) return refuse_session(request.id);
    if (in_.bodies.empty() || in_.bodies.size() > 2 || request.id == 0) {
        return refuse_malformed(
            request.id, ErrorCode::kBadRequest,
            "a request has an id above 0 and one or two bodies: text and parameters");
    }
    std::uint64_t bytes = 0;
    for (const auto& body : in_.bodies) bytes += body.size();
    if (bytes > options_.query_bytes_max) {
        return refuse(request.id, ErrorCode::kTooLarge,
                      fmt::format("text and parameters have {} bytes, the limit is {} "
                                  "(--max-query-bytes)",
                                  bytes, options_.query_bytes_max));
    }
    if (!request.service.empty() && request.service != "default") {
        return refuse(request.id, ErrorCode::kUnknownService,
                      fmt::format("no service '{}'; there is one: default", request.service));
    }
    return NewRequest{.event = {.client = known->client,
                                .client_request = request.id,
                                .mode = request.mode,
                                .priority = request.priority,
                                .streaming = request.streaming,
                                .timeout = std::chrono::milliseconds(request.timeout_ms),
                                .min_generation = request.min_generation,
                                .bytes = bytes},
                      .id = request.id};
}

// An answer that concerns no accepted request. Who cannot be reached needs none.
ClientSays ClientDoor::refuse(std::uint64_t id, ErrorCode code, std::string_view message) {
    std::array<zmq::message_t, 2> bodies{frame_of(message), frame_of("primary")};
    proto::ErrorReply reply;
    reply.id = id;
    reply.code = code;
    reply.retryable = retryable_by_default(code);
    static_cast<void>(router_.send(in_.sender(), reply, bodies));
    const auto* known = sender();
    if (known == nullptr || code == ErrorCode::kUnknownSession) return Nothing{};
    return core::ClientHeard{known->client};
}

ClientSays ClientDoor::refuse_malformed(std::uint64_t id, ErrorCode code,
                                        std::string_view message) {
    malformed_.add(message);
    return refuse(id, code, message);
}

ClientSays ClientDoor::refuse_session(std::uint64_t id) {
    constexpr std::string_view kMessage = "unknown session: say hello again";
    without_session_.add(kMessage);
    return refuse(id, ErrorCode::kUnknownSession, kMessage);
}

void ClientDoor::admit(core::ClientId client, std::uint32_t workers, std::uint32_t generation) {
    const auto slot = core::slot_of(client);
    if (slot >= clients_.size()) clients_.resize(slot + 1);
    arriving_.client = client;
    arriving_.number = ++admitted_;
    by_identity_[arriving_.identity] = client;
    clients_[slot] = std::exchange(arriving_, ClientFacts{});
    proto::Welcome welcome;
    welcome.version = clients_[slot].version;
    welcome.session = clients_[slot].session;
    welcome.workers = workers;
    welcome.generation = generation;
    welcome.query_bytes_max = options_.query_bytes_max;
    welcome.result_bytes_max = options_.result_bytes_max;
    welcome.pending_max = options_.pending_per_client_max;
    welcome.heartbeat_ms = static_cast<std::uint32_t>(proto::kHeartbeatInterval.count());
    welcome.server = kServer;
    // Who is gone already is found out by its silence.
    static_cast<void>(router_.send(clients_[slot].identity, welcome));
}

void ClientDoor::forget(core::ClientId client) {
    const auto* known = facts(client);
    if (known == nullptr) return;
    by_identity_.erase(known->identity);
    clients_[core::slot_of(client)] = ClientFacts{};
}

bool ClientDoor::send(core::ClientId client, const proto::Message& header,
                      std::span<zmq::message_t> bodies) {
    const auto* known = facts(client);
    if (known == nullptr) return true;
    const auto bundling = known->version >= proto::kVersionBundles ? Bundling::kYes : Bundling::kNo;
    return router_.send(known->identity, header, bodies, bundling) == Sent::kYes;
}

std::vector<core::ClientId> ClientDoor::flush() { return router_.flush_to(by_identity_); }

const ClientFacts* ClientDoor::facts(core::ClientId client) const {
    const auto slot = core::slot_of(client);
    if (slot >= clients_.size() || clients_[slot].client != client) return nullptr;
    return clients_[slot].session == 0 ? nullptr : &clients_[slot];
}

}  // namespace shortq::primary
