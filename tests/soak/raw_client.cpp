#include "tests/soak/raw_client.h"

#include <fmt/format.h>

#include <memory>
#include <span>
#include <utility>

#include "primary/overloaded.h"
#include "proto/limits.h"

namespace shortq::soak {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kAtOnce = 10;
constexpr seconds kHelloPatience{10};

const Mix kMix{{Kind::kShort, 50},  {Kind::kParameter, 10}, {Kind::kMedium, 8},
               {Kind::kLarge, 2},   {Kind::kError, 5},      {Kind::kMissing, 3},
               {Kind::kEndless, 1}, {Kind::kSync, 6},       {Kind::kSyncError, 1}};

std::span<const std::byte> bytes_of(const zmq::message_t& frame) {
    return {static_cast<const std::byte*>(frame.data()), frame.size()};
}

std::vector<Buffer> bodies_of(const std::vector<zmq::message_t>& frames) {
    std::vector<Buffer> bodies;
    for (std::size_t i = 1; i < frames.size(); ++i) {
        const auto bytes = bytes_of(frames[i]);
        const auto owner = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
        bodies.push_back({std::span<const std::byte>(*owner), owner});
    }
    return bodies;
}

std::string parameters_of(const Plan& plan) {
    const auto bytes = proto::encode_parameters(plan.parameters);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

RawClient::RawClient(const Scene& scene, std::string name, std::string endpoint,
                     std::uint64_t stream)
    : scene_(scene),
      name_(std::move(name)),
      endpoint_(std::move(endpoint)),
      random_(scene.seed, stream),
      judge_(scene.ledger, scene.versions) {}

void RawClient::run() {
    connect();
    while (!scene_.gate.is_over() || !waiting_.empty()) {
        if (session_ != 0 && scene_.gate.is_open() && Clock::now() >= next_request_) ask();
        zmq::pollitem_t item{socket_->handle(), 0, ZMQ_POLLIN, 0};
        zmq::poll(&item, 1, milliseconds(20));
        receive_all();
        beat();
        if (session_ != 0 && scene_.gate.is_open() && random_.one_in(4000)) leave_without_a_word();
    }
    if (session_ != 0) send(proto::Goodbye{session_});
}

void RawClient::connect() {
    socket_.emplace(context_, zmq::socket_type::dealer);
    socket_->set(zmq::sockopt::linger, 1000);
    socket_->set(zmq::sockopt::sndhwm, 0);
    socket_->set(zmq::sockopt::rcvhwm, 0);
    socket_->connect(endpoint_);
    greet();
}

void RawClient::greet() {
    session_ = 0;
    taken_ = 0;
    hello_again_ = Clock::now() + kHelloPatience;
    proto::Hello hello;
    hello.agent = name_;
    send(hello);
}

void RawClient::start_anew() {
    for (auto next = waiting_.begin(); next != waiting_.end();) {
        auto& waiting = next->second;
        // Not to be sent again.
        if (waiting.plan.sync || (waiting.streaming && waiting.assembly.begun())) {
            judge_.tell_error(waiting.plan, name_, {ErrorCode::kConnection, "it broke", {}});
            next = waiting_.erase(next);
            continue;
        }
        waiting.assembly = {};
        waiting.taken = 0;
        ++next;
    }
    connect();
}

void RawClient::leave_without_a_word() {
    socket_->set(zmq::sockopt::linger, 0);
    for (const auto& [id, waiting] : waiting_) scene_.ledger.left(id);
    waiting_.clear();
    connect();
}

// ---- Sending

void RawClient::send(const proto::Message& message, const std::vector<std::string>& bodies) {
    proto::HeaderBuffer buffer;
    const auto header = proto::encode(message, buffer);
    const auto flags = [](bool more) {
        return more ? zmq::send_flags::sndmore : zmq::send_flags::none;
    };
    static_cast<void>(
        socket_->send(zmq::buffer(header.data(), header.size()), flags(!bodies.empty())));
    for (std::size_t i = 0; i < bodies.size(); ++i)
        static_cast<void>(socket_->send(zmq::buffer(bodies[i]), flags(i + 1 < bodies.size())));
}

void RawClient::ask() {
    next_request_ = Clock::now() + random_.milliseconds(0, 15);
    if (waiting_.size() >= kAtOnce) return;
    const auto id = scene_.ledger.next_number();
    Waiting waiting;
    waiting.plan = make_plan(random_, draw(random_, kMix), id, scene_.versions);
    waiting.streaming = waiting.plan.kind == Kind::kLarge && random_.one_in(2);
    if (scene_.restarts) allow_restart(waiting.plan);
    const bool cancels = random_.one_in(15);
    if (cancels) allow_cancel(waiting.plan);
    scene_.ledger.sent(waiting.plan, name_);
    send_request(id, waiting);
    waiting_.emplace(id, std::move(waiting));
    if (!cancels) return;
    scene_.ledger.note(id, "cancelled by its client");
    send(proto::Cancel{id, session_});
    send(proto::Cancel{random_.one_in(2) ? id : id + 1'000'000, session_});  // Means nothing.
}

void RawClient::send_request(std::uint64_t id, const Waiting& waiting) {
    const auto& plan = waiting.plan;
    proto::Request request;
    request.id = id;
    request.session = session_;
    request.mode = plan.sync ? proto::Mode::kSync : proto::Mode::kDeferred;
    request.priority = static_cast<proto::Priority>(plan.options.priority);
    request.streaming = waiting.streaming;
    request.timeout_ms = static_cast<std::uint32_t>(plan.options.timeout.count());
    request.min_generation = plan.options.min_generation;
    std::vector<std::string> bodies{plan.text};
    if (!plan.parameters.empty()) bodies.push_back(parameters_of(plan));
    send(request, bodies);
}

void RawClient::beat() {
    const auto now = Clock::now();
    if (session_ == 0 && now >= hello_again_) start_anew();
    if (session_ == 0 || now < next_beat_) return;
    next_beat_ = now + proto::kHeartbeatInterval;
    proto::Heartbeat heartbeat;
    heartbeat.session = session_;
    send(heartbeat);
}

// ---- What comes

bool RawClient::receive(std::vector<zmq::message_t>& frames) {
    frames.clear();
    do {
        if (!socket_->recv(frames.emplace_back(),
                           frames.size() > 1 ? zmq::recv_flags::none : zmq::recv_flags::dontwait))
            return false;
    } while (frames.back().more());
    return true;
}

void RawClient::receive_all() {
    std::vector<zmq::message_t> frames;
    while (receive(frames)) take(frames);
}

void RawClient::take(const std::vector<zmq::message_t>& frames) {
    const auto message = proto::decode(bytes_of(frames.front()));
    if (!message) return scene_.ledger.wrong(name_ + " cannot decode: " + message.error().message);
    std::visit(primary::Overloaded{
                   [&](const proto::Welcome& welcome) {
                       session_ = welcome.session;
                       for (const auto& [id, waiting] : waiting_) send_request(id, waiting);
                   },
                   [&](const proto::Reply& reply) { on(reply, frames); },
                   [&](const proto::ErrorReply& error) { on(error, frames); },
                   [](const auto&) {},
               },
               *message);
}

void RawClient::on(const proto::Reply& reply, const std::vector<zmq::message_t>& frames) {
    const auto found = waiting_.find(reply.id);
    const auto bodies = bodies_of(frames);
    std::uint64_t bytes = 0;
    for (const auto& body : bodies) bytes += body.bytes.size();
    taken_ += bytes;
    if (found == waiting_.end()) {
        return scene_.ledger.unexpected(reply.id, name_,
                                        fmt::format("piece {} of attempt {}, last {}",
                                                    reply.sequence, reply.attempt, reply.last));
    }
    auto& waiting = found->second;
    const auto& assembly = waiting.assembly;
    if (waiting.streaming && assembly.begun() && reply.attempt != assembly.attempt())
        scene_.ledger.wrong(fmt::format("the stream {} began again", reply.id));
    const auto table = waiting.assembly.add(reply, bodies);
    if (!table) {
        scene_.ledger.answered(reply.id, name_, "pieces", false, table.error().message);
    } else if (*table) {
        judge_.tell(waiting.plan, name_, **table);
    } else {
        return give_credit(reply, waiting, bytes);
    }
    waiting_.erase(found);
}

void RawClient::give_credit(const proto::Reply& reply, Waiting& waiting, std::uint64_t bytes) {
    if (reply.sequence == 0) waiting.taken = 0;
    waiting.taken += bytes;
    send(proto::Credit{
        .id = reply.id, .session = session_, .attempt = reply.attempt, .bytes = waiting.taken});
    send(proto::Credit{.id = 0, .session = session_, .attempt = 0, .bytes = taken_});
}

void RawClient::on(const proto::ErrorReply& error, const std::vector<zmq::message_t>& frames) {
    if (error.code == ErrorCode::kUnknownSession) {
        if (session_ != 0) start_anew();
        return;
    }
    Error told;
    told.code = error.code;
    told.retryable = error.retryable;
    if (frames.size() > 1) told.message = frames[1].to_string();
    if (frames.size() > 2) told.where = frames[2].to_string();
    if (error.id == 0) return scene_.ledger.wrong(name_ + " was told: " + outcome_of(told));
    const auto found = waiting_.find(error.id);
    if (found == waiting_.end()) return scene_.ledger.unexpected(error.id, name_, outcome_of(told));
    judge_.tell_error(found->second.plan, name_, told);
    waiting_.erase(found);
}

}  // namespace shortq::soak
