// tests/end-to-end/memory_watch.h: the most memory that processes take while something happens.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/end-to-end/program.h"

namespace shortq::test {

inline constexpr std::uint64_t kMegabyte = 1 << 20;

// Resident, less the pages of files.
[[nodiscard]] inline std::uint64_t anonymous_bytes(pid_t pid) {
    const auto status = read_file("/proc/" + std::to_string(pid) + "/status");
    const auto at = status.find("RssAnon:");
    return at == std::string::npos ? 0 : std::stoull(status.substr(at + 8)) << 10;
}

// Looks at processes every few milliseconds, from its making on.
// Threads: grown() is for the one that made it.
class MemoryWatch {
public:
    explicit MemoryWatch(const std::vector<pid_t>& processes) {
        for (const auto pid : processes) before_[pid] = anonymous_bytes(pid);
        thread_ = std::thread([this] { look(); });
    }
    MemoryWatch(const MemoryWatch&) = delete;
    MemoryWatch& operator=(const MemoryWatch&) = delete;
    ~MemoryWatch() {
        over_ = true;
        thread_.join();
    }

    // The most that one of them has had above what it had at first.
    [[nodiscard]] std::uint64_t grown() const { return grown_; }

private:
    void look() {
        constexpr std::chrono::milliseconds kBetweenLooks{5};
        while (!over_) {
            for (const auto& [pid, before] : before_) {
                const auto now = anonymous_bytes(pid);
                grown_ = std::max<std::uint64_t>(grown_, now > before ? now - before : 0);
            }
            std::this_thread::sleep_for(kBetweenLooks);
        }
    }

    std::map<pid_t, std::uint64_t> before_;
    std::atomic<std::uint64_t> grown_ = 0;
    std::atomic<bool> over_ = false;
    std::thread thread_;
};

}  // namespace shortq::test
