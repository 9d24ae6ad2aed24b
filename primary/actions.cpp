// primary/actions.cpp: class Primary, what leaves: one function per action of the core.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <limits>

#include "primary/messages.h"
#include "primary/primary.h"

namespace shortq::primary {
namespace {

std::uint64_t microseconds(std::chrono::nanoseconds duration) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
}

// As the wire says it: 0 is none, and more than it can say is as good as the most it can say.
std::uint32_t milliseconds_left(std::chrono::nanoseconds budget) {
    constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(budget).count();
    return static_cast<std::uint32_t>(std::min<std::int64_t>(left, kMost));
}

// What the primary adds to the facts that a worker reported.
proto::Facts facts_for(const core::Receipt& to, proto::Facts facts) {
    facts.worker = to.seat;
    facts.generation = to.generation;
    facts.queued_us = microseconds(to.queued);
    return facts;
}

}  // namespace

void Primary::carry_out(const core::Action& action) {
    std::visit([this](const auto& one) { act(one); }, action);
}

// ---- Clients

void Primary::act(const core::ClientOpened& action) {
    if (opening_probe_) {
        probes_.back().client = action.client;
        return;
    }
    if (arriving_kdb_ != nullptr)
        return kdb_clients_.admit(action.client, *arriving_kdb_, clients_.next_number());
    clients_.admit(action.client, options_.workers, serving_generation_);
}

void Primary::act(const core::ClientClosed& action) {
    clients_.forget(action.client);
    if (const auto connection = kdb_clients_.forget(action.client)) kdb_door_->close(*connection);
}

const ClientFacts* Primary::facts_of(core::ClientId client) {
    const auto* known = kdb_clients_.facts(client);
    return known == nullptr ? clients_.facts(client) : known;
}

void Primary::act(const core::PingClient& action) {
    std::vector<zmq::message_t> none;
    send_to_client(action.client, proto::Ping{}, none);
}

void Primary::act(const core::Accepted& action) {
    if (!arriving_) return;
    auto& payload = payloads_.put(action.request, std::move(*arriving_));
    payload.serial = action.serial;
    arriving_.reset();
}

void Primary::act(const core::Release& action) { payloads_.release(action.request); }

void Primary::send_to_client(core::ClientId client, const proto::Message& header,
                             std::vector<zmq::message_t>& bodies) {
    if (const auto connection = kdb_clients_.connection_of(client))
        return send_to_kdb(*connection, client, header, bodies);
    if (!clients_.send(client, header, bodies)) step(core::ClientLost{client});
}

void Primary::act(const core::ForwardReply& action) {
    if (reply_bodies_ == nullptr) return;
    const auto& to = action.to;
    if (is_probe(to.client)) {
        const auto* rows = std::get_if<proto::Reply>(&reply_);
        if (action.last) finish_probe(to.client, rows != nullptr && rows->facts.rows > 0);
        return;
    }
    if (auto* reply = std::get_if<proto::Reply>(&reply_)) {
        reply->id = to.client_request;
        reply->attempt = to.attempt;
        reply->sequence = to.sequence;
        reply->last = action.last;
        reply->facts = facts_for(to, reply->facts);
        if (action.last) log_if_slow(to, "ok", std::chrono::microseconds(reply->facts.run_us));
        send_to_client(to.client, *reply, *reply_bodies_);
    } else if (auto* error = std::get_if<proto::ErrorReply>(&reply_)) {
        error->id = to.client_request;
        error->sick = false;
        error->facts = facts_for(to, error->facts);
        log_if_slow(to, name_of(error->code), std::chrono::microseconds(error->facts.run_us));
        send_to_client(to.client, *error, *reply_bodies_);
    }
}

void Primary::act(const core::SendError& action) {
    if (is_probe(action.to.client)) return finish_probe(action.to.client, false);
    const auto error = describe(action.reason, action.to, options_);
    proto::ErrorReply reply;
    reply.id = action.to.client_request;
    reply.code = error.code;
    reply.retryable = error.retryable;
    reply.facts = facts_for(action.to, {});
    reply.facts.run_us = microseconds(action.to.ran);
    log_if_slow(action.to, name_of(error.code), action.to.ran);
    std::vector<zmq::message_t> bodies;
    bodies.push_back(frame_of(error.message));
    bodies.push_back(frame_of(error.where));
    send_to_client(action.to.client, reply, bodies);
}

void Primary::log_if_slow(const core::Receipt& to, std::string_view outcome,
                          std::chrono::nanoseconds ran) {
    if (!SlowLog::is_slow(to.queued + ran)) return;
    const auto* payload = payloads_.find(to.client, to.client_request);
    if (payload == nullptr) return;
    const auto* client = facts_of(to.client);
    slow_log_.add({.serial = payload->serial,
                   .client = client == nullptr ? 0 : static_cast<std::int64_t>(client->number),
                   .seat = to.seat,
                   .queued = to.queued,
                   .ran = ran,
                   .outcome = std::string(outcome),
                   .text = std::string(payload->text_view().substr(0, SlowLog::kTextBytesMax + 1)),
                   .ended = std::chrono::system_clock::now()});
}

// ---- Workers

