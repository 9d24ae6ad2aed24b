// tools/bench/memory_peak.h: the most memory that processes take while something happens.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace shortq::bench {

// Looks at processes every few milliseconds, from its making on.
// Threads: grown() may be called by any.
class MemoryPeak {
public:
    explicit MemoryPeak(const std::vector<pid_t>& processes);
    MemoryPeak(const MemoryPeak&) = delete;
    MemoryPeak& operator=(const MemoryPeak&) = delete;
    ~MemoryPeak();

    // The most that one of them has had (RssAnon) above what it had at first.
    [[nodiscard]] std::uint64_t grown_bytes() const { return grown_; }

private:
    struct Watched {
        pid_t pid;
        std::uint64_t before;
    };
    void look();

    std::vector<Watched> processes_;
    std::atomic<std::uint64_t> grown_ = 0;
    std::atomic<bool> over_ = false;
    std::thread thread_;  // Last: it uses all the others.
};

}  // namespace shortq::bench
