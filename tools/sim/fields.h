// tools/sim/fields.h: the fields of every event and action, listed once, for whoever wants them: as
// text for people, as a hash to compare runs by.
#pragma once

#include <cstdint>

#include "primary/core/events.h"

namespace shortq::sim {

// `Sink` has begin(const char* kind), id(char letter, std::uint64_t), and
// field(const char* name, std::uint64_t).
template <class Sink>
class Fields {
public:
    explicit Fields(Sink& sink) : sink_(sink) {}

    void operator()(const core::Started&) { begin("Started"); }
    void operator()(const core::TimeReached&) { begin("TimeReached"); }
    void operator()(const core::ClientArrived& e) {
        begin("ClientArrived").field("heartbeats", e.heartbeats);
    }
    void operator()(const core::ClientHeard& e) { begin("ClientHeard").id(e.client); }
    void operator()(const core::ClientLost& e) { begin("ClientLost").id(e.client); }
    void operator()(const core::RequestArrived& e) {
        begin("RequestArrived").id(e.client).field("id", e.client_request).field("mode", e.mode);
        field("priority", e.priority).field("streaming", e.streaming).field("timeout", e.timeout);
        field("min", e.min_generation).field("bytes", e.bytes);
    }
    void operator()(const core::CancelRequested& e) {
        begin("CancelRequested").id(e.client).field("id", e.client_request);
    }
    void operator()(const core::CancelSerial& e) {
        begin("CancelSerial").field("serial", e.serial);
    }
    void operator()(const core::WorkerReady& e) { begin("WorkerReady").id(e.worker); }
    void operator()(const core::WorkerHeard& e) { begin("WorkerHeard").id(e.worker); }
    void operator()(const core::WorkerLoadFailed& e) { begin("WorkerLoadFailed").id(e.worker); }
    void operator()(const core::WorkerExited& e) {
        begin("WorkerExited").id(e.worker).id(e.started.value_or(core::RequestId{}));
    }
    void operator()(const core::WorkerUnreachable& e) { begin("WorkerUnreachable").id(e.worker); }
    void operator()(const core::ReplyArrived& e) {
        begin("ReplyArrived").id(e.worker).id(e.request).field("last", e.last);
        if (e.code) field("code", *e.code);
        field("sick", e.sick).field("bytes", e.bytes);
    }
    void operator()(const core::CreditArrived& e) {
        begin("CreditArrived").id(e.client).field("id", e.client_request);
        field("attempt", e.attempt).field("bytes", e.bytes);
    }
    void operator()(const core::Recalled& e) { begin("Recalled").id(e.worker).id(e.request); }
    void operator()(const core::WorkerWornOut& e) { begin("WorkerWornOut").id(e.worker); }
    void operator()(const core::DrainWorker& e) { begin("DrainWorker").field("seat", e.seat); }
    void operator()(const core::KillSeat& e) { begin("KillSeat").field("seat", e.seat); }
    void operator()(const core::ReloadRequested&) { begin("ReloadRequested"); }
    void operator()(const core::DrainRequested&) { begin("DrainRequested"); }
    void operator()(const core::StopRequested&) { begin("StopRequested"); }

    void operator()(const core::ClientOpened& a) { begin("ClientOpened").id(a.client); }
    void operator()(const core::ClientClosed& a) { begin("ClientClosed").id(a.client); }
    void operator()(const core::PingClient& a) { begin("PingClient").id(a.client); }
    void operator()(const core::Accepted& a) {
        begin("Accepted").id(a.request).field("serial", a.serial);
    }
    void operator()(const core::Release& a) { begin("Release").id(a.request); }
    void operator()(const core::SendToWorker& a) {
        begin("SendToWorker")
            .id(a.worker)
            .id(a.request)
            .field("budget", a.budget)
            .field("expected", a.expected);
    }
    void operator()(const core::ForwardReply& a) {
        begin("ForwardReply").receipt(a.to).field("last", a.last);
    }
    void operator()(const core::SendError& a) {
        begin("SendError").receipt(a.to).field("reason", a.reason);
    }
    void operator()(const core::Interrupt& a) { begin("Interrupt").id(a.worker).id(a.request); }
    void operator()(const core::Recall& a) { begin("Recall").id(a.worker).id(a.request); }
    void operator()(const core::GrantCredit& a) {
        begin("GrantCredit").id(a.worker).id(a.request).field("bytes", a.bytes);
    }
    void operator()(const core::SpawnWorker& a) {
        begin("SpawnWorker").id(a.worker).field("seat", a.seat).field("generation", a.generation);
    }
    void operator()(const core::StopWorker& a) { begin("StopWorker").id(a.worker); }
    void operator()(const core::KillWorker& a) { begin("KillWorker").id(a.worker); }
    void operator()(const core::GenerationServing& a) {
        begin("GenerationServing").field("generation", a.generation);
    }
    void operator()(const core::ReloadFailed& a) {
        begin("ReloadFailed").field("generation", a.generation);
    }
    void operator()(const core::StartFailed& a) { begin("StartFailed").id(a.worker); }
    void operator()(const core::Stopped&) { begin("Stopped"); }

private:
    Fields& begin(const char* kind) {
        sink_.begin(kind);
        return *this;
    }
    Fields& id(core::RequestId id) { return name('r', static_cast<std::uint64_t>(id)); }
    Fields& id(core::ClientId id) { return name('c', static_cast<std::uint64_t>(id)); }
    Fields& id(core::WorkerId id) { return name('w', static_cast<std::uint64_t>(id)); }
    Fields& name(char letter, std::uint64_t value) {
        sink_.id(letter, value);
        return *this;
    }
    Fields& field(const char* name, core::Duration value) { return field(name, value.count()); }
    template <class Value>
    Fields& field(const char* name, Value value) {
        sink_.field(name, static_cast<std::uint64_t>(value));
        return *this;
    }
    Fields& receipt(const core::Receipt& to) {
        id(to.client).field("id", to.client_request).field("attempt", to.attempt);
        field("sequence", to.sequence).field("seat", to.seat).field("generation", to.generation);
        return field("queued", to.queued).field("ran", to.ran);
    }

    Sink& sink_;
};

}  // namespace shortq::sim
