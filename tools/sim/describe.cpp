// tools/sim/describe.cpp: one line per event and action.
#include "tools/sim/describe.h"

#include <fmt/format.h>

namespace shortq::sim {

namespace {

template <class Id>
std::string name(char letter, Id id) {
    const auto number = static_cast<std::uint64_t>(id);
    return fmt::format("{}{}.{}", letter, number & 0xffffffffU, number >> 32);
}
std::string name(core::RequestId id) { return name('r', id); }
std::string name(core::ClientId id) { return name('c', id); }
std::string name(core::WorkerId id) { return name('w', id); }
template <class Enum>
int number(Enum value) {
    return static_cast<int>(value);
}

struct Describe {
    std::string operator()(const core::Started&) const { return "Started"; }
    std::string operator()(const core::TimeReached&) const { return "TimeReached"; }
    std::string operator()(const core::ClientArrived&) const { return "ClientArrived"; }
    std::string operator()(const core::ClientHeard& e) const {
        return "ClientHeard " + name(e.client);
    }
    std::string operator()(const core::ClientLost& e) const {
        return "ClientLost " + name(e.client);
    }
    std::string operator()(const core::RequestArrived& e) const {
        return fmt::format(
            "RequestArrived {} id={} mode={} priority={} streaming={} timeout={} min={} bytes={}",
            name(e.client), e.client_request, number(e.mode), number(e.priority), e.streaming,
            e.timeout.count(), e.min_generation, e.bytes);
    }
    std::string operator()(const core::CancelRequested& e) const {
        return fmt::format("CancelRequested {} id={}", name(e.client), e.client_request);
    }
    std::string operator()(const core::CancelSerial& e) const {
        return fmt::format("CancelSerial {}", e.serial);
    }
    std::string operator()(const core::WorkerReady& e) const {
        return "WorkerReady " + name(e.worker);
    }
    std::string operator()(const core::WorkerHeard& e) const {
        return "WorkerHeard " + name(e.worker);
    }
    std::string operator()(const core::WorkerLoadFailed& e) const {
        return "WorkerLoadFailed " + name(e.worker);
    }
    std::string operator()(const core::WorkerExited& e) const {
        return fmt::format("WorkerExited {} started={}", name(e.worker),
                           e.started ? name(*e.started) : "none");
    }
    std::string operator()(const core::WorkerUnreachable& e) const {
        return "WorkerUnreachable " + name(e.worker);
    }
    std::string operator()(const core::ReplyArrived& e) const {
        return fmt::format("ReplyArrived {} {} last={} code={} sick={}", name(e.worker),
                           name(e.request), e.last, e.code ? number(*e.code) : 0, e.sick);
    }
    std::string operator()(const core::Recalled& e) const {
        return fmt::format("Recalled {} {}", name(e.worker), name(e.request));
    }
    std::string operator()(const core::CreditArrived& e) const {
        return fmt::format("CreditArrived {} id={} attempt={} bytes={}", name(e.client),
                           e.client_request, e.attempt, e.bytes);
    }
    std::string operator()(const core::WorkerWornOut& e) const {
        return "WorkerWornOut " + name(e.worker);
    }
    std::string operator()(const core::DrainWorker& e) const {
        return fmt::format("DrainWorker seat={}", e.seat);
    }
    std::string operator()(const core::KillSeat& e) const {
        return fmt::format("KillSeat seat={}", e.seat);
    }
    std::string operator()(const core::ReloadRequested&) const { return "ReloadRequested"; }
    std::string operator()(const core::DrainRequested&) const { return "DrainRequested"; }
    std::string operator()(const core::StopRequested&) const { return "StopRequested"; }

    std::string operator()(const core::ClientOpened& a) const {
        return "ClientOpened " + name(a.client);
    }
    std::string operator()(const core::ClientClosed& a) const {
        return "ClientClosed " + name(a.client);
    }
    std::string operator()(const core::PingClient& a) const {
        return "PingClient " + name(a.client);
    }
    std::string operator()(const core::Accepted& a) const {
        return fmt::format("Accepted {} serial={}", name(a.request), a.serial);
    }
    std::string operator()(const core::Release& a) const { return "Release " + name(a.request); }
    std::string operator()(const core::SendToWorker& a) const {
        return fmt::format("SendToWorker {} {} budget={}", name(a.worker), name(a.request),
                           a.budget.count());
    }
    static std::string receipt(const core::Receipt& to) {
        return fmt::format("{} id={} attempt={} sequence={} seat={} generation={} queued={} ran={}",
                           name(to.client), to.client_request, to.attempt, to.sequence, to.seat,
                           to.generation, to.queued.count(), to.ran.count());
    }
    std::string operator()(const core::ForwardReply& a) const {
        return fmt::format("ForwardReply {} last={}", receipt(a.to), a.last);
    }
    std::string operator()(const core::SendError& a) const {
        return fmt::format("SendError {} reason={}", receipt(a.to), number(a.reason));
    }
    std::string operator()(const core::Interrupt& a) const {
        return fmt::format("Interrupt {} {}", name(a.worker), name(a.request));
    }
    std::string operator()(const core::GrantCredit& a) const {
        return fmt::format("GrantCredit {} {} bytes={}", name(a.worker), name(a.request), a.bytes);
    }
    std::string operator()(const core::Recall& a) const {
        return fmt::format("Recall {} {}", name(a.worker), name(a.request));
    }
    std::string operator()(const core::SpawnWorker& a) const {
        return fmt::format("SpawnWorker {} seat={} generation={}", name(a.worker), a.seat,
                           a.generation);
    }
    std::string operator()(const core::StopWorker& a) const {
        return "StopWorker " + name(a.worker);
    }
    std::string operator()(const core::KillWorker& a) const {
        return "KillWorker " + name(a.worker);
    }
    std::string operator()(const core::GenerationServing& a) const {
        return fmt::format("GenerationServing {}", a.generation);
    }
    std::string operator()(const core::ReloadFailed& a) const {
        return fmt::format("ReloadFailed {}", a.generation);
    }
    std::string operator()(const core::StartFailed& a) const {
        return "StartFailed " + name(a.worker);
    }
    std::string operator()(const core::Stopped&) const { return "Stopped"; }
};

}  // namespace

std::string describe(const core::Event& event) { return std::visit(Describe{}, event); }
std::string describe(const core::Action& action) { return std::visit(Describe{}, action); }

}  // namespace shortq::sim
