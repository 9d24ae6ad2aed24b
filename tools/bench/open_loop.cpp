// tools/bench/open_loop.cpp: the raw protocol, on one thread that sleeps to the microsecond.
#include "tools/bench/open_loop.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <zmq.hpp>

#include "proto/message.h"
#include "tools/bench/dealer.h"

namespace shortq::bench {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr std::chrono::seconds kPatience{60};  // For one reply; a queue may be long.
constexpr std::chrono::milliseconds kLead{5};  // From the call to the start of the trace.

// Timers of this thread fire when they are due; by default the kernel may be 50 us late.
void sleep_exactly() { ::prctl(PR_SET_TIMERSLACK, 1UL); }

}  // namespace

class OpenLoop::Session {
public:
    explicit Session(const std::string& endpoint) {
        socket_.set(zmq::sockopt::linger, 0);
        socket_.set(zmq::sockopt::sndhwm, 0);
        socket_.set(zmq::sockopt::rcvhwm, 0);
        socket_.connect(endpoint);
    }

    // Also later: who does not beat between two traces is forgotten.
    Result<void> connect() {
        session_ = 0;
        proto::Hello hello;
        hello.agent = "shortq-bench";
        last_beat_ = Clock::now();
        send({buffer_of(proto::encode(hello, header_))});
        const auto end = Clock::now() + kPatience;
        while (session_ == 0) {
            if (Clock::now() >= end) return fail(ErrorCode::kTimeout, "no welcome");
            if (auto taken = take_all(); !taken) return taken;
            if (session_ == 0) wait_until(Clock::now() + std::chrono::milliseconds(100));
        }
        return {};
    }

    Result<std::vector<nanoseconds>> replay(const Trace& trace, const Words& words) {
        sleep_exactly();
        if (auto connected = connect(); !connected) return tl::unexpected(connected.error());
        trace_ = &trace;
        first_id_ = last_id_ + 1;
        answered_ = 0;
        stays_.assign(trace.size(), nanoseconds(0));
        start_ = Clock::now() + kLead;
        auto heard = Clock::now();
        for (std::size_t next = 0; answered_ < trace.size();) {
            for (; next < trace.size() && due(next) <= Clock::now(); ++next) ask(next, words);
            beat();
            const auto before = answered_;
            // Last before waiting: what else is done with the socket may take its signal away.
            if (auto taken = take_all(); !taken) return tl::unexpected(taken.error());
            const auto now = Clock::now();
            if (answered_ > before || answered_ == next) heard = now;
            if (now - heard > kPatience) return fail(ErrorCode::kTimeout, "no reply");
            const auto beat_due = last_beat_ + proto::kHeartbeatInterval;
            wait_until(next < trace.size() ? std::min(due(next), beat_due) : beat_due);
        }
        return std::move(stays_);
    }

private:
    [[nodiscard]] Clock::time_point due(std::size_t request) const {
        return start_ + (*trace_)[request].arrival;
    }

    void ask(std::size_t index, const Words& words) {
        const auto& one = (*trace_)[index];
        const auto text = fmt::format(
            "sleep {:.6f} {}", std::chrono::duration<double, std::milli>(one.service).count(),
            one.is_short ? words.for_short : words.for_long);
        proto::Request request;
        request.id = ++last_id_;
        request.session = session_;
        send({buffer_of(proto::encode(request, header_)), zmq::buffer(text)});
    }

    // Everything that has come.
    Result<void> take_all() {
        zmq::message_t frame;
        while (socket_.recv(frame, zmq::recv_flags::dontwait)) {
            const auto now = Clock::now();
            auto taken = take(frame, now);
            bool more = frame.more();
            while (more) {
                (void)socket_.recv(frame);
                more = frame.more();
                if (!taken && taken.error().message.empty())
                    taken.error().message = frame.to_string();
            }
            if (!taken) return taken;
        }
        return {};
    }

    Result<void> take(const zmq::message_t& frame, Clock::time_point now) {
        const auto message =
            proto::decode({static_cast<const std::byte*>(frame.data()), frame.size()});
        if (!message) return tl::unexpected(message.error());
        if (const auto* welcome = std::get_if<proto::Welcome>(&*message)) {
            session_ = welcome->session;
        } else if (const auto* reply = std::get_if<proto::Reply>(&*message)) {
            if (!reply->last || reply->id < first_id_) return {};
            stays_[reply->id - first_id_] = now - due(reply->id - first_id_);
            ++answered_;
        } else if (const auto* error = std::get_if<proto::ErrorReply>(&*message)) {
            return fail(error->code, "");
        }
        return {};  // Heartbeats and pings need no answer.
    }

    void beat() {
        const auto now = Clock::now();
        if (now - last_beat_ < proto::kHeartbeatInterval) return;
        last_beat_ = now;
        send({buffer_of(proto::encode(proto::Heartbeat{.session = session_}, header_))});
    }

    void send(std::initializer_list<zmq::const_buffer> frames) {
        std::size_t left = frames.size();
        for (const auto& frame : frames) {
            --left;
            socket_.send(frame, left > 0 ? zmq::send_flags::sndmore : zmq::send_flags::none);
        }
    }

    // Until then, or until something comes. zmq::poll() knows no less than a millisecond.
    void wait_until(Clock::time_point then) {
        const auto left = std::max(nanoseconds(then - Clock::now()), nanoseconds(0));
        const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
        const timespec limit{.tv_sec = whole.count(), .tv_nsec = (left - whole).count()};
        pollfd item{.fd = socket_.get(zmq::sockopt::fd), .events = POLLIN, .revents = 0};
        ::ppoll(&item, 1, &limit, nullptr);
    }

    zmq::context_t context_{1};
    zmq::socket_t socket_{context_, zmq::socket_type::dealer};
    proto::HeaderBuffer header_{};
    std::uint64_t session_ = 0;
    Clock::time_point last_beat_ = Clock::now();

    const Trace* trace_ = nullptr;  // Under way.
    Clock::time_point start_;
    std::uint64_t first_id_ = 1;
    std::uint64_t last_id_ = 0;
    std::size_t answered_ = 0;
    std::vector<nanoseconds> stays_;
};

OpenLoop::OpenLoop(std::unique_ptr<Session> session) : session_(std::move(session)) {}
OpenLoop::OpenLoop(OpenLoop&&) noexcept = default;
OpenLoop& OpenLoop::operator=(OpenLoop&&) noexcept = default;
OpenLoop::~OpenLoop() = default;

Result<OpenLoop> OpenLoop::connect(const std::string& endpoint) {
    auto session = std::make_unique<Session>(endpoint);
    if (auto connected = session->connect(); !connected) return tl::unexpected(connected.error());
    return OpenLoop(std::move(session));
}

Result<std::vector<nanoseconds>> OpenLoop::replay(const Trace& trace, const Words& words) {
    return session_->replay(trace, words);
}

}  // namespace shortq::bench
