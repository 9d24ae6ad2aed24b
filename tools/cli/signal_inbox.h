// tools/cli/signal_inbox.h: signals on their way from the thread that takes them to the loop that
// acts on them.
#pragma once

#include <array>
#include <optional>

namespace shortq::cli {

// Threads: put() from any, the rest from one.
class SignalInbox {
public:
    SignalInbox();
    SignalInbox(const SignalInbox&) = delete;
    SignalInbox& operator=(const SignalInbox&) = delete;
    ~SignalInbox();

    void put(int signal) noexcept;
    // The oldest one; none if there is none.
    [[nodiscard]] std::optional<int> take() noexcept;
    // Readable while there are any.
    [[nodiscard]] int descriptor() const noexcept { return ends_[0]; }

private:
    std::array<int, 2> ends_{-1, -1};
};

}  // namespace shortq::cli
