// worker/wear.h: when a forked worker has lost what it shared with its siblings, and is better
// replaced by a fresh one.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string_view>

namespace shortq::worker {

// A query that needs much memory evicts the data that was loaded before the fork; it comes back as
// private copies, from the spill folder or the database file. Two signs of that are looked for: the
// spill folder was used, or the process's private memory has passed its share.
// Threads: one.
class Wear {
public:
    using Clock = std::chrono::steady_clock;

    // `private_bytes_max`: 0, no limit.
    Wear(std::filesystem::path spill_folder, std::uint64_t private_bytes_max);

    // Why the worker should be replaced; nullopt: it should not, or was said before. Cheap: a look
    // at the folder, and at the memory every ten seconds.
    [[nodiscard]] std::optional<std::string_view> sign(Clock::time_point now);

private:
    [[nodiscard]] bool spilled() const;

    std::filesystem::path spill_folder_;
    std::optional<timespec> changed_;  // The folder, when this object was made.
    std::uint64_t private_bytes_max_;
    Clock::time_point next_look_{};
    bool told_ = false;
};

// This process's memory that no other shares, in bytes; 0 if the system does not tell.
[[nodiscard]] std::uint64_t private_bytes();

}  // namespace shortq::worker
