#include "worker/query_thread.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <iterator>
#include <optional>
#include <utility>

#include "worker/reply_builder.h"

namespace shortq::worker {
namespace {

using Clock = std::chrono::steady_clock;

// Rounded up, and never 0: a run that was measured is told from one that was not.
std::chrono::microseconds since(Clock::time_point start) {
    using std::chrono::microseconds;
    return std::max(std::chrono::ceil<microseconds>(Clock::now() - start), microseconds(1));
}

Error unexpected(const std::exception& exception) {
    return Error{ErrorCode::kInternal, exception.what(), {}, false};
}

}  // namespace

void QueryThread::start(LoadOptions options) {
    result_bytes_max_ = options.result_bytes_max;
    place_ = "worker " + std::to_string(options.seat);
    loading_ = true;
    thread_ = std::thread([this, kept = std::move(options)]() mutable { main(kept); });
}

void QueryThread::main(LoadOptions& options) {
    if (!load(options)) return;
    for (Job job; next(job);) evaluate(job);
}

bool QueryThread::load(LoadOptions& options) {
    const auto start = Clock::now();
    auto loaded = load_engine(options);
    Outgoing outgoing;
    if (loaded) {
        outgoing.event = Outgoing::Event::kLoaded;
        outgoing.frames.push_back(header_frame(
            proto::Ready{.generation = options.generation,
                         .load_us = static_cast<std::uint64_t>(since(start).count())}));
    } else {
        outgoing.event = Outgoing::Event::kLoadFailed;
        outgoing.frames = error_frames({}, loaded.error());
    }
    const std::scoped_lock lock(mutex_);
    loading_ = false;
    outbox_.push_back(std::move(outgoing));
    wakeup_.notify();
    return loaded.has_value();
}

Result<void> QueryThread::load_engine(LoadOptions& options) try {
    const bool forked = options.forked != nullptr;
    auto engine = std::move(options.forked);
    if (!forked) {
        auto made = engine::make_engine(options.engine, options.engine_options);
        if (!made) return tl::unexpected(std::move(made.error()));
        engine = std::move(*made);
    }
    {
        const std::scoped_lock lock(mutex_);
        engine_ = std::move(engine);
        if (cancelled_) return fail(ErrorCode::kCancelled, "stopped while loading", place_);
    }
    // The fork server has told what was left out.
    if (forked) return engine_->start_forked(options.engine_options);
    auto loaded = engine_->load(options.source);
    if (loaded) {
        for (const auto& note : engine_->notes()) spdlog::warn("{}", note);
    }
    return loaded;
} catch (const std::exception& exception) {
    return tl::unexpected(unexpected(exception));
}

bool QueryThread::next(Job& job) {
    for (;;) {
        bool has_reply = false;
        {
            Lock lock(mutex_);
            changed_.wait(
                lock, [&] { return stop_ || !queue_.empty() || holder_ == Holder::kQueryThread; });
            if (stop_) return false;
            has_reply = holder_ == Holder::kQueryThread && !outbox_.empty();
            if (!queue_.empty() && (!has_reply || reply_may_wait())) {
                take(job);
                return true;
            }
        }
        if (has_reply ? socket_.deliver() : socket_.wait_and_serve()) continue;
        const std::scoped_lock lock(mutex_);
        return_socket();
    }
}

// Pre: locked. For others of its bundle, which are meant to be short; if one is not, the io thread
// takes the socket, and the reply leaves.
bool QueryThread::reply_may_wait() const {
    constexpr std::chrono::microseconds kPatience{200};
    return more_of_bundle_ && outbox_.size() < proto::kBundleMessagesUsual &&
           Clock::now() - waiting_since_ < kPatience;
}

// Pre: locked, as for all below up to return_socket().
void QueryThread::take(Job& job) {
    job = std::move(queue_.front());
    queue_.pop_front();
    ++runs_;
    if (holder_ == Holder::kQueryThread && !watching_) {
        watching_ = true;
        watched_.notify_one();
    }
    // From here on the request has started: should the process die, this is the one it died of.
    running_ = job.id;
    cancelled_ = false;
    more_of_bundle_ = job.more;
    sent_bytes_ = 0;
    granted_bytes_ = proto::kReplyWindowBytes;
    board_.set_running(job.id);
}

void QueryThread::return_socket() {
    holder_ = Holder::kIoThread;
    watched_.notify_one();
}

void QueryThread::lend_socket() {
    Lock lock(mutex_);
    if (!is_idle()) return;
    holder_ = Holder::kQueryThread;
    changed_.notify_all();
    while (holder_ == Holder::kQueryThread) {
        watched_.wait(lock, [&] { return holder_ == Holder::kIoThread || watching_; });
        if (!takes_long(lock)) continue;
        holder_ = Holder::kIoThread;
        if (!outbox_.empty()) wakeup_.notify();  // Else what waits here would wait on.
    }
}

// Looks on for as long as queries come. True: one lasts. Else none comes, or the socket is back.
bool QueryThread::takes_long(Lock& lock) {
    constexpr std::chrono::milliseconds kMoment{1};
    constexpr int kIdleMoments = 50;  // To begin to look on is a wake-up, too.
    for (int idle = 0; idle < kIdleMoments; ++idle) {
        const auto before = runs_;
        const bool back =
            watched_.wait_for(lock, kMoment, [&] { return holder_ == Holder::kIoThread; });
        if (back) break;
        if (runs_ != before) {
            idle = 0;
        } else if (running_ != 0) {
            watching_ = false;
            return true;
        }
    }
    watching_ = false;
    return false;
}

void QueryThread::evaluate(Job& job) {
    Frames reply = run(job);
    job.text.rebuild();
    job.parameters.rebuild();
    finish(job.id, std::move(reply));
}

Frames QueryThread::run(const Job& job) {
    const auto start = Clock::now();
    ReplyBuilder reply(job.id, result_bytes_max_,
                       [&](Frames frames) { return emit_chunk(job.id, std::move(frames)); });
    Error error;
    try {
        Parameters parameters;
        if (job.parameters.size() != 0) {
            auto decoded = proto::decode_parameters(bytes_of(job.parameters));
            if (!decoded) return reply.fail(since(start), decoded.error(), false);
            parameters = std::move(*decoded);
        }
        auto ran = engine_->run({job.text.to_string_view(), parameters}, reply);
        if (ran) return reply.finish(since(start));
        error = std::move(ran.error());
        if (!reply.refusal().empty())
            error = Error{ErrorCode::kTooLarge, reply.refusal(), {}, false};
    } catch (const std::exception& exception) {
        error = unexpected(exception);
    }
    if (error.where.empty()) error.where = place_;
    return reply.fail(since(start), error, engine_->sick());
}

bool QueryThread::emit_chunk(std::uint64_t request, Frames frames) {
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] {
            held_up_ = outbox_.size() >= kChunksWaitingMax;
            const bool room = !held_up_ && sent_bytes_ < granted_bytes_;
            return cancelled_ || stop_ || room;
        });
        held_up_ = false;
        if (cancelled_ || stop_) return false;
        for (const auto& body : std::span(frames).subspan(1)) sent_bytes_ += body.size();
        outbox_.push_back({Outgoing::Event::kChunk, request, std::move(frames)});
        if (holder_ == Holder::kQueryThread) return_socket();
    }
    wakeup_.notify();
    return true;
}

