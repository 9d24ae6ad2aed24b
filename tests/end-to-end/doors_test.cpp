#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <iterator>
#include <random>
#include <zmq.hpp>

#include "proto/message.h"
#include "tests/end-to-end/fixture.h"
#include "tests/end-to-end/raw_peer.h"

namespace shortq::test {
namespace {

using ::testing::HasSubstr;

UniqueFd connect_tcp(std::uint16_t port) {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0)
        << std::strerror(errno);
    return fd;
}

std::string random_bytes(std::mt19937& random, std::size_t size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    return bytes;
}

std::size_t open_descriptors(pid_t pid) {
    const std::filesystem::directory_iterator entries("/proc/" + std::to_string(pid) + "/fd");
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

UniqueFd connect_unix(const std::string& endpoint) {
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto path = endpoint.substr(std::strlen("ipc://"));
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0)
        << std::strerror(errno);
    return fd;
}

// How a connection of ZeroMQ begins: greeting of version 3.0 with the NULL mechanism, then READY as
// a DEALER.
std::string zeromq_greeting() {
    std::string greeting("\xff\0\0\0\0\0\0\0\x7f\x03\0NULL", 15);
    greeting.resize(64, '\0');
    return greeting + std::string(
                          "\x04\x1c\x05READY\x0bSocket-Type\0\0\0\x06"
                          "DEALER",
                          30);
}

// No ZeroMQ at all; ZeroMQ up to its greeting; a frame that is cut off, or that claims to be huge.
std::vector<std::string> broken_streams(std::mt19937& random) {
    constexpr int kEach = 50;
    std::vector<std::string> streams;
    for (int i = 0; i < kEach; ++i) {
        streams.push_back(random_bytes(random, random() % 2000));
        streams.push_back(zeromq_greeting().substr(0, random() % 94));
        streams.push_back(zeromq_greeting() + random_bytes(random, random() % 2000));
        streams.push_back(zeromq_greeting() + std::string("\x00\xc8 cut off", 10));
        streams.push_back(zeromq_greeting() + "\x02\x3f" + std::string(7, '\xff') + "huge");
    }
    return streams;
}

class DoorsTest : public EndToEnd {};

// Case 26. Goal: bytes that are no ZeroMQ, or not all of it, do no harm at either door. Method:
// broken streams from many connections; a client is served, and no descriptor is left open.
TEST_F(DoorsTest, BrokenStreamsDoNoHarmAtEitherDoor) {
    const Server server(test_engine(1));
    auto client = server.connect();
    ASSERT_TRUE(server.wait_for_workers(1));
    const auto workers = server.workers();
    const auto ipc = workers_endpoint(workers.at(0));
    ASSERT_NE(ipc, "");
    EXPECT_EQ(cell(client.deferred("echo warm")), "warm");
    const auto before = open_descriptors(server.pid());
    std::mt19937 random(26);
    for (const auto& stream : broken_streams(random)) {
        for (const bool is_tcp : {true, false}) {
            const auto fd = is_tcp ? connect_tcp(server.port()) : connect_unix(ipc);
            (void)::send(fd.get(), stream.data(), stream.size(), MSG_NOSIGNAL);
        }
    }
    EXPECT_EQ(cell(client.deferred("echo on")), "on");
    EXPECT_TRUE(wait_until([&] { return open_descriptors(server.pid()) <= before; }))
        << before << " descriptors before, " << open_descriptors(server.pid()) << " after";
    EXPECT_EQ(server.workers(), workers);
}

// Random frames, and every truncation of some good ones: none of them is a message.
std::vector<std::vector<std::string>> malformed_messages(std::mt19937& random) {
    std::vector<std::vector<std::string>> messages(200);
    for (auto& frames : messages) {
        frames.resize(1 + random() % 4);
        for (auto& frame : frames) frame = random_bytes(random, random() % 100);
    }
    for (const auto& good : {encoded(proto::Hello{}), encoded(proto::Request{.id = 1}),
                             encoded(proto::Reply{.id = 1}), encoded(proto::ErrorReply{.id = 1}),
                             encoded(proto::Credit{.id = 1}), encoded(proto::Progress{.id = 1})}) {
        for (std::size_t size = 0; size < good.size(); ++size)
            messages.push_back({good.substr(0, size), random_bytes(random, 50)});
    }
    return messages;
}

// Case 26. Goal: each malformed message is counted, and answered at the clients' door. Method:
// count the errors that come back, and read the counters.
TEST_F(DoorsTest, MalformedMessagesAreCountedAtEitherDoor) {
    const Server server(test_engine(1));
    auto client = server.connect();
    ASSERT_TRUE(server.wait_for_workers(1));
    const auto workers = server.workers();
    std::mt19937 random(26);
    const auto messages = malformed_messages(random);
    const auto count = static_cast<std::int64_t>(messages.size());

    RawPeer peer(server.endpoint());
    for (const auto& frames : messages) peer.send(frames);
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const auto error = peer.next_of<proto::ErrorReply>();
        ASSERT_TRUE(error);
        ASSERT_EQ(error->code, ErrorCode::kBadRequest);
        ASSERT_EQ(error->id, 0U);
    }
    EXPECT_EQ(stat(client, "client_messages_malformed"), count);

