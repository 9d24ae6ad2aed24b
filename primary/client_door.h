// primary/client_door.h: the native front door: who is connected, and what they say. Knows sockets
// and sessions, no queues.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>
#include <zmq.hpp>

#include "primary/auth/authenticator.h"
#include "primary/bad_messages.h"
#include "primary/core/events.h"
#include "primary/wire.h"
#include "proto/message.h"

namespace shortq::primary {

struct ClientDoorOptions {
    std::string endpoint;  // "tcp://127.0.0.1:0", "ipc:///run/shortq"
    std::uint64_t query_bytes_max = 0;
    std::uint64_t result_bytes_max = 0;
    std::uint32_t pending_per_client_max = 0;
    std::chrono::nanoseconds stall{0};  // Who takes nothing for so long is cut off. 0: nobody is.
    std::string secret_key{};           // CURVE, Z85. Empty: nothing is encrypted.
};

// Whether who said hello may come in.
struct HelloJudged {
    std::string identity;
    auth::Verdict verdict{};
};

// What a client's message asks of the dispatcher. A refused message is answered by the door itself.
struct NewClient {};  // Said hello: the next admit() is its.
struct NewRequest {
    core::RequestArrived event;
    std::uint64_t id = 0;
};
struct HelloAgain {  // Its session is over.
    core::ClientId client{};
};
struct Nothing {};
using ClientSays = std::variant<Nothing, NewClient, HelloAgain, NewRequest, core::CancelRequested,
                                core::CreditArrived, core::ClientHeard, core::ClientLost>;

struct ClientFacts {
    core::ClientId client{};
    std::uint64_t number = 0;  // For people: counts the connections.
    std::string identity;
    std::string address;
    std::string user;
    std::string agent;
    std::uint64_t session = 0;
    std::uint16_t version = 0;
};

// Threads: the dispatch thread. Errors: the constructor throws zmq::error_t (EADDRINUSE ...);
// afterwards a bad peer costs a counter, never an exception.
class ClientDoor {
public:
    ClientDoor(zmq::context_t& context, ClientDoorOptions options);

    [[nodiscard]] Router& router() noexcept { return router_; }
    [[nodiscard]] std::string endpoint();  // With the port that was picked.

    // Takes one message, if there is one, into incoming().
    [[nodiscard]] bool receive();
    // What the message just received asks. A hello of a known connection says HelloAgain first:
    // forget the client, then ask again.
    [[nodiscard]] ClientSays interpret();
    // The bodies of the message just received: text [, parameters].
    [[nodiscard]] std::vector<zmq::message_t>& bodies() noexcept { return in_.bodies; }

    // From now on a hello needs a password. `authenticator` outlives the door's last interpret();
    // its verdicts go to `tell`, from any thread, and from there to judged().
    void guard(auth::Authenticator& authenticator, std::function<void(HelloJudged)> tell);
    // True: the next admit() is for the one who said that hello.
    [[nodiscard]] bool judged(const HelloJudged& hello);

    // The core has opened `client` for the hello just received: sends its welcome.
    void admit(core::ClientId client, std::uint32_t workers, std::uint32_t generation);
    void forget(core::ClientId client);
    // For people: connections of every door are counted together.
    [[nodiscard]] std::uint64_t next_number() noexcept { return ++admitted_; }

    // False: unreachable; the core should hear ClientLost. A client that is gone already: true.
    [[nodiscard]] bool send(core::ClientId client, const proto::Message& header,
                            std::span<zmq::message_t> bodies = {});
    // Small messages wait for this, so that what a round brings for one client goes together. Those
    // it could not be sent to are gone.
    [[nodiscard]] std::vector<core::ClientId> flush();

    [[nodiscard]] const ClientFacts* facts(core::ClientId client) const;
    // Malformed, of an unknown version, or of a kind that clients do not send.
    [[nodiscard]] std::uint64_t malformed() const noexcept { return malformed_.count(); }
    // Out of order: from a connection that has not said hello, or not to this primary.
    [[nodiscard]] std::uint64_t without_session() const noexcept {
        return without_session_.count();
    }

private:
    [[nodiscard]] ClientSays on_hello(const proto::Hello& hello);
    [[nodiscard]] ClientSays check_password();
    [[nodiscard]] ClientSays on_request(const proto::Request& request, const ClientFacts* known);
    [[nodiscard]] ClientSays refuse(std::uint64_t id, ErrorCode code, std::string_view message);
    [[nodiscard]] ClientSays refuse_malformed(std::uint64_t id, ErrorCode code,
                                              std::string_view message);
    [[nodiscard]] ClientSays refuse_session(std::uint64_t id);
    [[nodiscard]] const ClientFacts* sender() const;

    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>{}(text);
        }
    };

    ClientDoorOptions options_;
    Router router_;
    Incoming in_;
    ClientFacts arriving_;              // Of the hello that waits for admit().
    std::vector<ClientFacts> clients_;  // By slot.
    std::unordered_map<std::string, core::ClientId, TextHash, std::equal_to<>> by_identity_;
    std::uint64_t admitted_ = 0;
    auth::Authenticator* authenticator_ = nullptr;
    std::function<void(HelloJudged)> tell_judged_;
    std::unordered_map<std::string, ClientFacts> checking_;  // By identity, which never repeats.
    BadMessages malformed_{"a client"};
    BadMessages without_session_{"a client"};
};

}  // namespace shortq::primary
