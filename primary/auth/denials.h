// primary/auth/denials.h: what the log says of those who were not let in: enough to see an attack,
// nothing that helps one, and never so much that it fills the disk. No clock: the time comes in.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shortq::auth {

// Threads: one at a time.
class Denials {
public:
    // A line for the log; none: there were too many of late. `known_user` is the name only if there
    // is such a user, else empty: a name that nobody has is likely a password in the wrong place.
    [[nodiscard]] std::optional<std::string> line(std::chrono::steady_clock::time_point now,
                                                  std::string_view known_user,
                                                  std::string_view address);

private:
    double budget_ = kBurst;
    std::chrono::steady_clock::time_point refilled_{};
    std::uint64_t untold_ = 0;

    static constexpr double kBurst = 20;
    static constexpr double kPerSecond = 0.2;
};

}  // namespace shortq::auth
