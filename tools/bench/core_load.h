// tools/bench/core_load.h: keeps a dispatcher core under a steady load: so many workers, so many
// requests queued centrally, and every request that arrives makes another one's reply arrive.
#pragma once

#include <cstdint>
#include <vector>

#include "primary/core/dispatcher.h"

namespace shortq::bench {

struct CoreLoadOptions {
    std::uint32_t workers = 16;
    std::uint32_t queued = 0;  // 0: half of the workers are idle.
    std::uint32_t window = core::kWindowAuto;
    bool operator==(const CoreLoadOptions&) const = default;
};

// Not what the core's shell does for a request, only what it tells the core: an arrival, a reply,
// and, after every batch, that time has passed.
// Threads: one at a time.
class CoreLoad {
public:
    explicit CoreLoad(const CoreLoadOptions& options);

    // One request arrives, one is assigned, one is answered. Allocates nothing itself.
    void step();

    [[nodiscard]] const core::Dispatcher& core() const { return core_; }

private:
    struct Given {
        core::WorkerId worker{};
        core::RequestId request{};
    };
    void take(const core::Event& event);
    void start_workers();
    void open_clients();
    void arrive();
    void answer_oldest();
    [[nodiscard]] bool full() const;

    CoreLoadOptions options_;
    core::Dispatcher core_;
    core::Time now_{std::chrono::seconds(1)};
    core::Duration between_requests_;
    std::vector<core::Action> out_;
    std::vector<core::ClientId> clients_;
    std::vector<core::WorkerId> workers_;
    std::vector<Given> given_;  // A ring: what workers hold, in order of assignment.
    std::uint64_t first_ = 0;   // Counts of what entered and left it.
    std::uint64_t last_ = 0;
    std::uint64_t requests_ = 0;
    std::size_t next_client_ = 0;
};

}  // namespace shortq::bench
