// tools/bench/core_load.cpp: the facts that a busy shell would tell.
#include "tools/bench/core_load.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <variant>

namespace shortq::bench {
namespace {

constexpr std::size_t kClients = 64;
constexpr std::uint64_t kBatch = 64;  // Between two looks at the clock, as in the event loop.
constexpr core::Duration kRunTime = std::chrono::microseconds(10);  // Of every query.
constexpr std::uint64_t kFingerprint = 1;
constexpr std::uint32_t kAheadMax = 64;  // More than this no worker is given ahead, by any window.

core::Options core_options(const CoreLoadOptions& options) {
    core::Options core;
    core.workers = options.workers;
    core.window = options.window;
    core.pending_max = std::numeric_limits<std::uint32_t>::max();
    core.pending_per_client_max = std::numeric_limits<std::uint32_t>::max();
    core.pending_bytes_max = std::numeric_limits<std::uint64_t>::max();
    core.client_window_bytes =
        std::numeric_limits<std::uint64_t>::max();  // So nobody tells credit.
    return core;
}

}  // namespace

CoreLoad::CoreLoad(const CoreLoadOptions& options)
    : options_(options),
      core_(core_options(options)),
      between_requests_(std::max(kRunTime / options.workers, core::Duration(1))),
      given_(std::bit_ceil(std::size_t{options.workers} * kAheadMax)) {
    out_.reserve(64);
    start_workers();
    open_clients();
    // What a query takes has to be known before a worker is given several.
    for (std::uint32_t i = 0; i < options.workers; ++i) step();
    while (!full()) arrive();
}

void CoreLoad::step() {
    now_ += between_requests_;
    arrive();
    answer_oldest();
    if (requests_ % kBatch == 0) take(core::TimeReached{});
}

bool CoreLoad::full() const {
    if (options_.queued > 0) return core_.totals().queued >= options_.queued;
    return last_ - first_ >= options_.workers / 2;
}

void CoreLoad::take(const core::Event& event) {
    out_.clear();
    core_.step(now_, event, out_);
    for (const auto& action : out_) {
        if (const auto* send = std::get_if<core::SendToWorker>(&action)) {
            if (last_ - first_ == given_.size()) throw std::logic_error("more given than expected");
            given_[last_++ & (given_.size() - 1)] = {send->worker, send->request};
        } else if (std::holds_alternative<core::SendError>(action) ||
                   std::holds_alternative<core::Recall>(action) ||
                   std::holds_alternative<core::KillWorker>(action)) {
            throw std::logic_error("the core's load is not steady");
        }
    }
}

void CoreLoad::start_workers() {
    take(core::Started{});
    for (const auto& action : out_) {
        if (const auto* spawn = std::get_if<core::SpawnWorker>(&action))
            workers_.push_back(spawn->worker);
    }
    for (const auto worker : workers_) take(core::WorkerReady{worker});
}

void CoreLoad::open_clients() {
    for (std::size_t i = 0; i < kClients; ++i) {
        take(core::ClientArrived{});
        clients_.push_back(std::get<core::ClientOpened>(out_.front()).client);
    }
}

void CoreLoad::arrive() {
    core::RequestArrived event;
    event.client = clients_[next_client_];
    event.client_request = ++requests_ / clients_.size() + 1;  // Each client counts its own.
    event.bytes = 32;
    event.fingerprint = kFingerprint;
    next_client_ = (next_client_ + 1) % clients_.size();
    take(event);
}

void CoreLoad::answer_oldest() {
    const auto oldest = given_[first_++ & (given_.size() - 1)];
    core::ReplyArrived event;
    event.worker = oldest.worker;
    event.request = oldest.request;
    event.run_time = kRunTime;
    event.bytes = 64;
    take(event);
}

}  // namespace shortq::bench
