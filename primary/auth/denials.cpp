#include "primary/auth/denials.h"

#include <fmt/format.h>

#include <algorithm>

namespace shortq::auth {
namespace {

// Sockets give addresses, but a log is read on terminals.
std::string printable(std::string_view text) {
    constexpr std::size_t kBytesMax = 100;
    std::string shown(text.substr(0, kBytesMax));
    std::ranges::replace_if(
        shown, [](char c) { return c < ' ' || c > '~'; }, '?');
    return shown.empty() ? "an unknown address" : shown;
}

}  // namespace

std::optional<std::string> Denials::line(std::chrono::steady_clock::time_point now,
                                         std::string_view known_user, std::string_view address) {
    const std::chrono::duration<double> since = now - refilled_;
    refilled_ = now;
    budget_ = std::min(kBurst, budget_ + since.count() * kPerSecond);
    if (budget_ < 1) {
        ++untold_;
        return std::nullopt;
    }
    budget_ -= 1;
    auto text = known_user.empty()
                    ? fmt::format("denied: an unknown user, from {}", printable(address))
                    : fmt::format("denied: a wrong password for '{}', from {}", known_user,
                                  printable(address));
    if (untold_ > 0) text += fmt::format(" ({} more were not told)", untold_);
    untold_ = 0;
    return text;
}

}  // namespace shortq::auth
