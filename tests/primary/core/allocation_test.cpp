// tests/primary/core/allocation_test.cpp: the steady state allocates nothing.
#include <cstdlib>
#include <new>

#include "tests/primary/core/harness.h"

namespace {

using namespace std::chrono_literals;
std::uint64_t allocations = 0;
}  // namespace

// Replaced for this whole program, to count.
void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace shortq::core {
namespace {

// One round: every client asks with a deadline, half cancel, the workers answer what they got.
void round(Dispatcher& core, Time& now, const std::vector<ClientId>& clients,
           const std::vector<WorkerId>& workers, std::uint64_t& id, std::vector<Action>& out,
           std::vector<SendToWorker>& sent) {
    const auto step = [&](const Event& event) {
        out.clear();
        now += 1us;
        core.step(now, event, out);
        for (const auto& action : out) {
            if (const auto* send = std::get_if<SendToWorker>(&action)) sent.push_back(*send);
        }
    };
    for (const auto client : clients) {
        RequestArrived event;
        event.client = client;
        event.client_request = ++id;
        event.timeout = 1s;
        event.priority = static_cast<Priority>(id % 3);
        step(event);
        if (id % 4 == 0) step(CancelRequested{client, id});
    }
    for (std::size_t next = 0; next < sent.size(); ++next) {
        ReplyArrived event;
        event.worker = sent[next].worker;
        event.request = sent[next].request;
        step(event);
    }
    sent.clear();
    for (const auto worker : workers) step(WorkerHeard{worker});
    step(TimeReached{});
}

// Goal: no allocation per request. Method: operator new is counted over 1000 rounds after a
// warm-up.
TEST(AllocationTest, SteadyStateAllocatesNothing) {
    Harness h(workers_and_window(4, 2), true, false);
    std::vector<ClientId> clients;
    for (int i = 0; i < 50; ++i) clients.push_back(h.client());
    std::vector<Action> out;
    std::vector<SendToWorker> sent;
    out.reserve(1000);
    sent.reserve(1000);
    std::uint64_t id = 0;
    for (int i = 0; i < 20; ++i) round(h.core, h.now, clients, h.workers, id, out, sent);
    const auto before = allocations;
    for (int i = 0; i < 1000; ++i) round(h.core, h.now, clients, h.workers, id, out, sent);
    EXPECT_EQ(allocations, before);
    EXPECT_EQ(h.core.totals().accepted, 1020U * 50);
    EXPECT_EQ(h.core.totals().queued, 0U);
}

}  // namespace
}  // namespace shortq::core
