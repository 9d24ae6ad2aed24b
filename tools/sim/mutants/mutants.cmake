# tools/sim/mutants/mutants.cmake: deliberate faults for a copy of the core, to see that the
# simulator finds them. Each has a name, its file in primary/core, the text there (exactly once), and
# the text in its place, in which FAULT is true while this fault is switched on. Read by mutate.cmake.

# ---- Counts.
mutant(forgets-an-answer dispatcher_requests.cpp
    [[++(event.code ? requests_.totals().failed : requests_.totals().answered);]]
    [[if (!FAULT) ++(event.code ? requests_.totals().failed : requests_.totals().answered);]])
mutant(forgets-a-refusal dispatcher_requests.cpp
    [[++requests_.totals().refused;]]
    [[if (!FAULT) ++requests_.totals().refused;]])
mutant(leaks-bytes request_table.cpp
    [[totals_.bytes -= slab_[slot].bytes;]]
    [[if (!FAULT || slab_[slot].bytes > 3) totals_.bytes -= slab_[slot].bytes;]])
mutant(leaks-a-payload dispatcher_requests.cpp
    [[emit(Release{requests_[slot].id});]]
    [[if (!FAULT || requests_[slot].attempt == 0) emit(Release{requests_[slot].id});]])

# ---- Replies.
mutant(answers-the-wrong-client dispatcher_requests.cpp
    [[Receipt to{.client = request.client,]]
    [[Receipt to{.client = FAULT && queues_.clients().live(0) ? queues_.clients()[0].id : request.client,]])
mutant(believes-a-former-worker dispatcher_requests.cpp
    [[requests_[slot].worker_slot == worker)]]
    [[(FAULT ? requests_[slot].worker_slot != kNone : requests_[slot].worker_slot == worker))]])
mutant(reuses-ids slab.h
    [[++lives_[slot];]]
    [[if (!FAULT) ++lives_[slot];]])
mutant(loses-a-request-among-many request_table.cpp
    [[if (from_home < ((at - hole) & mask())) continue;]]
    [[if (FAULT || from_home < ((at - hole) & mask())) continue;]])
mutant(goes-on-with-a-torn-stream dispatcher_assign.cpp
    [[if (request.streaming && request.sequence > 0)]]
    [[if (!FAULT && request.streaming && request.sequence > 0)]])
mutant(goes-on-counting-after-a-loss dispatcher_assign.cpp
    [[request.sequence = 0;]]
    [[if (!FAULT) request.sequence = 0;]])
mutant(swallows-an-error dispatcher_assign.cpp
    [[emit(SendError{.to = receipt(request), .reason = *reason});]]
    [[if (!FAULT) emit(SendError{.to = receipt(request), .reason = *reason});]])

# ---- Retries.
mutant(skips-the-retry-cap dispatcher_assign.cpp
    [[if (request.charges >= options_.lives)]]
    [[if (!FAULT && request.charges >= options_.lives)]])
mutant(charges-nobody dispatcher_assign.cpp
    [[if (charged) ++request.charges;]]
    [[if (charged && !FAULT) ++request.charges;]])
mutant(charges-everybody dispatcher_workers.cpp
    [[lose(request, request == charged);]]
    [[lose(request, FAULT || request == charged);]])
mutant(retries-what-writes dispatcher_assign.cpp
    [[if (options_.writable) return]]
    [[if (!FAULT && options_.writable) return]])

# ---- Limits.
mutant(queues-one-too-many dispatcher_requests.cpp
    [[requests_.unanswered() >= options_.pending_max]]
    [[requests_.unanswered() >= options_.pending_max + (FAULT ? 1 : 0)]])
mutant(queues-one-too-many-per-client dispatcher_requests.cpp
    [[client.unanswered.size >= options_.pending_per_client_max]]
    [[client.unanswered.size >= options_.pending_per_client_max + (FAULT ? 1 : 0)]])
mutant(accepts-too-many-bytes dispatcher_requests.cpp
    [[event.bytes > options_.pending_bytes_max - used]]
    [[event.bytes > options_.pending_bytes_max - used + (FAULT ? 10 : 0)]])
mutant(gives-one-beyond-the-window least_busy.h
    [[node.bucket < window_]]
    [[node.bucket < window_ + (FAULT ? 1 : 0)]])