void Primary::act(const core::SendToWorker& action) {
    auto* payload = payloads_.find(action.request);
    if (payload == nullptr) return;
    if (action.worker == core::kSyncWorker) return send_to_sync(*payload);
    proto::Request request;
    request.id = static_cast<std::uint64_t>(action.request);
    request.streaming = payload->streaming;
    request.timeout_ms = milliseconds_left(action.budget);
    std::array<zmq::message_t, 2> bodies;
    bodies[0].copy(payload->text);  // Shares the bytes: a retry may need them again.
    bodies[1].copy(payload->parameters);
    const std::size_t count = payload->parameters.empty() ? 1 : 2;
    // Replies to what came in a bundle come in one, too, so no long query may be in it.
    constexpr std::chrono::microseconds kBrief{100};
    const bool brief = action.expected > core::Duration{0} && action.expected <= kBrief;
    if (!workers_.send(action.worker, request, std::span(bodies).first(count),
                       brief ? Bundling::kYes : Bundling::kNo))
        step(core::WorkerUnreachable{action.worker});
}

void Primary::send_to_sync(Payload& payload) {
    SyncJob job;
    job.request = payload.request;
    job.text.copy(payload.text);
    job.parameters.copy(payload.parameters);
    sync_.submit(std::move(job));
}

void Primary::act(const core::Interrupt& action) {
    if (action.worker == core::kSyncWorker) {
        if (sync_.interrupt(action.request)) step(core::Recalled{action.worker, action.request});
        return;
    }
    const proto::Interrupt order{static_cast<std::uint64_t>(action.request)};
    if (!workers_.send(action.worker, order)) step(core::WorkerUnreachable{action.worker});
}

void Primary::act(const core::Recall& action) {
    if (action.worker == core::kSyncWorker) {
        if (sync_.withdraw(action.request)) step(core::Recalled{action.worker, action.request});
        return;
    }
    const proto::Recall order{static_cast<std::uint64_t>(action.request)};
    if (!workers_.send(action.worker, order)) step(core::WorkerUnreachable{action.worker});
}

void Primary::act(const core::GrantCredit& action) {
    if (action.worker == core::kSyncWorker) return sync_.grant(action.request, action.bytes);
    const proto::Credit credit{.id = static_cast<std::uint64_t>(action.request),
                               .bytes = action.bytes};
    if (!workers_.send(action.worker, credit)) step(core::WorkerUnreachable{action.worker});
}

// What every new worker needs, and a tidied /tmp may have lost.
Result<void> Primary::renew_folders() try {
    spill_directory_.renew();
    socket_directory_.renew();
    workers_.renew();
    return {};
} catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, error.what(), "starting a worker");
}

void Primary::act(const core::SpawnWorker& action) {
    begun_generation_ = std::max(begun_generation_, action.generation);
    auto spawned = renew_folders();
    if (spawned) spawned = supervisor_.spawn(action);
    if (spawned) {
        spdlog::debug("worker {} of generation {} is loading", action.seat, action.generation);
        return;
    }
    spdlog::error("worker {} cannot be started: {}", action.seat, one_line(spawned.error()));
    note_load_error(action.generation, spawned.error());
    step(core::WorkerLoadFailed{action.worker});
    step(core::WorkerExited{action.worker, std::nullopt});
}

void Primary::act(const core::StopWorker& action) {
    if (auto* facts = supervisor_.facts(action.worker)) facts->told_to_end = true;
    if (!workers_.send(action.worker, proto::Drain{})) supervisor_.kill(action.worker);
}

void Primary::act(const core::KillWorker& action) {
    if (auto* facts = supervisor_.facts(action.worker)) {
        facts->told_to_end = true;
        if (!facts->ready && !drain_requested_) {
            note_load_error(facts->generation,
                            Error{ErrorCode::kTimeout,
                                  fmt::format("loading was stopped after {} (--load-timeout)",
                                              seconds_text(options_.load_timeout)),
                                  options_.source.string(), false});
        }
        spdlog::debug("worker {} (pid {}) is killed", facts->seat, facts->pid);
    }
    supervisor_.kill(action.worker);
}

// ---- The service

void Primary::act(const core::GenerationServing& action) {
    serving_generation_ = action.generation;
    supervisor_.retire_before(action.generation);
    spdlog::info("generation {} serves", action.generation);
    answer_reloads(Rows{{std::int64_t{action.generation},
                         fmt::format("generation {} serves", action.generation)}},
                   action.generation);
}

void Primary::act(const core::ReloadFailed& action) {
    const bool known = load_error_ && load_error_->generation == action.generation;
    const auto error =
        known ? load_error_->error
              : Error{ErrorCode::kInternal, "the reload was given up", "primary", false};
    spdlog::error("reload failed, generation {} serves on: {}", serving_generation_,
                  one_line(error));
    supervisor_.retire(action.generation);
    answer_reloads(tl::unexpected(error), action.generation);
}

void Primary::act(const core::StartFailed& /*action*/) {
    std::cerr << "shortq: "
              << (load_error_ ? one_line(load_error_->error) : std::string("no worker can load"))
              << std::endl;
    exit_status_ = 1;
}

void Primary::act(const core::Stopped& /*action*/) {
    if (!exit_status_) exit_status_ = 0;
}

}  // namespace shortq::primary
