// primary/sync_executor.cpp: three lanes: one with the session state that clients share, one for
// looking at the dispatcher, one for reloads.
#include "primary/sync_executor.h"

#include <algorithm>

#include "primary/views.h"

namespace shortq::primary {
namespace {

// The primary is no place for large computations: workers are.
constexpr std::uint64_t kMainMemoryBytes = std::uint64_t{512} << 20;
constexpr std::uint64_t kLookMemoryBytes = std::uint64_t{64} << 20;

Result<std::unique_ptr<engine::Engine>> make_engine(HostLink& link, std::uint64_t memory) {
    engine::EngineOptions options;
    options.access = engine::Access::kSync;
    options.threads = 1;
    options.memory_limit_bytes = memory;
    options.host_tables = host_tables(link);
    options.host_calls = host_calls(link);
    auto made = engine::make_engine("duckdb", std::move(options));
    if (!made) return made;
    auto loaded = (*made)->load({});
    if (!loaded) return tl::unexpected(loaded.error());
    return made;
}

}  // namespace

SyncExecutor::SyncExecutor(const SyncLane::PostReply& post_reply,
                           const std::function<void(Question)>& post_question) {
    const auto keep = [](SyncJob&, const Error&) { return false; };
    // The look lane was the wrong guess for a text with names that only the main engine knows.
    const auto try_main = [this](SyncJob& job, const Error& error) {
        if (!error.message.starts_with("Catalog Error")) return false;
        lane(LaneName::kMain).submit(std::move(job));
        return true;
    };
    const auto make = [&](LaneName name, std::uint64_t memory, SyncLane::TakeOver take_over) {
        lanes_[static_cast<std::size_t>(name)] = std::make_unique<SyncLane>(
            [memory](HostLink& link) { return make_engine(link, memory); }, post_reply,
            post_question, std::move(take_over));
    };
    make(LaneName::kMain, kMainMemoryBytes, keep);
    make(LaneName::kLook, kLookMemoryBytes, try_main);
    make(LaneName::kReload, kLookMemoryBytes, keep);
}

Result<void> SyncExecutor::start() {
    if (auto made = lane(LaneName::kMain).warm_up(); !made) return made;
    return lane(LaneName::kLook).warm_up();
}

void SyncExecutor::submit(SyncJob job) {
    const std::string_view text(static_cast<const char*>(job.text.data()), job.text.size());
    lane(lane_for(text)).submit(std::move(job));
}

bool SyncExecutor::stop(std::chrono::nanoseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    // The main lane last: the look lane hands jobs to it.
    return std::all_of(lanes_.rbegin(), lanes_.rend(),
                       [&](const auto& lane) { return lane->stop(until); });
}

void SyncExecutor::grant(core::RequestId request, std::uint64_t bytes) {
    for (auto& lane : lanes_) lane->grant(request, bytes);
}

bool SyncExecutor::withdraw(core::RequestId request) {
    for (auto& lane : lanes_)
        if (lane->withdraw(request)) return true;
    return false;
}

bool SyncExecutor::interrupt(core::RequestId request) {
    for (auto& lane : lanes_) {
        const auto found = lane->interrupt(request);
        if (found == SyncLane::Found::kWithdrawn) return true;
        if (found == SyncLane::Found::kRunning) interrupting_ = true;
    }
    return false;
}

void SyncExecutor::repeat_interrupts() {
    interrupting_ = false;
    for (auto& lane : lanes_) interrupting_ = lane->repeat_interrupt() || interrupting_;
}

bool SyncExecutor::is_running(core::RequestId request) {
    return std::ranges::any_of(lanes_, [&](auto& lane) { return lane->is_running(request); });
}

double SyncExecutor::progress_of(core::RequestId request) {
    for (auto& lane : lanes_)
        if (const double progress = lane->progress_of(request); progress >= 0) return progress;
    return -1.0;
}

}  // namespace shortq::primary
