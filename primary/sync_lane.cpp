// primary/sync_lane.cpp: the thread that owns a sync engine.
#include "primary/sync_lane.h"

#include <algorithm>

#include "primary/reply_encoder.h"
#include "primary/sync_routing.h"
#include "primary/wire.h"
#include "proto/value.h"

namespace shortq::primary {

SyncLane::SyncLane(Make make, PostReply post_reply, std::function<void(Question)> post_question,
                   TakeOver take_over)
    : make_(std::move(make)),
      post_reply_(std::move(post_reply)),
      take_over_(std::move(take_over)),
      link_(std::move(post_question)),
      thread_([this] { run(); }) {}

SyncLane::~SyncLane() {
    static_cast<void>(stop(std::chrono::steady_clock::time_point::max()));
    thread_.join();
}

bool SyncLane::stop(std::chrono::steady_clock::time_point until) {
    link_.close();
    std::unique_lock lock(mutex_);
    stopping_ = true;
    jobs_.clear();
    changed_.notify_all();
    // An interrupt may be lost, so it is repeated until the thread is done.
    constexpr std::chrono::milliseconds kRepeat{10};
    while (!changed_.wait_for(lock, kRepeat, [this] { return stopped_; })) {
        if (std::chrono::steady_clock::now() > until) return false;
        interrupt_locked();
    }
    return true;
}

Result<void> SyncLane::warm_up() { return ensure_engine(); }

// On one thread at a time: the maker's before the first job, the lane's own after it.
Result<void> SyncLane::ensure_engine() {
    if (engine_) return {};
    auto made = make_(link_);
    if (!made) return tl::unexpected(made.error());
    const std::lock_guard lock(mutex_);
    engine_ = std::move(*made);
    return {};
}

void SyncLane::submit(SyncJob job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    changed_.notify_all();
}

bool SyncLane::withdraw(core::RequestId request) {
    const std::lock_guard lock(mutex_);
    return std::erase_if(jobs_, [&](const SyncJob& job) { return job.request == request; }) > 0;
}

SyncLane::Found SyncLane::interrupt(core::RequestId request) {
    if (withdraw(request)) return Found::kWithdrawn;
    const std::lock_guard lock(mutex_);
    if (running_ != request) return Found::kNo;
    interrupt_ordered_ = true;
    interrupt_locked();
    return Found::kRunning;
}

bool SyncLane::repeat_interrupt() {
    const std::lock_guard lock(mutex_);
    return interrupt_ordered_ && interrupt_locked();
}

bool SyncLane::interrupt_locked() {
    if (running_ == core::RequestId{}) return false;
    changed_.notify_all();  // It may wait for its reader.
    link_.interrupt();
    if (engine_) engine_->interrupt();  // Else it is being made for this job: it is asked again.
    return true;
}

bool SyncLane::is_running(core::RequestId request) {
    const std::lock_guard lock(mutex_);
    return running_ == request;
}

double SyncLane::progress_of(core::RequestId request) {
    const std::lock_guard lock(mutex_);
    return running_ == request && engine_ ? engine_->progress() : -1.0;
}

void SyncLane::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
        if (stopping_) break;
        SyncJob job = std::move(jobs_.front());
        jobs_.pop_front();
        running_ = job.request;
        interrupt_ordered_ = false;
        sent_bytes_ = 0;
        granted_bytes_ = proto::kReplyWindowBytes;
        lock.unlock();
        run_job(job);
        lock.lock();
    }
    stopped_ = true;
    changed_.notify_all();
}

void SyncLane::run_job(SyncJob& job) {
    const auto begin = std::chrono::steady_clock::now();
    ReplyEncoder encoder(job.request,
                         [this](SyncReply reply) { return post_piece(std::move(reply)); });
    auto done = evaluate(job, encoder);
    const auto ran = std::chrono::steady_clock::now() - begin;
    {
        // Before the reply: whoever has it may order an interrupt of the next request only.
        const std::lock_guard lock(mutex_);
        running_ = core::RequestId{};
        interrupt_ordered_ = false;
    }
    if (done) {
        post_reply_(encoder.finish(ran));
    } else if (!take_over_(job, done.error())) {
        report_error(job, std::move(done.error()), ran);
    }
}

// False: the reader is behind, and the request is to end.
bool SyncLane::post_piece(SyncReply reply) {
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] {
            return stopping_ || interrupt_ordered_ || sent_bytes_ < granted_bytes_;
        });
        if (stopping_ || interrupt_ordered_) return false;
        for (const auto& body : reply.bodies) sent_bytes_ += body.size();
    }
    post_reply_(std::move(reply));
    return true;
}

void SyncLane::grant(core::RequestId request, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (running_ != request) return;
    granted_bytes_ = bytes;
    changed_.notify_all();
}

Result<void> SyncLane::evaluate(const SyncJob& job, engine::ResultSink& sink) {
    if (auto ready = ensure_engine(); !ready) return ready;
    Parameters parameters;
    if (!job.parameters.empty()) {
        auto decoded = proto::decode_parameters(
            {static_cast<const std::byte*>(job.parameters.data()), job.parameters.size()});
        if (!decoded) return tl::unexpected(decoded.error());
        parameters = std::move(*decoded);
    }
    const std::string_view text(static_cast<const char*>(job.text.data()), job.text.size());
    if (auto allowed = check_sync_text(text); !allowed) return allowed;
    const engine::Query query{text, parameters};
    return engine_->run(query, sink);
}

void SyncLane::report_error(const SyncJob& job, Error error, std::chrono::nanoseconds ran) {
    proto::ErrorReply header;
    header.id = static_cast<std::uint64_t>(job.request);
    header.code = error.code;
    header.retryable = error.retryable;
    header.facts.run_us = static_cast<std::uint64_t>(ran.count() / 1000);
    SyncReply reply{header, {}, false};
    reply.bodies.push_back(frame_of(error.message));
    reply.bodies.push_back(frame_of(error.where.empty() ? "primary" : error.where));
    post_reply_(std::move(reply));
}

}  // namespace shortq::primary