    RawPeer stranger(workers_endpoint(workers.at(0)));
    for (const auto& frames : messages) stranger.send(frames);
    EXPECT_TRUE(wait_until([&] { return stat(client, "worker_messages_malformed") >= count; }))
        << stat(client, "worker_messages_malformed") << " of " << count;
    EXPECT_EQ(stat(client, "client_messages_malformed"), count);
    EXPECT_EQ(cell(client.deferred("echo on")), "on");
    EXPECT_EQ(server.workers(), workers);
    EXPECT_THAT(server.log(), HasSubstr("bad message from a client (1 so far)"));
}

// Case 26. Goal: nobody can take a worker's place without its token. Method: a hello with a wrong
// one, then what a worker says, in the wrong order too; all is counted, nothing believed, and the
// hello is told so.
TEST_F(DoorsTest, AStrangerAtTheWorkersDoorIsNotBelieved) {
    const Server server(test_engine(1));
    auto client = server.connect();
    ASSERT_TRUE(server.wait_for_workers(1));
    const auto workers = server.workers();
    RawPeer stranger(workers_endpoint(workers.at(0)));
    stranger.send({encoded(proto::Ready{.generation = 1})});
    proto::Hello hello;
    hello.role = proto::Role::kWorker;
    stranger.send({encoded(hello)});
    stranger.send({encoded(proto::ErrorReply{.id = 0}), "it does not load", "here"});
    stranger.send({encoded(proto::Reply{.id = 1, .last = true})});
    stranger.send({encoded(proto::Goodbye{})});
    EXPECT_TRUE(wait_until([&] { return stat(client, "worker_messages_malformed") == 5; }))
        << stat(client, "worker_messages_malformed");
    const auto told = stranger.next_of<proto::ErrorReply>();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->code, ErrorCode::kDenied);
    EXPECT_EQ(cell(client.deferred("echo on")), "on");
    EXPECT_EQ(server.workers(), workers);
}

// Case 26. Goal: a version that we do not speak gets a clear error. Method: a hello from the
// future.
TEST_F(DoorsTest, AnUnknownVersionIsRefused) {
    const Server server(test_engine(1));
    auto client = server.connect();
    RawPeer peer(server.endpoint());
    peer.send({encoded(proto::Hello{.version_min = 98, .version_max = 99})});
    const auto error = peer.next_of<proto::ErrorReply>();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::kBadRequest);
    EXPECT_THAT(peer.bodies().at(0), HasSubstr("98 to 99"));
    EXPECT_EQ(stat(client, "client_messages_malformed"), 1);
}

