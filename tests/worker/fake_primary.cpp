#include "tests/worker/fake_primary.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

namespace shortq::test {
namespace {

std::span<const std::byte> bytes_of(const zmq::message_t& frame) {
    return {static_cast<const std::byte*>(frame.data()), frame.size()};
}

Buffer buffer_of(zmq::message_t frame) {
    auto owner = std::make_shared<zmq::message_t>(std::move(frame));
    return Buffer{bytes_of(*owner), owner};
}

// Adds the batches of one reply message to the result.
void add_batches(Received& received, const proto::Reply& reply, Collected& result) {
    std::size_t at = 1;
    if (reply.sequence == 0) {
        auto schema = proto::decode_schema(bytes_of(received.frames.at(at++)));
        ASSERT_TRUE(schema) << schema.error().message;
        result.schema = std::move(*schema);
    }
    for (std::uint32_t number = 0; number < reply.batches; ++number) {
        const auto layout = std::move(received.frames.at(at++));
        const auto count = proto::buffer_frames_of(bytes_of(layout));
        ASSERT_TRUE(count) << count.error().message;
        std::vector<Buffer> buffers;
        for (std::size_t i = 0; i < *count; ++i) {
            buffers.push_back(buffer_of(std::move(received.frames.at(at++))));
        }
        auto batch = proto::assemble(result.schema, bytes_of(layout), buffers);
        ASSERT_TRUE(batch) << batch.error().message;
        result.rows += batch->rows;
        result.batches.push_back(std::move(*batch));
    }
    EXPECT_EQ(at, received.frames.size());
}

}  // namespace

std::string_view Received::body(std::size_t index) const {
    return index + 1 < frames.size() ? frames[index + 1].to_string_view() : std::string_view{};
}

FakePrimary::FakePrimary() : socket_(context_, zmq::socket_type::router) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::router_mandatory, true);
    socket_.set(zmq::sockopt::rcvhwm, 4);  // So that not reading is felt at the worker.
    socket_.bind("ipc://" + (folder_.path() / "workers").string());
}

void FakePrimary::start(std::vector<std::string> more) {
    std::vector<std::string> arguments{
        "--connect", "ipc://" + (folder_.path() / "workers").string(), "--seat", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto spawned = WorkerProcess::spawn({SHORTQ_WORKER_PROGRAM, std::move(arguments)});
    if (!spawned) throw std::runtime_error(spawned.error().message);
    worker_.emplace(std::move(*spawned));
}

std::vector<zmq::message_t> FakePrimary::take_frames() {
    zmq::message_t identity;
    EXPECT_TRUE(socket_.recv(identity));
    identity_ = std::move(identity);
    std::vector<zmq::message_t> frames;
    do {
        EXPECT_TRUE(socket_.recv(frames.emplace_back()));
    } while (frames.back().more());
    ++messages_;
    return frames;
}

void FakePrimary::unpack(const std::vector<zmq::message_t>& bundle) {
    ++bundles_;
    EXPECT_LE(bundle[1].size(), proto::kBundleBytesMax);
    std::vector<std::span<const std::byte>> parts;
    for (proto::BundleReader reader(bytes_of(bundle[1])); !reader.done();) {
        const auto read = reader.next(parts);
        ASSERT_TRUE(read) << read.error().message;
        auto& frames = unpacked_.emplace_back();
        for (const auto part : parts) frames.emplace_back(part.data(), part.size());
    }
}

std::optional<Received> FakePrimary::receive(std::chrono::milliseconds patience) {
    Received received;
    if (unpacked_.empty()) {
        std::array<zmq::pollitem_t, 1> items{{{socket_.handle(), 0, ZMQ_POLLIN, 0}}};
        if (zmq::poll(items, patience) == 0) return std::nullopt;
        received.frames = take_frames();
        if (received.frames.size() == 2 && proto::is_bundle(bytes_of(received.frames.front())))
            unpack(received.frames);
    }
    if (!unpacked_.empty()) {
        received.frames = std::move(unpacked_.front());
        unpacked_.pop_front();
    }
    const auto decoded = proto::decode(bytes_of(received.frames.front()));
    EXPECT_TRUE(decoded) << decoded.error().message;
    if (!decoded) return std::nullopt;
    received.message = *decoded;
    return received;
}

std::optional<Received> FakePrimary::next(std::chrono::milliseconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        if (left.count() <= 0) return std::nullopt;
        auto received = receive(left);
        if (!received || !received->as<proto::Heartbeat>()) return received;
    }
}

