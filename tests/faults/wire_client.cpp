#include "tests/faults/wire_client.h"

#include <algorithm>
#include <utility>

#include "tests/patience.h"

namespace shortq::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kUnderWay = 6;
constexpr std::size_t kFaultsKept = 10;

bool holds(const std::vector<std::string>& bodies, const std::string& name) {
    return std::ranges::any_of(bodies, [&](const std::string& body) {
        // Not only a part of a longer number.
        const auto at = body.find(name);
        if (at == std::string::npos) return false;
        const auto end = at + name.size();
        return end == body.size() || body[end] < '0' || body[end] > '9';
    });
}

}  // namespace

WireClient::WireClient(LoadOptions options)
    : options_(std::move(options)),
      peer_(options_.endpoint),
      session_(peer_.hello()),
      next_heartbeat_(Clock::now()) {
    thread_ = std::thread([this] { work(); });
}

WireClient::~WireClient() { finish(); }

void WireClient::finish() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
}

void WireClient::work() {
    while (!over_) {
        while (under_way_.size() < kUnderWay) send_request();
        receive();
    }
    const auto until = Clock::now() + kPatience;
    while (!under_way_.empty() && Clock::now() < until) receive();
    for (const auto& [id, name] : under_way_) note_fault(name + " was never answered");
    // Replies and answers to heartbeats come in the order in which they were sent.
    heartbeat();
    while (heartbeats_heard_ < heartbeats_sent_ && Clock::now() < until) receive();
    if (heartbeats_heard_ < heartbeats_sent_) note_fault("a heartbeat was never answered");
    peer_.send({encoded(proto::Goodbye{session_})});
}

void WireClient::send_request() {
    const auto id = ++last_id_;
    const auto name = options_.name + "-" + std::to_string(id);
    under_way_[id] = name;
    ++tally_.sent;
    proto::Request request;
    request.id = id;
    request.session = session_;
    const bool duckdb = options_.engine == LoadEngine::kDuckDb;
    peer_.send({encoded(request), duckdb ? "select '" + name + "'" : "echo " + name});
}

void WireClient::heartbeat() {
    peer_.send({encoded(proto::Heartbeat{.session = session_})});
    peer_.send({encoded(
        proto::Credit{.id = 0, .session = session_, .attempt = 0, .bytes = taken_bytes_})});
    ++heartbeats_sent_;
    next_heartbeat_ = Clock::now() + proto::kHeartbeatInterval;
}

void WireClient::receive() {
    if (Clock::now() >= next_heartbeat_) heartbeat();
    const auto message = peer_.next(milliseconds(100));
    if (!message) return;
    for (const auto& body : peer_.bodies()) taken_bytes_ += body.size();
    if (std::holds_alternative<proto::Heartbeat>(*message)) ++heartbeats_heard_;
    if (const auto* reply = std::get_if<proto::Reply>(&*message)) {
        if (reply->last) settle(reply->id, nullptr);
    }
    if (const auto* error = std::get_if<proto::ErrorReply>(&*message))
        settle(error->id, &error->code);
}

void WireClient::settle(std::uint64_t id, const ErrorCode* error) {
    ++replies_;
    const auto found = under_way_.find(id);
    if (found == under_way_.end()) {
        const bool mine = id != 0 && id <= last_id_;
        return note_fault((mine ? "a second reply to " : "a reply to nobody's request ") +
                          std::to_string(id));
    }
    if (error != nullptr) {
        ++tally_.errors[*error];
    } else if (holds(peer_.bodies(), found->second)) {
        ++tally_.right;
    } else {
        note_fault(found->second + " got another's answer");
    }
    under_way_.erase(found);
}

void WireClient::note_fault(std::string what) {
    if (tally_.faults.size() < kFaultsKept) tally_.faults.push_back(std::move(what));
}

}  // namespace shortq::test
