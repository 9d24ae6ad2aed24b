// primary/core/dispatcher.cpp: the shape of a step.
#include "primary/core/dispatcher.h"

#include <algorithm>

#include "primary/core/dispatcher_impl.h"

namespace shortq::core {

Dispatcher::Dispatcher(const Options& options) : impl_(std::make_unique<Impl>(options)) {}
Dispatcher::~Dispatcher() = default;
Dispatcher::Dispatcher(Dispatcher&&) noexcept = default;
Dispatcher& Dispatcher::operator=(Dispatcher&&) noexcept = default;

void Dispatcher::step(Time now, const Event& event, std::vector<Action>& out) {
    impl_->step(now, event, out);
}
std::optional<Time> Dispatcher::next_wake() const { return impl_->next_wake(); }
Snapshot Dispatcher::snapshot(Time now) const { return impl_->snapshot(now); }
const Totals& Dispatcher::totals() const { return impl_->totals(); }
void Dispatcher::check_invariants() const { impl_->check_invariants(); }

Dispatcher::Impl::Impl(const Options& options)
    : options_(options),
      requests_(options.seed),
      queues_(requests_),
      least_busy_(options.policy, options.window == kWindowAuto ? 0 : options.window, options.seed),
      seats_(options.workers) {
    const auto sync = workers_.take();  // The first slot and life: kSyncWorker.
    workers_[sync].state = WorkerState::kReady;
    auto silence = options.worker_silence_max;
    if (options.client_silence_max != Duration{0}) {
        silence = silence == Duration{0} ? options.client_silence_max
                                         : std::min(silence, options.client_silence_max);
    }
    pause_min_ = silence / 2;
}

void Dispatcher::Impl::step(Time now, const Event& event, std::vector<Action>& out) {
    out_ = &out;
    notice_pause(now);
    now_ = std::max(now_, now);
    std::visit([this](const auto& fact) { on(fact); }, event);
    assign();
    finish_drain_if_done();
    finish_stop_if_done();
    out_ = nullptr;
}

}  // namespace shortq::core