void QueryThread::finish(std::uint64_t request, Frames frames) {
    bool tell = false;
    {
        const std::scoped_lock lock(mutex_);
        if (outbox_.empty() && more_of_bundle_) waiting_since_ = Clock::now();
        outbox_.push_back({Outgoing::Event::kFinal, request, std::move(frames)});
        running_ = 0;
        board_.set_running(0);
        tell = holder_ == Holder::kIoThread;
    }
    if (tell) wakeup_.notify();  // Whoever wakes up finds the lock free.
}

void QueryThread::submit(Job job) {
    {
        const std::scoped_lock lock(mutex_);
        queue_.push_back(std::move(job));
    }
    changed_.notify_all();
}

bool QueryThread::take_back(std::uint64_t request) {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(queue_, request, &Job::id);
    if (found == queue_.end()) return false;
    queue_.erase(found);
    return true;
}

bool QueryThread::interrupt(std::uint64_t request) {
    // Under the lock, so that it cannot hit the next query: that one starts under it too.
    const std::scoped_lock lock(mutex_);
    if (running_ != request || request == 0) return false;
    cancelled_ = true;
    engine_->interrupt();
    changed_.notify_all();
    return true;
}

void QueryThread::grant(std::uint64_t request, std::uint64_t bytes) {
    const std::scoped_lock lock(mutex_);
    if (running_ != request) return;
    granted_bytes_ = bytes;
    changed_.notify_all();
}

void QueryThread::interrupt_load() {
    const std::scoped_lock lock(mutex_);
    if (!loading_) return;
    cancelled_ = true;
    if (engine_) engine_->interrupt();
}

void QueryThread::collect(std::vector<Outgoing>& out) {
    bool held_up = false;
    {
        const std::scoped_lock lock(mutex_);
        std::ranges::move(outbox_, std::back_inserter(out));
        outbox_.clear();
        held_up = held_up_;
    }
    if (held_up) changed_.notify_all();  // Not for a thread that waits for a request.
}

std::uint64_t QueryThread::running() {
    const std::scoped_lock lock(mutex_);
    return running_;
}

std::int32_t QueryThread::progress_ppm() {
    const std::scoped_lock lock(mutex_);
    if (running_ == 0 || !engine_) return -1;
    const double done = engine_->progress();
    if (!(done >= 0)) return -1;
    return static_cast<std::int32_t>(std::lround(std::min(done, 1.0) * 1e6));
}

bool QueryThread::idle() {
    const std::scoped_lock lock(mutex_);
    return is_idle();
}

bool QueryThread::is_idle() const {
    return !loading_ && queue_.empty() && running_ == 0 && outbox_.empty();
}

void QueryThread::stop() {
    {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

}  // namespace shortq::worker
