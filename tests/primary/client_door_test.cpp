#include "primary/client_door.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <optional>

#include "primary/auth/password_hash.h"
#include "tests/proto/bundles.h"
#include "tests/temporary_folder.h"
#include "worker/engine/unique_fd.h"

namespace shortq::primary {
namespace {

using std::chrono::seconds;

// A client played by hand: one DEALER, frames as the test says.
class Peer {
public:
    Peer(zmq::context_t& context, const std::string& endpoint)
        : socket_(context, zmq::socket_type::dealer) {
        socket_.set(zmq::sockopt::linger, 0);
        socket_.set(zmq::sockopt::rcvtimeo, 10'000);
        socket_.connect(endpoint);
    }

    void send(const proto::Message& message, const std::vector<std::string>& bodies = {}) {
        proto::HeaderBuffer buffer;
        const auto bytes = proto::encode(message, buffer);
        send_raw({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, bodies);
    }
    void send_raw(std::string_view header, const std::vector<std::string>& bodies = {}) {
        socket_.send(zmq::buffer(header),
                     bodies.empty() ? zmq::send_flags::none : zmq::send_flags::sndmore);
        for (std::size_t i = 0; i < bodies.size(); ++i)
            socket_.send(zmq::buffer(bodies[i]),
                         i + 1 == bodies.size() ? zmq::send_flags::none : zmq::send_flags::sndmore);
    }

    // The next message; its bodies as texts in `received`.
    proto::Message receive() {
        if (!socket_.recv(header_)) throw std::runtime_error("no answer");
        received.clear();
        for (bool more = header_.more(); more;) {
            zmq::message_t body;
            static_cast<void>(socket_.recv(body));
            received.push_back(text_of(body));
            more = body.more();
        }
        return proto::decode({static_cast<const std::byte*>(header_.data()), header_.size()})
            .value();
    }
    // The frames of the next message, a bundle as it is.
    test::Texts receive_raw() {
        test::Texts frames;
        zmq::message_t frame;
        do {
            if (!socket_.recv(frame)) throw std::runtime_error("no answer");
            frames.push_back(text_of(frame));
        } while (frame.more());
        return frames;
    }
    proto::ErrorReply receive_error() { return std::get<proto::ErrorReply>(receive()); }

    std::vector<std::string> received;

private:
    zmq::socket_t socket_;
    zmq::message_t header_;
};

class ClientDoorTest : public testing::Test {
protected:
    // Waits for one message and says what it means.
    ClientSays next() {
        std::vector<zmq::pollitem_t> items{{door_.router().socket().handle(), 0, ZMQ_POLLIN, 0}};
        while (!door_.receive())
            if (zmq::poll(items, seconds(10)) == 0) throw std::runtime_error("nothing came");
        return door_.interpret();
    }
    // Says hello, is let in as `client`. Returns the session.
    std::uint64_t welcome(Peer& peer, core::ClientId client,
                          std::uint16_t version = proto::kVersionMin) {
        peer.send(proto::Hello{.version_max = version});
        EXPECT_TRUE(std::holds_alternative<NewClient>(next()));
        door_.admit(client, 2, 1);
        return std::get<proto::Welcome>(peer.receive()).session;
    }

    zmq::context_t context_;
    ClientDoor door_{context_,
                     {.endpoint = "tcp://127.0.0.1:0",
                      .query_bytes_max = 1000,
                      .result_bytes_max = 0,
                      .pending_per_client_max = 10}};
    Peer peer_{context_, door_.endpoint()};
};

constexpr core::ClientId kClient{(std::uint64_t{1} << 32) | 3};

// The limits that a client must keep are in its welcome, and no two sessions are alike.
TEST_F(ClientDoorTest, HelloGetsASessionAndTheLimits) {
    peer_.send(proto::Hello{.agent = "test/1", .user = "ann"});
    ASSERT_TRUE(std::holds_alternative<NewClient>(next()));
    door_.admit(kClient, 2, 1);
    const auto welcome = std::get<proto::Welcome>(peer_.receive());
    EXPECT_NE(welcome.session, 0U);
    EXPECT_EQ(welcome.query_bytes_max, 1000U);
    EXPECT_EQ(welcome.pending_max, 10U);
    const auto* facts = door_.facts(kClient);
    ASSERT_NE(facts, nullptr);
    EXPECT_EQ(facts->user, "ann");
    EXPECT_EQ(facts->address, "127.0.0.1");
}

// A client from the future is told which versions there are, in plain words.
TEST_F(ClientDoorTest, UnknownVersionIsRefusedClearly) {
    peer_.send(proto::Hello{.version_min = 77, .version_max = 99});
    EXPECT_TRUE(std::holds_alternative<Nothing>(next()));
    const auto error = peer_.receive_error();
    EXPECT_EQ(error.id, 0U);
    EXPECT_EQ(error.code, ErrorCode::kBadRequest);
    EXPECT_EQ(peer_.received.at(0),
              "no common protocol version: this primary speaks 1 to 2, the client 77 to 99");
}

// A request comes through with its fields, and its bodies untouched.
TEST_F(ClientDoorTest, RequestIsPassedOn) {
    const auto session = welcome(peer_, kClient);
    peer_.send(proto::Request{.id = 5,
                              .session = session,
                              .mode = proto::Mode::kSync,
                              .priority = proto::Priority::kLow,
                              .timeout_ms = 1500},
               {"select 1", "params"});
    const auto says = next();
    const auto& request = std::get<NewRequest>(says);
    EXPECT_EQ(request.event.client, kClient);
    EXPECT_EQ(request.event.client_request, 5U);
    EXPECT_EQ(request.event.mode, core::Mode::kSync);
    EXPECT_EQ(request.event.priority, core::Priority::kLow);
    EXPECT_EQ(request.event.timeout, std::chrono::milliseconds(1500));
    EXPECT_EQ(request.event.bytes, 14U);
    ASSERT_EQ(door_.bodies().size(), 2U);
    EXPECT_EQ(text_of(door_.bodies()[0]), "select 1");
}

// Without a hello, and with another's session, a request is told to say hello again.
TEST_F(ClientDoorTest, UnknownSessionIsToldSo) {
    peer_.send(proto::Request{.id = 8, .session = 12345}, {"select 1"});
    EXPECT_TRUE(std::holds_alternative<Nothing>(next()));
    auto error = peer_.receive_error();
    EXPECT_EQ(error.id, 8U);
    EXPECT_EQ(error.code, ErrorCode::kUnknownSession);
    EXPECT_TRUE(error.retryable);

    const auto session = welcome(peer_, kClient);
    peer_.send(proto::Heartbeat{.session = session + 1});
    EXPECT_TRUE(std::holds_alternative<Nothing>(next()));
    error = peer_.receive_error();
    EXPECT_EQ(error.id, 0U);
    EXPECT_EQ(error.code, ErrorCode::kUnknownSession);
}

// An idle client hears nothing but the answers to its heartbeats: without them it would take a
// healthy primary for a dead one.
TEST_F(ClientDoorTest, HeartbeatOfAKnownClientIsAnswered) {
    const auto session = welcome(peer_, kClient);
    peer_.send(proto::Heartbeat{.session = session});
    const auto says = next();
    EXPECT_EQ(std::get<core::ClientHeard>(says).client, kClient);
    EXPECT_TRUE(std::holds_alternative<proto::Heartbeat>(peer_.receive()));
}

// The limit counts text and parameters together, and the refusal names it.
TEST_F(ClientDoorTest, TooLargeTextIsRefusedByItsLimit) {
    const auto session = welcome(peer_, kClient);
    peer_.send(proto::Request{.id = 9, .session = session},
               {std::string(600, 'x'), std::string(401, 'y')});
    static_cast<void>(next());
    const auto error = peer_.receive_error();
    EXPECT_EQ(error.id, 9U);
    EXPECT_EQ(error.code, ErrorCode::kTooLarge);
    EXPECT_EQ(peer_.received.at(0),
              "text and parameters have 1001 bytes, the limit is 1000 (--max-query-bytes)");
    peer_.send(proto::Request{.id = 10, .session = session},
               {std::string(600, 'x'), std::string(400, 'y')});
    EXPECT_TRUE(std::holds_alternative<NewRequest>(next()));
}

// There is one service today, and its name may be said.
TEST_F(ClientDoorTest, UnknownServiceIsRefused) {
    const auto session = welcome(peer_, kClient);
    peer_.send(proto::Request{.id = 1, .session = session, .service = "default"}, {"x"});
    EXPECT_TRUE(std::holds_alternative<NewRequest>(next()));
    peer_.send(proto::Request{.id = 2, .session = session, .service = "trades"}, {"x"});
    static_cast<void>(next());
    EXPECT_EQ(peer_.receive_error().code, ErrorCode::kUnknownService);
}

// Garbage, a kind that clients do not send, a request without bodies: an answer and a count each,
// and the connection serves on.
TEST_F(ClientDoorTest, MalformedMessagesAreAnsweredAndCounted) {
    const auto session = welcome(peer_, kClient);
    peer_.send_raw("\xff\xff garbage");
    static_cast<void>(next());
    EXPECT_EQ(peer_.receive_error().code, ErrorCode::kBadRequest);
    peer_.send(proto::Ready{});
    static_cast<void>(next());
    EXPECT_EQ(peer_.receive_error().code, ErrorCode::kBadRequest);
    peer_.send(proto::Request{.id = 4, .session = session});
    static_cast<void>(next());
    EXPECT_EQ(peer_.receive_error().id, 4U);
    EXPECT_EQ(door_.malformed(), 3U);
    peer_.send(proto::Request{.id = 5, .session = session}, {"x"});
    EXPECT_TRUE(std::holds_alternative<NewRequest>(next()));
}

// A second hello on one connection ends the first session, then opens another.
TEST_F(ClientDoorTest, SecondHelloEndsTheFirstSession) {
    const auto first = welcome(peer_, kClient);
    peer_.send(proto::Hello{});
    const auto says = next();
    ASSERT_TRUE(std::holds_alternative<HelloAgain>(says));
    EXPECT_EQ(std::get<HelloAgain>(says).client, kClient);
    door_.forget(kClient);
    ASSERT_TRUE(std::holds_alternative<NewClient>(door_.interpret()));
    door_.admit(core::ClientId{7}, 2, 1);
    EXPECT_NE(std::get<proto::Welcome>(peer_.receive()).session, first);
}

// A reply to who has left says so, instead of being dropped in silence.
TEST_F(ClientDoorTest, SendingToAGonePeerFails) {
    auto gone = std::make_optional<Peer>(context_, door_.endpoint());
    static_cast<void>(welcome(*gone, kClient));
    gone.reset();
    // The disconnection is noticed by another thread; each try asks the socket again.
    const auto until = std::chrono::steady_clock::now() + seconds(10);
    bool sent = true;
    while (sent && std::chrono::steady_clock::now() < until)
        sent = door_.send(kClient, proto::Ping{});
    EXPECT_FALSE(sent);
}

// Goal: only a client that speaks version 2 gets bundles, and its welcome by itself. Method: two
// messages to a client of each version; a version from the future is taken for ours.
TEST_F(ClientDoorTest, OnlyWhoKnowsBundlesGetsThem) {
    for (const auto version : std::initializer_list<std::uint16_t>{1, 2, 99}) {
        Peer peer(context_, door_.endpoint());
        static_cast<void>(welcome(peer, kClient, version));
        for (int i = 0; i < 2; ++i) EXPECT_TRUE(door_.send(kClient, proto::Ping{}));
        EXPECT_TRUE(door_.flush().empty());
        EXPECT_EQ(peer.receive_raw().at(0) == test::bundle_header(), version >= 2);
        door_.forget(kClient);
    }
}

// Goal: requests in a bundle are requests; what does not belong into one is refused, counted, and
// ends nothing. Method: requests around a hello, a bundle in the bundle, garbage, then the rest
// malformed; empty, too large, with three frames.
TEST_F(ClientDoorTest, BundledRequestsComeAndWhatIsMalformedIsAnswered) {
    const auto session = welcome(peer_, kClient);
    const auto request = [&](std::uint64_t id) {
        return test::Texts{test::header_text(proto::Request{.id = id, .session = session}), "x"};
    };
    const auto expect_request = [&](std::uint64_t id) {
        const auto says = next();
        ASSERT_TRUE(std::holds_alternative<NewRequest>(says));
        EXPECT_EQ(std::get<NewRequest>(says).id, id);
    };
    const auto expect_refusal = [&] {
        const auto says = next();
        EXPECT_TRUE(std::holds_alternative<core::ClientHeard>(says));
        EXPECT_EQ(peer_.receive_error().code, ErrorCode::kBadRequest);
    };
    const auto header = test::bundle_header();
    const auto good = test::bundle_body({request(9)});
    peer_.send_raw(header, {test::bundle_body({request(1),
                                               {test::header_text(proto::Hello{})},
                                               request(2),
                                               {header, good},
                                               {"\xff garbage"},
                                               request(3)}) +
                            "\x90" + good});
    expect_request(1);
    expect_refusal();
    expect_request(2);
    expect_refusal();
    expect_refusal();
    expect_request(3);
    expect_refusal();
    for (const auto& bodies : std::vector<test::Texts>{
             {}, {""}, {std::string(proto::kBundleBytesMax + 1, '\x91')}, {good, good}}) {
        peer_.send_raw(header, bodies);
        expect_refusal();
    }
    EXPECT_EQ(door_.malformed(), 8U);
    peer_.send_raw(header, {test::bundle_body({request(4), request(5)})});
    expect_request(4);
    expect_request(5);
}

// Goal: a stranger's bundle lets nobody in. Method: a hello in one, then a request.
TEST_F(ClientDoorTest, AStrangersBundleIsRefused) {
    peer_.send_raw(test::bundle_header(),
                   {test::bundle_body({{test::header_text(proto::Hello{})},
                                       {test::header_text(proto::Request{.id = 3}), "x"}})});
    EXPECT_TRUE(std::holds_alternative<Nothing>(next()));
    EXPECT_EQ(peer_.receive_error().code, ErrorCode::kBadRequest);
    EXPECT_TRUE(std::holds_alternative<Nothing>(next()));
    const auto error = peer_.receive_error();
    EXPECT_EQ(error.id, 3U);
    EXPECT_EQ(error.code, ErrorCode::kUnknownSession);
}

// Goal: a client that is gone is found when what waits is sent. Method: leave, then messages that
// may wait.
TEST_F(ClientDoorTest, AGoneClientIsFoundAtFlush) {
    auto gone = std::make_optional<Peer>(context_, door_.endpoint());
    static_cast<void>(welcome(*gone, kClient, proto::kVersionBundles));
    gone.reset();
    const auto until = std::chrono::steady_clock::now() + seconds(10);
    std::vector<core::ClientId> found;
    while (found.empty() && std::chrono::steady_clock::now() < until) {
        EXPECT_TRUE(door_.send(kClient, proto::Ping{}));
        found = door_.flush();
    }
    EXPECT_EQ(found, std::vector<core::ClientId>{kClient});
}

// One port, one primary.
TEST_F(ClientDoorTest, TakenPortIsAnError) {
    EXPECT_THROW(ClientDoor(context_, {.endpoint = door_.endpoint()}), zmq::error_t);
}

// Nobody takes a socket away from who listens there; one that a killed process left is no obstacle.
TEST_F(ClientDoorTest, AServedSocketIsAnErrorAndAnAbandonedOneIsNot) {
    const test::TemporaryFolder folder;
    const auto path = folder.path() / "clients";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.native().copy(address.sun_path, sizeof address.sun_path - 1);
    {
        const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
                  0);
    }
    ASSERT_TRUE(std::filesystem::exists(path));
    ClientDoor first(context_, {.endpoint = "ipc://" + path.string()});
    EXPECT_EQ(first.endpoint(), "ipc://" + path.string());
    EXPECT_THROW(ClientDoor(context_, {.endpoint = first.endpoint()}), zmq::error_t);
}

// A guarded door lets nobody in before the verdict, gives each hello one, and holds no more of a
// password than one may have.
TEST_F(ClientDoorTest, AGuardedDoorWaitsForTheVerdict) {
    std::promise<HelloJudged> told;
    auth::Authenticator authenticator(
        {{"ann", auth::hash_password("secret", auth::kLeastCost).value()}});
    door_.guard(authenticator, [&](HelloJudged hello) { told.set_value(std::move(hello)); });
    const proto::Hello hello{.user = "ann"};
    peer_.send(hello);
    EXPECT_TRUE(std::holds_alternative<Nothing>(next()));
    EXPECT_EQ(peer_.receive_error().code, ErrorCode::kDenied);
    for (const auto& bodies :
         {std::vector<std::string>{std::string(256, 'x')}, {"secret", "more"}}) {
        peer_.send(hello, bodies);
        EXPECT_TRUE(std::holds_alternative<Nothing>(next()));
        EXPECT_EQ(peer_.receive_error().code, ErrorCode::kBadRequest);
    }
    for (int i = 0; i < 2; ++i) {  // The second asks while the first is looked at: one verdict.
        peer_.send(hello, {"secret"});
        EXPECT_TRUE(std::holds_alternative<Nothing>(next()));
    }
    const auto verdict = told.get_future().get();
    EXPECT_EQ(verdict.verdict, auth::Verdict::kAccepted);
    EXPECT_TRUE(door_.judged(verdict));
    EXPECT_FALSE(door_.judged(verdict)) << "it was for one hello";
    door_.admit(kClient, 2, 1);
    static_cast<void>(std::get<proto::Welcome>(peer_.receive()));
    EXPECT_EQ(door_.facts(kClient)->user, "ann");
}

}  // namespace
}  // namespace shortq::primary
