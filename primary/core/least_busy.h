// primary/core/least_busy.h: which worker gets the next request. The only place with that rule.
// Private to the core.
#pragma once

#include <cstdint>
#include <vector>

#include "primary/core/links.h"
#include "primary/core/random.h"
#include "primary/core/types.h"

namespace shortq::core {

// Workers that may be given work, in buckets by the length of their pending queue; in a bucket the
// one that came first is first. So the shortest queue wins, and among equals the one that has been
// at this length for longest: for bucket 0, idle longest. Constant time (the comparison policies
// look at every worker).
class LeastBusy {
public:
    // `window`: a worker with that many has no room; 0: no bound.
    LeastBusy(Policy policy, std::uint32_t window, std::uint64_t seed)
        : policy_(policy), window_(window), random_(seed) {}

    void add(std::uint32_t worker, std::uint32_t pending);     // Pre: not in it.
    void remove(std::uint32_t worker);                         // Also when not in it.
    void update(std::uint32_t worker, std::uint32_t pending);  // Also when not in it: ignored.
    [[nodiscard]] bool has(std::uint32_t worker) const {
        return worker < nodes_.size() && nodes_[worker].listed;
    }
    [[nodiscard]] std::uint32_t pending(std::uint32_t worker) const {
        return nodes_[worker].bucket;
    }
    // kNone: nobody has room.
    [[nodiscard]] std::uint32_t choose();

private:
    struct Node {
        Links links;
        std::uint32_t bucket = 0;
        bool listed = false;
    };
    [[nodiscard]] auto links() {
        return [this](std::uint32_t slot) -> Links& { return nodes_[slot].links; };
    }
    [[nodiscard]] bool has_room(const Node& node) const {
        return node.listed && (window_ == 0 || node.bucket < window_);
    }
    [[nodiscard]] std::uint32_t shortest();
    [[nodiscard]] std::uint32_t next_in_turn();
    [[nodiscard]] std::uint32_t any();

    Policy policy_;
    std::uint32_t window_;
    SplitMix64 random_;
    std::vector<Node> nodes_;  // By worker slot.
    std::vector<List> buckets_;
    std::size_t lowest_ = 0;       // No bucket below it has anybody.
    std::uint32_t last_turn_ = 0;  // Round robin: who was last.
};

}  // namespace shortq::core
