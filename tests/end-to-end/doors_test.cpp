#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <iterator>
#include <random>
#include <sstream>
#include <zmq.hpp>

#include "proto/message.h"
#include "tests/end-to-end/fixture.h"

namespace shortq::test {
namespace {

using ::testing::HasSubstr;

std::span<const std::byte> bytes_of(const zmq::message_t& frame) {
    return {static_cast<const std::byte*>(frame.data()), frame.size()};
}

// A client without a library: sends what it likes.
class RawPeer {
public:
    explicit RawPeer(const std::string& endpoint) : socket_(context_, zmq::socket_type::dealer) {
        socket_.set(zmq::sockopt::linger, 1000);
        socket_.set(zmq::sockopt::rcvtimeo, static_cast<int>(milliseconds(kPatience).count()));
        socket_.connect(endpoint);
    }
    void send(const std::vector<std::string>& frames) {
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const auto flags =
                i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
            EXPECT_TRUE(socket_.send(zmq::buffer(frames[i]), flags));
        }
    }
    // The code of the next error, skipping all else. None: nothing came.
    std::optional<ErrorCode> next_error() {
        for (;;) {
            zmq::message_t header;
            if (!socket_.recv(header)) return std::nullopt;
            for (bool more = header.more(); more;) {
                zmq::message_t body;
                EXPECT_TRUE(socket_.recv(body));
                more = body.more();
            }
            const auto message = proto::decode(bytes_of(header));
            EXPECT_TRUE(message) << message.error().message;
            if (!message) return std::nullopt;
            if (const auto* error = std::get_if<proto::ErrorReply>(&*message)) return error->code;
        }
    }

private:
    zmq::context_t context_;
    zmq::socket_t socket_;
};

std::string encoded(const proto::Message& message) {
    proto::HeaderBuffer buffer;
    const auto bytes = proto::encode(message, buffer);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

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

// The endpoint of the workers' door, from a worker's command line.
std::string workers_endpoint(pid_t worker) {
    const auto line = read_file("/proc/" + std::to_string(worker) + "/cmdline");
    const auto at = line.find("ipc://");
    return at == std::string::npos ? "" : line.substr(at, line.find('\0', at) - at);
}

class DoorsTest : public EndToEnd {};

// Case 26. Goal: bytes that are no ZeroMQ at all do no harm. Method: random ones from many
// connections, while a client is served.
TEST_F(DoorsTest, RandomBytesOnThePortDoNoHarm) {
    const Server server(test_engine(1));
    auto client = server.connect();
    std::mt19937 random(26);
    for (int i = 0; i < 100; ++i) {
        const auto fd = connect_tcp(server.port());
        const auto bytes = random_bytes(random, random() % 2000);
        (void)::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    EXPECT_EQ(cell(client.deferred("echo on")), "on");
}

// Case 26. Goal: malformed messages are answered or dropped. Method: random frames, every
// truncation of a good hello and a good request, at the clients' and at the workers' door.
TEST_F(DoorsTest, MalformedMessagesDoNoHarmAtEitherDoor) {
    const Server server(test_engine(1));
    auto client = server.connect();
    ASSERT_TRUE(server.wait_for_workers(1));
    const auto workers = server.workers();
    std::mt19937 random(26);
    for (const auto& endpoint : {server.endpoint(), workers_endpoint(workers.at(0))}) {
        ASSERT_NE(endpoint, "");
        RawPeer peer(endpoint);
        for (int i = 0; i < 200; ++i) {
            std::vector<std::string> frames(1 + random() % 4);
            for (auto& frame : frames) frame = random_bytes(random, random() % 100);
            peer.send(frames);
        }
        for (const auto& good :
             {encoded(proto::Hello{}), encoded(proto::Request{.id = 1}),
              encoded(proto::Reply{.id = 1}), encoded(proto::ErrorReply{.id = 1})}) {
            for (std::size_t size = 0; size < good.size(); ++size)
                peer.send({good.substr(0, size)});
            peer.send({good, random_bytes(random, 50), random_bytes(random, 50)});
        }
    }
    EXPECT_EQ(cell(client.deferred("echo on")), "on");
    EXPECT_EQ(server.workers(), workers);
}

// Case 26. Goal: a version that we do not speak gets a clear error. Method: a hello from the
// future.
TEST_F(DoorsTest, AnUnknownVersionIsRefused) {
    const Server server(test_engine(1));
    RawPeer peer(server.endpoint());
    peer.send({encoded(proto::Hello{.version_min = 98, .version_max = 99})});
    EXPECT_EQ(peer.next_error(), ErrorCode::kBadRequest);
}

// Case 26. Goal: messages in the wrong order get an error. Method: a request before the hello.
TEST_F(DoorsTest, ARequestBeforeTheHelloIsRefused) {
    const Server server(test_engine(1));
    RawPeer peer(server.endpoint());
    peer.send({encoded(proto::Request{.id = 7, .session = 12345}), "echo x"});
    EXPECT_EQ(peer.next_error(), ErrorCode::kUnknownSession);
}

// Case 25. Goal: clients that come and go without a word leave nothing behind. Method: a thousand
// connections of TCP, and a hundred of ZeroMQ; descriptors and the clients' table are as before.
TEST_F(DoorsTest, SilentClientsLeaveNothingBehind) {
    const Server server(test_engine(1));
    auto client = server.connect();
    EXPECT_EQ(cell(client.deferred("echo warm")), "warm");
    const auto before = open_descriptors(server.pid());
    for (int i = 0; i < 1000; ++i) (void)connect_tcp(server.port());
    for (int i = 0; i < 100; ++i) RawPeer(server.endpoint()).send({encoded(proto::Hello{})});
    EXPECT_TRUE(wait_until([&] { return open_descriptors(server.pid()) <= before; }))
        << before << " descriptors before, " << open_descriptors(server.pid()) << " after";
    EXPECT_TRUE(wait_until([&] {
        return cell(client.sync("select count(*) from shortq.clients")) == "1";
    })) << cell(client.sync("select count(*) from shortq.clients"));
}

}  // namespace
}  // namespace shortq::test