// Case 26. Goal: messages in the wrong order get an error. Method: a request, a heartbeat, a cancel
// and a goodbye before the hello; the last two have no answer. Then the same peer is served.
TEST_F(DoorsTest, ARequestBeforeTheHelloIsRefused) {
    const Server server(test_engine(1));
    auto client = server.connect();
    RawPeer peer(server.endpoint());
    peer.send({encoded(proto::Cancel{.id = 7, .session = 12345})});
    peer.send({encoded(proto::Goodbye{.session = 12345})});
    peer.send({encoded(proto::Request{.id = 7, .session = 12345}), "echo x"});
    peer.send({encoded(proto::Heartbeat{.session = 12345})});
    for (const std::uint64_t id : {7U, 0U}) {
        const auto error = peer.next_of<proto::ErrorReply>();
        ASSERT_TRUE(error);
        EXPECT_EQ(error->id, id);
        EXPECT_EQ(error->code, ErrorCode::kUnknownSession);
    }
    EXPECT_EQ(stat(client, "client_messages_without_session"), 4);
    const auto session = peer.hello();
    peer.send({encoded(proto::Request{.id = 8, .session = session}), "echo x"});
    const auto reply = peer.next_of<proto::Reply>();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->id, 8U);
}

// Goal: who leaves with a goodbye, or says hello again, has done nothing wrong. Method: both, and
// the counters; the session before the second hello is over, and so is its request.
TEST_F(DoorsTest, AGoodbyeAndASecondHelloAreInOrder) {
    const Server server(test_engine(1));
    auto client = server.connect();
    RawPeer peer(server.endpoint());
    const auto first = peer.hello();
    peer.send({encoded(proto::Request{.id = 1, .session = first}), "sleep 60000"});
    ASSERT_TRUE(wait_until_running(client, 1));
    const auto second = peer.hello();
    EXPECT_NE(first, second);
    EXPECT_TRUE(wait_until_running(client, 0));
    peer.send({encoded(proto::Goodbye{.session = second})});
    EXPECT_TRUE(wait_until(
        [&] { return cell(client.sync("select count(*) from shortq.clients")) == "1"; }));
    EXPECT_EQ(stat(client, "client_messages_without_session"), 0);
    EXPECT_EQ(stat(client, "client_messages_malformed"), 0);
}

// Case 25. Goal: clients that come and go without a word leave nothing behind. Method: rounds of a
// thousand connections of TCP and two hundred clients that say hello, some of them with a request;
// the clients' table and descriptors are as before, and memory after the first round, which warms
// the allocator, stays where it is. A leak of 4 KiB per client would show.
TEST_F(DoorsTest, SilentClientsLeaveNothingBehind) {
    const Server server(test_engine(1));
    auto client = server.connect();
    EXPECT_EQ(cell(client.deferred("echo warm")), "warm");
    const auto before = open_descriptors(server.pid());
    const auto round = [&] {
        for (int i = 0; i < 1000; ++i) (void)connect_tcp(server.port());
        zmq::context_t context;
        for (int i = 0; i < 200; ++i) {
            RawPeer peer(context, server.endpoint());
            if (i % 4 == 0) {
                const auto session = peer.hello();
                peer.send({encoded(proto::Request{.id = 1, .session = session}), "sleep 1"});
            } else {
                peer.send({encoded(proto::Hello{})});
            }
        }
    };
    const auto quiet = [&] {
        EXPECT_TRUE(wait_until([&] { return open_descriptors(server.pid()) <= before; }))
            << before << " descriptors before, " << open_descriptors(server.pid()) << " after";
        EXPECT_TRUE(wait_until([&] {
            return cell(client.sync("select count(*) from shortq.clients")) == "1";
        })) << cell(client.sync("select count(*) from shortq.clients"));
    };
    round();
    quiet();
    const auto resident = resident_bytes(server.pid());
    for (int i = 0; i < 10; ++i) round();
    quiet();
    const auto after = resident_bytes(server.pid());
    RecordProperty("grown_bytes", std::to_string(std::int64_t(after) - std::int64_t(resident)));
    // The sanitizers keep books of their own about everything that was ever allocated.
    if (!kSanitized) {
        EXPECT_LT(after, resident + (std::uint64_t{8} << 20));
    }
    EXPECT_EQ(stat(client, "requests_queued") + stat(client, "requests_abandoned"), 0);
}

}  // namespace
}  // namespace shortq::test
