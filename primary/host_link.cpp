// primary/host_link.cpp: one mutex and condition per question.
#include "primary/host_link.h"

namespace shortq::primary {

void Answer::give(Result<Rows> answer) {
    const std::lock_guard lock(mutex_);
    if (!answer_) answer_ = std::move(answer);
    changed_.notify_all();
}

void Answer::abandon() { give(fail(ErrorCode::kCancelled, "interrupted", "primary")); }

Result<Rows> Answer::wait(std::optional<std::chrono::steady_clock::time_point> until) {
    std::unique_lock lock(mutex_);
    const auto answered = [this] { return answer_.has_value(); };
    if (!until) {
        changed_.wait(lock, answered);
    } else if (!changed_.wait_until(lock, *until, answered)) {
        return fail(ErrorCode::kUnavailable, "the dispatcher did not answer in time", "primary");
    }
    return *answer_;
}

Result<Rows> HostLink::ask(const Demand& demand) {
    // The dispatch thread never blocks: a wait this long means that something is very wrong.
    constexpr std::chrono::seconds kViewWaitMax{10};
    auto answer = std::make_shared<Answer>();
    {
        const std::lock_guard lock(mutex_);
        if (closed_) return fail(ErrorCode::kCancelled, "the primary is leaving", "primary");
        waiting_ = answer;
    }
    post_(Question{demand, answer});
    // A reload takes as long as its load; --load-timeout ends it.
    const bool bounded = !std::holds_alternative<ReloadCall>(demand);
    auto result = bounded ? answer->wait(std::chrono::steady_clock::now() + kViewWaitMax)
                          : answer->wait(std::nullopt);
    const std::lock_guard lock(mutex_);
    waiting_.reset();
    return result;
}

void HostLink::interrupt() {
    const std::lock_guard lock(mutex_);
    if (waiting_) waiting_->abandon();
}

void HostLink::close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    if (waiting_) waiting_->abandon();
}

}  // namespace shortq::primary
