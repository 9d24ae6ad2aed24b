// tools/bench/shortq_target.cpp: a primary with test workers as a target, over the raw protocol.
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <utility>
#include <variant>

#include "proto/message.h"
#include "tools/bench/child.h"
#include "tools/bench/dealer.h"
#include "tools/bench/target.h"
#include "tools/bench/temporary_folder.h"

namespace shortq::bench {
namespace {

using Clock = std::chrono::steady_clock;

zmq::const_buffer buffer_of(std::span<const std::byte> bytes) {
    return zmq::buffer(bytes.data(), bytes.size());
}

class ShortqTarget final : public Target {
public:
    ShortqTarget(std::unique_ptr<TemporaryFolder> folder, Child primary, const std::string& payload)
        : folder_(std::move(folder)),
          primary_(std::move(primary)),
          payload_(payload),
          text_("echo " + payload),
          dealer_(endpoint_in(primary_.first_line())) {}

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

    bool send() override {
        beat();
        proto::Request request;
        request.id = ++last_id_;
        request.session = session_;
        return dealer_.send({buffer_of(proto::encode(request, header_)), zmq::buffer(text_)});
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
            if (reply->last && frames.back().to_string_view() != payload_) {
                return fail(ErrorCode::kInternal, "the echo is not what was sent", "shortq");
            }
            return reply->last;
        }
        if (const auto* welcome = std::get_if<proto::Welcome>(&*message)) {
            session_ = welcome->session;
        } else if (const auto* error = std::get_if<proto::ErrorReply>(&*message)) {
            return fail(error->code, frames.size() > 1 ? frames[1].to_string() : "", "shortq");
        }
        return false;  // Heartbeats and pings need no answer.
    }

    void beat() {
        const auto now = Clock::now();
        if (now - last_beat_ < proto::kHeartbeatInterval) return;
        last_beat_ = now;
        (void)dealer_.send(
            {buffer_of(proto::encode(proto::Heartbeat{.session = session_}, header_))});
    }

    std::unique_ptr<TemporaryFolder> folder_;
    Child primary_;
    std::string payload_;
    std::string text_;
    Dealer dealer_;
    proto::HeaderBuffer header_{};
    std::uint64_t session_ = 0;
    std::uint64_t last_id_ = 0;
    Clock::time_point last_beat_ = Clock::now();
};

}  // namespace

Result<std::unique_ptr<Target>> start_shortq(const TargetOptions& options) {
    auto folder = std::make_unique<TemporaryFolder>();
    const auto source = folder->path() / "nothing.sql";
    std::ofstream(source) << "# The test engine needs no data.\n";
    auto primary = Child::start({program_next_to_this_one("shortq"), "-p", "0", "--window", "0",
                                 "--engine", "test", "--log-level", "warn",
                                 fmt::format("{}", options.workers), source.string()});
    if (!primary) return tl::unexpected(primary.error());
    auto target =
        std::make_unique<ShortqTarget>(std::move(folder), std::move(*primary), options.payload);
    if (auto connected = target->connect(); !connected) return tl::unexpected(connected.error());
    return target;
}

}  // namespace shortq::bench