std::optional<Received> FakePrimary::next_heartbeat() {
    for (;;) {
        auto received = receive(kPatience);
        if (!received || received->as<proto::Heartbeat>()) return received;
    }
}

Received FakePrimary::take_hello() {
    auto received = next();
    EXPECT_TRUE(received && received->as<proto::Hello>());
    return received ? std::move(*received) : Received{};
}

void FakePrimary::welcome_until_ready(std::uint16_t version) {
    ASSERT_NE(take_hello().as<proto::Hello>(), nullptr);
    send(proto::Welcome{.version = version, .session = 1, .heartbeat_ms = 1000, .server = {}});
    const auto ready = next();
    ASSERT_TRUE(ready && ready->as<proto::Ready>());
}

void FakePrimary::send(const proto::Message& message, std::vector<zmq::message_t> bodies) {
    proto::HeaderBuffer buffer;
    const auto header = proto::encode(message, buffer);
    zmq::message_t identity;
    identity.copy(identity_);
    EXPECT_TRUE(socket_.send(identity, zmq::send_flags::sndmore));
    EXPECT_TRUE(socket_.send(zmq::message_t(header.data(), header.size()),
                             bodies.empty() ? zmq::send_flags::none : zmq::send_flags::sndmore));
    for (auto& body : bodies) {
        const bool last = &body == &bodies.back();
        EXPECT_TRUE(socket_.send(body, last ? zmq::send_flags::none : zmq::send_flags::sndmore));
    }
}

void FakePrimary::send_raw(std::string_view frame) {
    zmq::message_t identity;
    identity.copy(identity_);
    EXPECT_TRUE(socket_.send(identity, zmq::send_flags::sndmore));
    EXPECT_TRUE(socket_.send(zmq::message_t(frame), zmq::send_flags::none));
}

void FakePrimary::send_frames(const std::vector<std::string>& frames) {
    zmq::message_t identity;
    identity.copy(identity_);
    EXPECT_TRUE(socket_.send(identity, zmq::send_flags::sndmore));
    for (const auto& frame : frames) {
        const bool last = &frame == &frames.back();
        EXPECT_TRUE(socket_.send(zmq::buffer(frame),
                                 last ? zmq::send_flags::none : zmq::send_flags::sndmore));
    }
}

void FakePrimary::request(std::uint64_t id, std::string_view text, const Parameters& parameters) {
    std::vector<zmq::message_t> bodies;
    bodies.emplace_back(text);
    if (!parameters.empty()) {
        const auto encoded = proto::encode_parameters(parameters);
        bodies.emplace_back(encoded.data(), encoded.size());
    }
    send(proto::Request{.id = id, .service = {}}, std::move(bodies));
}

Collected FakePrimary::collect() {
    Collected result;
    for (;;) {
        auto received = next();
        EXPECT_TRUE(received);
        if (!received) return result;
        if (const auto* error = received->as<proto::ErrorReply>()) {
            result.id = error->id;
            result.error = error->code;
            result.error_message = received->body(0);
            result.error_where = received->body(1);
            result.sick = error->sick;
            result.facts = error->facts;
            return result;
        }
        const auto* reply = received->as<proto::Reply>();
        EXPECT_NE(reply, nullptr);
        if (reply == nullptr) return result;
        const auto header = *reply;
        EXPECT_EQ(header.sequence, result.messages++);
        add_batches(*received, header, result);
        result.id = header.id;
        result.facts = header.facts;
        if (header.last) return result;
        send(
            proto::Credit{.id = header.id, .bytes = header.facts.bytes + proto::kReplyWindowBytes});
    }
}

std::optional<ExitStatus> FakePrimary::wait_for_exit(std::chrono::milliseconds patience) {
    pollfd item{worker_->pidfd(), POLLIN, 0};
    if (::poll(&item, 1, static_cast<int>(patience.count())) != 1) return std::nullopt;
    return worker_->reap();
}

bool FakePrimary::wait_until_running(std::uint64_t id) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (worker_->board().running.load() != id) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::yield();
    }
    return true;
}

}  // namespace shortq::test
