#include "tools/bench/memory_peak.h"

#include <algorithm>
#include <chrono>

#include "tools/bench/processes.h"

namespace shortq::bench {

MemoryPeak::MemoryPeak(const std::vector<pid_t>& processes) {
    for (const auto pid : processes) processes_.push_back({pid, anonymous_bytes(pid)});
    thread_ = std::thread([this] {
        constexpr std::chrono::milliseconds kBetweenLooks{5};
        while (!over_) {
            look();
            std::this_thread::sleep_for(kBetweenLooks);
        }
    });
}

MemoryPeak::~MemoryPeak() {
    over_ = true;
    thread_.join();
}

void MemoryPeak::look() {
    for (const auto& [pid, before] : processes_) {
        const auto now = anonymous_bytes(pid);
        if (now > before) grown_ = std::max(grown_.load(), now - before);
    }
}

}  // namespace shortq::bench
