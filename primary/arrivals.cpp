// primary/arrivals.cpp: class Primary, what arrives: messages, signals, ends of processes.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <csignal>

#include "primary/fingerprint.h"
#include "primary/messages.h"
#include "primary/overloaded.h"
#include "primary/primary.h"

namespace shortq::primary {
namespace {

std::uint64_t bytes_of(const std::vector<zmq::message_t>& bodies) {
    std::uint64_t bytes = 0;
    for (const auto& body : bodies) bytes += body.size();
    return bytes;
}

// What a log line shows of a query.
std::string excerpt(std::string_view text) {
    constexpr std::size_t kBytesMax = 200;
    return text.size() <= kBytesMax ? std::string(text)
                                    : std::string(text.substr(0, kBytesMax)) + "...";
}

}  // namespace

// ---- Clients

bool Primary::read_clients() {
    constexpr int kBatch = 64;
    for (int i = 0; i < kBatch; ++i) {
        if (!clients_.receive()) return true;
        on_client_message();
    }
    return false;
}

void Primary::on_client_message() {
    auto says = clients_.interpret();
    if (const auto* again = std::get_if<HelloAgain>(&says)) {
        step(core::ClientLost{again->client});
        says = clients_.interpret();
    }
    std::visit(Overloaded{
                   [](const Nothing&) {},
                   [](const HelloAgain&) {},
                   [&](const NewClient&) { step(core::ClientArrived{}); },
                   [&](const NewRequest& request) { on_client_request(request); },
                   [&](const auto& event) { step(event); },
               },
               says);
}

void Primary::on_client_request(NewRequest request) {
    auto& bodies = clients_.bodies();
    take_request(request, std::move(bodies[0]),
                 bodies.size() > 1 ? std::move(bodies[1]) : zmq::message_t());
}

void Primary::take_request(NewRequest request, zmq::message_t text, zmq::message_t parameters) {
    Payload payload;
    payload.client = request.event.client;
    payload.client_request = request.id;
    payload.mode = request.event.mode;
    payload.streaming = request.event.streaming;
    const bool by_time = options_.window == core::kWindowAuto;
    if (by_time && payload.mode == proto::Mode::kDeferred) {
        request.event.fingerprint = fingerprint_of(text.to_string_view());
    }
    payload.text = std::move(text);
    payload.parameters = std::move(parameters);
    arriving_ = std::move(payload);
    step(request.event);
    arriving_.reset();
}

// ---- Workers

bool Primary::read_workers(int messages_max) {
    for (int i = 0; i < messages_max; ++i) {
        if (!workers_.receive()) return true;
        if (const auto says = workers_.interpret()) on_worker_message(*says);
    }
    return false;
}

void Primary::on_worker_message(const WorkerDoor::WorkerSays& says) {
    const auto worker = says.worker;
    std::visit(
        Overloaded{
            [&](const proto::Hello& hello) {
                supervisor_.greeted(worker, static_cast<pid_t>(hello.pid));
                step(core::WorkerHeard{worker});
            },
            [&](const proto::Ready& ready) { on_worker_ready(worker, ready); },
            [&](const proto::Heartbeat& heartbeat) { on_worker_heartbeat(worker, heartbeat); },
            [&](const proto::Reply& reply) { on_reply(worker, reply, workers_.bodies()); },
            [&](const proto::ErrorReply& reply) {
                if (reply.id == 0) {
                    on_load_failed(worker);
                } else {
                    on_error_reply(worker, reply, workers_.bodies());
                }
            },
            [&](const proto::Recalled& recalled) {
                step(core::Recalled{worker, core::RequestId{recalled.id}});
            },
            [&](const proto::WornOut& worn) {
                if (const auto* facts = supervisor_.facts(worker)) {
                    spdlog::info("worker {} (pid {}) is replaced when it is idle: {}", facts->seat,
                                 facts->pid, worn.why);
                }
                step(core::WorkerWornOut{worker});
            },
            [&](const auto&) { step(core::WorkerHeard{worker}); },
        },
        says.message);
}

void Primary::on_worker_ready(core::WorkerId worker, const proto::Ready& ready) {
    auto* facts = supervisor_.facts(worker);
    if (facts == nullptr || facts->ready) return;
    facts->ready = true;
    spdlog::info("worker {} (pid {}) is ready: generation {}, loaded in {:.3f} s", facts->seat,
                 facts->pid, facts->generation, static_cast<double>(ready.load_us) / 1e6);
    startup_.worker_ready(now());
    step(core::WorkerReady{worker});
}

void Primary::on_worker_heartbeat(core::WorkerId worker, const proto::Heartbeat& heartbeat) {
    if (auto* facts = supervisor_.facts(worker)) {
        facts->rss_bytes = heartbeat.rss_bytes;
        facts->running = heartbeat.running;
        facts->progress_ppm = heartbeat.progress_ppm;
    }
    tell_progress(heartbeat);
    step(core::WorkerHeard{worker});
}

void Primary::tell_progress(const proto::Heartbeat& heartbeat) {
    const auto* payload = payloads_.find(core::RequestId{heartbeat.running});
    if (payload == nullptr || is_probe(payload->client)) return;
    std::vector<zmq::message_t> none;
    send_to_client(
        payload->client,
        proto::Progress{.id = payload->client_request, .progress_ppm = heartbeat.progress_ppm},
        none);
}

void Primary::on_load_failed(core::WorkerId worker) {
    const auto* facts = supervisor_.facts(worker);
    if (facts == nullptr) return;
    const auto& bodies = workers_.bodies();
    Error error;
    error.code = ErrorCode::kQueryError;
    if (!bodies.empty()) error.message = text_of(bodies[0]);
    if (bodies.size() > 1) error.where = text_of(bodies[1]);
    load_failed(facts->generation, worker, std::move(error));
}

// It, or the fork server that it waits for, cannot load.
void Primary::load_failed(std::uint32_t generation, core::WorkerId worker, Error error) {
    const auto* facts = supervisor_.facts(worker);
    // Else the start or the reload tells it.
    if (facts != nullptr && generation == serving_generation_) {
        spdlog::warn("worker {}, a replacement, cannot load: {}", facts->seat, one_line(error));
    }
    note_load_error(generation, std::move(error));
    step(core::WorkerLoadFailed{worker});
}

// The first error of a generation is the one to tell; what follows is its consequence.
void Primary::note_load_error(std::uint32_t generation, Error error) {
    if (load_error_ && load_error_->generation >= generation) return;
    spdlog::debug("generation {} does not load: {}", generation, one_line(error));
    load_error_ = LoadError{generation, std::move(error)};
}

void Primary::on_reply(core::WorkerId worker, proto::Reply reply,
                       std::vector<zmq::message_t>& bodies) {
    const auto bytes = bytes_of(bodies);
    if (over_result_limit(worker, reply, bytes)) {
        if (!reply.last) return step(core::WorkerHeard{worker});
        proto::ErrorReply error;
        error.id = reply.id;
        error.facts = reply.facts;
        return on_error_reply(worker, error, bodies);
    }
    reply_ = reply;
    reply_bodies_ = &bodies;
    step(core::ReplyArrived{.worker = worker,
                            .request = core::RequestId{reply.id},
                            .last = reply.last,
                            .code = std::nullopt,
                            .sick = false,
                            .run_time = std::chrono::microseconds(reply.facts.run_us),
                            .bytes = bytes});
    reply_bodies_ = nullptr;
}

// Counts what one attempt has sent. Beyond the limit the query is stopped, its pieces are dropped,
// and its final reply becomes the error.
bool Primary::over_result_limit(core::WorkerId worker, const proto::Reply& reply,
                                std::uint64_t bytes) {
    auto* payload = payloads_.find(core::RequestId{reply.id});
    if (payload == nullptr || options_.result_bytes_max == 0) return false;
    if (reply.sequence == 0) {
        payload->result_bytes = 0;
        payload->over_limit = false;
    }
    payload->result_bytes += bytes;
    if (payload->over_limit || payload->result_bytes <= options_.result_bytes_max)
        return payload->over_limit;
    payload->over_limit = true;
    if (!reply.last) act(core::Interrupt{worker, payload->request});
    return true;
}

void Primary::on_error_reply(core::WorkerId worker, proto::ErrorReply reply,
                             std::vector<zmq::message_t>& bodies) {
    const auto* payload = payloads_.find(core::RequestId{reply.id});
    if (payload != nullptr && payload->over_limit) {
        reply.code = ErrorCode::kTooLarge;
        reply.retryable = false;
        bodies.clear();
        bodies.push_back(frame_of(fmt::format(
            "the result has more than {} bytes (--max-result-bytes)", options_.result_bytes_max)));
        bodies.push_back(frame_of("primary"));
    }
    reply_ = reply;
    reply_bodies_ = &bodies;
    step(core::ReplyArrived{.worker = worker,
                            .request = core::RequestId{reply.id},
                            .last = true,
                            .code = reply.code,
                            .sick = reply.sick,
                            .run_time = std::chrono::microseconds(reply.facts.run_us),
                            .bytes = bytes_of(bodies)});
    reply_bodies_ = nullptr;
}

// ---- Ends of workers

void Primary::on_worker_ended(core::WorkerId worker) {
    // What it said before it ended counts: a reply that lies in the socket is an answer.
    constexpr int kLastWords = 10'000;
    static_cast<void>(read_workers(kLastWords));
    const auto ended = supervisor_.reap(worker);
    if (!ended) return;
    workers_.forget(worker);
    const auto& facts = ended->facts;
    if (!facts.ready) {
        note_load_error(facts.generation, Error{ErrorCode::kInternal,
                                                fmt::format("ended while loading: {}", ended->how),
                                                fmt::format("worker {}", facts.seat), false});
    }
    if (facts.told_to_end) {
        spdlog::info("worker {} (pid {}) has ended: {}", facts.seat, facts.pid, ended->how);
    } else {
        std::string doing;
        if (ended->event.started) {
            if (const auto* payload = payloads_.find(*ended->event.started))
                doing = fmt::format(", running query {}: {}", payload->serial,
                                    excerpt(payload->text_view()));
        }
        spdlog::warn("worker {} (pid {}) died: {}{}", facts.seat, facts.pid, ended->how, doing);
    }
    step(ended->event);
}

// ---- Other threads, and signals

void Primary::read_inbox() {
    for (auto& item : inbox_.take()) {
        if (const auto* question = std::get_if<Question>(&item)) {
            answer(*question);
            continue;
        }
        if (auto* says = std::get_if<KdbSays>(&item)) {
            on_kdb(*says);
            continue;
        }
        if (const auto* hello = std::get_if<HelloJudged>(&item)) {
            if (clients_.judged(*hello)) step(core::ClientArrived{});
            continue;
        }
        auto& reply = std::get<SyncReply>(item);
        if (ask_workers_for_table(reply)) continue;
        std::visit(Overloaded{
                       [&](const proto::Reply& header) {
                           on_reply(core::kSyncWorker, header, reply.bodies);
                       },
                       [&](const proto::ErrorReply& header) {
                           on_error_reply(core::kSyncWorker, header, reply.bodies);
                       },
                   },
                   reply.header);
    }
}

void Primary::read_signals() {
    while (const auto signal = signals_.take()) {
        if (*signal == SIGCHLD) {
            supervisor_.reap_strays();
        } else if (*signal == SIGHUP) {
            spdlog::info("reloading");
            static_cast<void>(reload_users());  // The log is all that hears of it.
            step(core::ReloadRequested{});
        } else if (!drain_requested_) {
            spdlog::info("draining: new requests are refused, those under way get {}",
                         seconds_text(options_.drain));
            drain_requested_ = true;
            step(core::DrainRequested{});
        } else {
            spdlog::info("stopping now");
            stop_requested_ = true;
            step(core::StopRequested{});
        }
    }
}

}  // namespace shortq::primary
