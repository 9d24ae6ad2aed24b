// primary/startup.cpp: counts ready workers until the line is out.
#include "primary/startup.h"

#include <fmt/format.h>

#include <algorithm>

namespace shortq::primary {

void Startup::worker_ready(core::Time now) {
    if (printed_) return;
    ++ready_;
    if (!first_ready_) first_ready_ = now;
}

std::optional<core::Time> Startup::due() const {
    constexpr core::Duration kLeastPatience = std::chrono::seconds(1);
    if (printed_ || !first_ready_) return std::nullopt;
    if (ready_ >= workers_) return *first_ready_;
    return *first_ready_ + std::max(kLeastPatience, *first_ready_ - begun_);
}

std::optional<std::string> Startup::line(core::Time now, const std::string& endpoint,
                                         std::uint32_t generation) {
    const auto when = due();
    if (!when || now < *when || generation == 0) return std::nullopt;
    printed_ = true;
    return fmt::format("ready {} workers={} generation={} load={:.2f}s", endpoint,
                       std::min(ready_, workers_), generation,
                       std::chrono::duration<double>(now - begun_).count());
}

}  // namespace shortq::primary