mutant(accepts-while-draining dispatcher_requests.cpp
    [[if (draining_) return Reason::kDraining;]]
    [[if (draining_ && !FAULT) return Reason::kDraining;]])

# ---- Order.
mutant(serves-the-newest client_queues.cpp
    [[insert(request, kNone); }]]
    [[insert(request, FAULT ? clients_[requests_[request].client_slot].queues[index_of(requests_[request].priority)].head : kNone); }]])
mutant(puts-back-at-the-end client_queues.cpp
    [[auto at = newest ? kNone : queue.head;]]
    [[auto at = newest || FAULT ? kNone : queue.head;]])
mutant(is-late-too-early client_queues.cpp
    [[now - oldest.arrived > (oldest.deadline - oldest.arrived) / 2]]
    [[now - oldest.arrived > (oldest.deadline - oldest.arrived) / (FAULT ? 4 : 2)]])
mutant(serves-one-client-on-and-on client_queues.cpp
    [[leave_ring(client, priority);  // To its end.]]
    [[if (FAULT) return; leave_ring(client, priority);]])
mutant(starves-low-priority client_queues.cpp
    [[turns_[priority] = virtual_time_ + kTurn[priority];]]
    [[turns_[priority] = virtual_time_ + kTurn[priority] * (FAULT && priority == 2 ? 2 : 1);]])
mutant(passes-over-the-least-busy least_busy.cpp
    [[return shortest();]]
    [[return FAULT ? next_in_turn() : shortest();]])
mutant(forgets-who-is-free dispatcher_assign.cpp
    [[request.worker_slot = kNone;
    least_busy_.update(worker_slot, worker.pending.size);]]
    [[request.worker_slot = kNone;
    if (!FAULT) least_busy_.update(worker_slot, worker.pending.size);]])
mutant(idles-beside-a-queue dispatcher_assign.cpp
    [[queues_.serve(request);
        give(request, worker);]]
    [[queues_.serve(request);
        give(request, worker);
        if (FAULT) return;]])

mutant(sends-behind-the-unknown dispatcher_ahead.cpp
    [[worker.unpredicted == 0 &&]]
    [[(FAULT || worker.unpredicted == 0) &&]])
mutant(never-recalls dispatcher_ahead.cpp
    [[if (!worker.killed) recall_unstarted(slot);]]
    [[if (!worker.killed && !FAULT) recall_unstarted(slot);]])
mutant(forgets-to-watch dispatcher_ahead.cpp
    [[if (overruns_at(worker) > now_) return watch_overrun(slot);]]
    [[if (overruns_at(worker) > now_) return FAULT ? void() : watch_overrun(slot);]])
mutant(sends-one-too-many-ahead dispatcher_ahead.cpp
    [[worker.pending.size < options_.ahead_max;]]
    [[worker.pending.size < options_.ahead_max + (FAULT ? 1 : 0);]])

# ---- Time.
mutant(loses-a-wake-up dispatcher_requests.cpp
    [[timers_.set(TimerKind::kRequest, slot, due);]]
    [[if (!FAULT || request.phase != Phase::kAtWorker) timers_.set(TimerKind::kRequest, slot, due);]])
mutant(sends-past-the-deadline dispatcher_assign.cpp
    [[requests_[request].deadline <= now_) {]]
    [[requests_[request].deadline <= now_ && !FAULT) {]])
mutant(times-out-early dispatcher_requests.cpp
    [[request.deadline = now_ + timeout;]]
    [[request.deadline = now_ + (FAULT ? timeout - timeout / 8 : timeout);]])
mutant(misorders-timers timer_heap.cpp
    [[if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;]]
    [[if (!FAULT && child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;]])
mutant(takes-a-pause-for-silence dispatcher_time.cpp
    [[workers_[slot].last_heard += gap;]]
    [[if (!FAULT) workers_[slot].last_heard += gap;]])
mutant(never-pings dispatcher_clients.cpp
    [[emit(PingClient{client.id});]]
    [[if (!FAULT) emit(PingClient{client.id});]])
mutant(pings-who-has-no-heartbeat dispatcher_clients.cpp
    [[if (!client.heartbeats) return;]]
    [[if (!FAULT && !client.heartbeats) return;]])
mutant(takes-silence-without-heartbeats-for-loss dispatcher_clients.cpp
    [[return client.heartbeats && options_.client_silence_max != Duration{0};]]
    [[return (FAULT || client.heartbeats) && options_.client_silence_max != Duration{0};]])
mutant(waits-for-nobody-for-ever dispatcher_generations.cpp
    [[timers_.set(TimerKind::kGlobal, kUnavailable, now_ + options_.unavailable_after);]]
    [[if (!FAULT) timers_.set(TimerKind::kGlobal, kUnavailable, now_ + options_.unavailable_after);]])

# ---- Cancels.
mutant(cancels-the-oldest dispatcher_requests.cpp
    [[if (slot != kNone) cancel(slot);
}

void Dispatcher::Impl::on(const CancelSerial]]
    [[if (slot != kNone) cancel(FAULT ? queues_.clients()[client].unanswered.head : slot);
}

void Dispatcher::Impl::on(const CancelSerial]])
mutant(runs-what-nobody-waits-for dispatcher_requests.cpp
    [[requests_.move(slot, Phase::kAbandoned);
    interrupt(slot);]]
    [[requests_.move(slot, Phase::kAbandoned);
    if (!FAULT) interrupt(slot);]])
mutant(spares-who-does-not-obey dispatcher_requests.cpp
    [[if (worker != kSyncSlot && !workers_[worker].killed) kill_and_lose(worker, Charge::kNobody);
}

}  // namespace]]
    [[if (worker != kSyncSlot && !workers_[worker].killed && !FAULT) kill_and_lose(worker, Charge::kNobody);
}

}  // namespace]])

# ---- Workers and generations.
mutant(gives-to-a-draining-worker dispatcher_workers.cpp
    [[worker.state == WorkerState::kReady && serves_ && worker.generation == serving_.number;]]
    [[(worker.state == WorkerState::kReady || (FAULT && worker.state == WorkerState::kDraining)) && serves_ && worker.generation == serving_.number;]])
mutant(gives-to-a-worn-out-worker dispatcher_workers.cpp
    [[worker.held_until == Time{0} && !worker.worn_out &&]]
    [[worker.held_until == Time{0} && (FAULT || !worker.worn_out) &&]])
mutant(trusts-a-sick-worker dispatcher_requests.cpp
    [[if (event.sick && worker]]
    [[if (event.sick && !FAULT && worker]])
mutant(drains-for-ever dispatcher_workers.cpp
    [[at_latest(worker.drain_until);]]
    [[if (!FAULT) at_latest(worker.drain_until);]])
mutant(leaves-a-seat-empty dispatcher_workers.cpp
    [[timers_.set(TimerKind::kSeat, number, now_ + std::min(delay, options_.backoff_max));]]
    [[if (!FAULT) timers_.set(TimerKind::kSeat, number, now_ + std::min(delay, options_.backoff_max));]])
mutant(takes-over-too-early dispatcher_generations.cpp
    [[if (next_->ready == options_.workers) take_over();]]
    [[if (next_->ready == options_.workers || FAULT) take_over();]])
mutant(forgets-a-reload dispatcher_generations.cpp
    [[reload_wanted_ = true;  //]]
    [[if (!FAULT || !next_) reload_wanted_ = true;  //]])
mutant(forgets-who-waits-for-a-generation dispatcher_generations.cpp
    [[queues_.unpark(serving_.number);]]
    [[if (!FAULT) queues_.unpark(serving_.number);]])
mutant(ignores-min-generation dispatcher_requests.cpp
    [[event.min_generation > serving_number()]]
    [[event.min_generation > serving_number() && !FAULT]])

# ---- Readers.
mutant(never-cuts-a-reader-off dispatcher_requests.cpp
    [[due = tighter(due, request.stalled_since + options_.stall);]]
    [[if (!FAULT) due = tighter(due, request.stalled_since + options_.stall);]])
mutant(grants-too-much dispatcher_flow.cpp
    [[.bytes = taken + options_.reply_window_bytes]]
    [[.bytes = taken + options_.reply_window_bytes + (FAULT ? 1 : 0)]])
mutant(stays-stalled dispatcher_flow.cpp
    [[workers_[request.worker_slot].stalled = false;]]
    [[if (!FAULT) workers_[request.worker_slot].stalled = false;]])
mutant(serves-who-does-not-read dispatcher_flow.cpp
    [[if (behind && !client.blocked) block(slot);]]
    [[if (behind && !client.blocked && !FAULT) block(slot);]])
