#include "tests/client/fake_server.h"

#include <stdexcept>

#include "proto/bundle.h"

namespace shortq::test {

FakeServer::FakeServer(const std::string& endpoint) {
    bind(endpoint);
    endpoint_ = router_.get(zmq::sockopt::last_endpoint);
}

void FakeServer::bind(const std::string& endpoint) {
    router_ = zmq::socket_t(context_, zmq::socket_type::router);
    router_.set(zmq::sockopt::linger, 0);
    router_.set(zmq::sockopt::ipv6, endpoint.find('[') != std::string::npos);
    router_.bind(endpoint);
}

// Ending the context waits until the port is given back.
void FakeServer::stop() {
    heard_.clear();
    router_.close();
    context_.close();
}

void FakeServer::restart() {
    stop();
    context_ = zmq::context_t();
    bind(endpoint_);
}

// One message, or those of a bundle. False: none came.
bool FakeServer::receive(std::chrono::milliseconds limit) {
    zmq::pollitem_t item{router_.handle(), 0, ZMQ_POLLIN, 0};
    if (limit.count() <= 0 || zmq::poll(&item, 1, limit) == 0) return false;
    Heard heard;
    zmq::message_t frame;
    [[maybe_unused]] auto got = router_.recv(frame);
    heard.identity = frame.to_string();
    while (frame.more()) {
        got = router_.recv(frame);
        heard.frames.push_back(own_text(frame.to_string_view()));
    }
    if (heard.frames.size() != 2 || !proto::is_bundle(heard.frames[0].bytes)) {
        heard_.push_back(std::move(heard));
        return true;
    }
    ++bundles_;
    std::vector<std::span<const std::byte>> parts;
    for (proto::BundleReader reader(heard.frames[1].bytes); !reader.done();) {
        if (!reader.next(parts)) throw std::runtime_error("a malformed bundle");
        auto& message = heard_.emplace_back();
        message.identity = heard.identity;
        for (const auto part : parts)
            message.frames.push_back(
                own_text({reinterpret_cast<const char*>(part.data()), part.size()}));
    }
    return true;
}

std::optional<Heard> FakeServer::next(std::chrono::milliseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    for (;;) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        if (heard_.empty() && !receive(left)) return std::nullopt;
        auto heard = std::move(heard_.front());
        heard_.pop_front();
        heard.header = proto::decode(heard.frames.at(0).bytes).value();
        if (!std::holds_alternative<proto::Heartbeat>(heard.header)) return heard;
        ++heartbeats_;
    }
}

void FakeServer::send(const std::string& identity, const Frames& frames) {
    router_.send(zmq::buffer(identity), zmq::send_flags::sndmore);
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const auto more = i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
        router_.send(zmq::buffer(frames[i].bytes.data(), frames[i].bytes.size()), more);
    }
}

void FakeServer::send_bundle(const std::string& identity, const std::vector<Frames>& messages,
                             std::string_view malformed) {
    proto::BundleWriter writer;
    for (const auto& message : messages) {
        writer.begin(message.size());
        for (const auto& frame : message) writer.frame(frame.bytes);
    }
    const auto body = writer.body();
    const std::string text(reinterpret_cast<const char*>(body.data()), body.size());
    send(identity, {{proto::kBundleHeader, nullptr}, own_text(text + std::string(malformed))});
}

std::string FakeServer::welcome(std::uint64_t session, std::uint32_t workers,
                                std::uint16_t version) {
    const auto hello = next().value();
    client_pid_ = hello.as<proto::Hello>().pid;  // Throws if it is none.
    proto::Welcome welcome;
    welcome.version = version;
    welcome.session = session;
    welcome.workers = workers;
    welcome.generation = 1;
    welcome.query_bytes_max = 1 << 20;
    welcome.pending_max = 100;
    welcome.server = "fake/1";
    send(hello.identity, frames_of(welcome));
    return hello.identity;
}

}  // namespace shortq::test
