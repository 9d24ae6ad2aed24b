// primary/sync_executor.h: the primary's own engines, seen by the dispatcher as one worker,
// kSyncWorker.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "primary/core/types.h"
#include "primary/sync_lane.h"
#include "primary/sync_routing.h"

namespace shortq::primary {

// Threads: the dispatch thread; the posts are called on the engines' threads.
class SyncExecutor {
public:
    SyncExecutor(const SyncLane::PostReply& post_reply,
                 const std::function<void(Question)>& post_question);

    // Makes the engines that must answer at once. Errors: the engine cannot be made.
    [[nodiscard]] Result<void> start();
    void submit(SyncJob job);

    // False: an engine does not obey, and its thread cannot be joined.
    [[nodiscard]] bool stop(std::chrono::nanoseconds patience);

    // Pieces of this request's reply may go out while those before have less than `bytes`.
    void grant(core::RequestId request, std::uint64_t bytes);

    // True: it had not started, and will not.
    [[nodiscard]] bool withdraw(core::RequestId request);
    // As withdraw(); a running one is interrupted until it ends.
    [[nodiscard]] bool interrupt(core::RequestId request);
    // To be called every kInterruptEvery while interrupting().
    void repeat_interrupts();
    [[nodiscard]] bool interrupting() const noexcept { return interrupting_; }
    static constexpr std::chrono::milliseconds kInterruptEvery{10};

    [[nodiscard]] bool is_running(core::RequestId request);
    [[nodiscard]] double progress_of(core::RequestId request);

private:
    [[nodiscard]] SyncLane& lane(LaneName name) { return *lanes_[static_cast<std::size_t>(name)]; }

    // The look lane hands jobs to the main one, so it goes first: the array is destroyed from its
    // end.
    std::array<std::unique_ptr<SyncLane>, 3> lanes_;
    bool interrupting_ = false;
};

}  // namespace shortq::primary
