// tools/bench/shortq_target.cpp: a primary with test workers, to libshortq and over the raw
// protocol.
#include <chrono>
#include <cstdint>
#include <fstream>
#include <utility>
#include <variant>

#include "proto/message.h"
#include "shortq/client.h"
#include "tools/bench/dealer.h"
#include "tools/bench/shortq_server.h"
#include "tools/bench/target.h"
#include "tools/bench/temporary_folder.h"

namespace shortq::bench {
namespace {

using Clock = std::chrono::steady_clock;

std::string query_of(const std::string& payload) { return "echo " + payload; }

tl::unexpected<Error> wrong_echo() {
    return fail(ErrorCode::kInternal, "the echo is not what was sent", "shortq");
}

// ---- The C++ client

class ClientRequester final : public Requester {
public:
    ClientRequester(Client client, const std::string& payload)
        : client_(std::move(client)), payload_(payload), text_(query_of(payload)) {}

    Result<void> send() override {
        if (auto sent = client_.async(text_); !sent) return tl::unexpected(sent.error());
        return {};
    }

    Result<void> receive() override {
        const auto arrived = client_.wait_for(std::chrono::seconds(10));
        if (!arrived) return tl::unexpected(arrived.error());
        return check(arrived->reply);
    }

    Result<void> exchange() override { return check(client_.deferred(text_)); }

private:
    [[nodiscard]] Result<void> check(const Result<Table>& reply) const {
        if (!reply) return tl::unexpected(reply.error());
        if (reply->rows() != 1 || reply->text(0, 0) != payload_) return wrong_echo();
        return {};
    }

    Client client_;
    std::string payload_;
    std::string text_;
};

class ClientTarget final : public Target {
public:
    explicit ClientTarget(std::shared_ptr<ShortqServer> server) : server_(std::move(server)) {}

    Result<std::unique_ptr<Requester>> connect(const std::string& payload) override {
        auto client = server_->connect();
        if (!client) return tl::unexpected(client.error());
        return std::make_unique<ClientRequester>(std::move(*client), payload);
    }

private:
    std::shared_ptr<ShortqServer> server_;
};

// ---- The raw protocol

class RawRequester final : public Requester {
public:
    RawRequester(const std::string& endpoint, const std::string& payload)
        : payload_(payload), text_(query_of(payload)), dealer_({endpoint}) {}

    // Says hello and keeps the session.
    Result<void> connect() {
        proto::Hello hello;
        hello.agent = "shortq-bench";
        if (!dealer_.send({buffer_of(proto::encode(hello, header_))})) {
            return fail(ErrorCode::kInternal, "cannot send the hello");
        }
        while (session_ == 0) {
            if (auto next = take_message(); !next) return tl::unexpected(next.error());
        }
        return {};
    }

    Result<void> send() override {
        beat();
        proto::Request request;
        request.id = ++last_id_;
        request.session = session_;
        if (dealer_.send({buffer_of(proto::encode(request, header_)), zmq::buffer(text_)}))
            return {};
        return fail(ErrorCode::kInternal, "the socket takes no more", "shortq");
    }

    Result<void> receive() override {
        for (;;) {
            const auto final_reply = take_message();
            if (!final_reply) return tl::unexpected(final_reply.error());
            if (*final_reply) return {};
        }
    }

private:
    // Reads one message; true if it was the last piece of an answer.
    Result<bool> take_message() {
        const auto received = dealer_.receive();
        if (!received) return tl::unexpected(received.error());
        const auto& frames = **received;
        const auto message = proto::decode(
            {static_cast<const std::byte*>(frames.front().data()), frames.front().size()});
        if (!message) return tl::unexpected(message.error());
        if (const auto* reply = std::get_if<proto::Reply>(&*message)) {
            take_bodies(frames);
            if (!reply->last) return false;
            if (echoes_ == 0) return wrong_echo();
            --echoes_;
            return true;
        }
        if (const auto* welcome = std::get_if<proto::Welcome>(&*message)) {
            session_ = welcome->session;
        } else if (const auto* error = std::get_if<proto::ErrorReply>(&*message)) {
            return fail(error->code, frames.size() > 1 ? frames[1].to_string() : "", "shortq");
        }
        return false;  // Heartbeats and pings need no answer.
    }

    // A large value comes in a piece of its own, before the one that says it is the last.
    void take_bodies(const std::vector<zmq::message_t>& frames) {
        constexpr std::uint64_t kBytesPerCredit = std::uint64_t{1} << 20U;
        if (frames.back().to_string_view() == payload_) ++echoes_;
        for (std::size_t i = 1; i < frames.size(); ++i) taken_ += frames[i].size();
        if (taken_ - credited_ < kBytesPerCredit) return;
        credited_ = taken_;
        (void)dealer_.send({buffer_of(
            proto::encode(proto::Credit{.session = session_, .bytes = taken_}, header_))});
    }

    void beat() {
        const auto now = Clock::now();
        if (now - last_beat_ < proto::kHeartbeatInterval) return;
        last_beat_ = now;
        (void)dealer_.send(
            {buffer_of(proto::encode(proto::Heartbeat{.session = session_}, header_))});
    }

    std::string payload_;
    std::string text_;
    Dealer dealer_;
    proto::HeaderBuffer header_{};
    std::uint64_t session_ = 0;
    std::uint64_t last_id_ = 0;
    std::uint64_t echoes_ = 0;  // Arrived, of requests that are not finished.
    std::uint64_t taken_ = 0;   // Bytes of bodies, and how many of them the primary knows of.
    std::uint64_t credited_ = 0;
    Clock::time_point last_beat_ = Clock::now();
};

class RawTarget final : public Target {
public:
    explicit RawTarget(std::shared_ptr<ShortqServer> server) : server_(std::move(server)) {}

    Result<std::unique_ptr<Requester>> connect(const std::string& payload) override {
        auto requester = std::make_unique<RawRequester>(server_->endpoint(), payload);
        if (auto connected = requester->connect(); !connected)
            return tl::unexpected(connected.error());
        return requester;
    }

private:
    std::shared_ptr<ShortqServer> server_;
};

}  // namespace

Result<ShortqTargets> start_shortq(const Site& site, const std::string& window) {
    const TemporaryFolder folder;
    const auto source = folder.path() / "nothing.sql";
    std::ofstream(source) << "# The test engine needs no data.\n";
    std::vector<std::string> arguments{"--engine", "test"};
    if (!window.empty()) arguments.insert(arguments.end(), {"--window", window});
    arguments.insert(arguments.end(), {std::to_string(site.workers), source.string()});
    auto started = ShortqServer::start(arguments, site.transport);
    if (!started) return tl::unexpected(started.error());
    auto server = std::make_shared<ShortqServer>(std::move(*started));
    return ShortqTargets{std::make_unique<ClientTarget>(server),
                         std::make_unique<RawTarget>(server)};
}

}  // namespace shortq::bench
