// tools/cli/asker.h: one query of the prompt: asks, shows progress, and lets Ctrl-C stop it.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "shortq/client.h"
#include "tools/cli/options.h"
#include "tools/cli/progress_line.h"
#include "tools/cli/signal_inbox.h"

namespace shortq::cli {

class Asker {
public:
    Asker(const Options& options, SignalInbox& signals, ProgressLine& progress, Output& log)
        : options_(options), signals_(signals), progress_(progress), log_(log) {}

    // The reply; none if the user has stopped waiting for it, or if a signal says to leave.
    [[nodiscard]] std::optional<Result<Table>> ask(Client& client, const std::string& text,
                                                   bool sync);
    [[nodiscard]] bool is_told_to_leave() const noexcept { return told_to_leave_; }

private:
    // False: stop waiting.
    [[nodiscard]] bool take_signals(Client& client, RequestNumber number);
    void look_for_server(const Client& client);
    void say(std::string_view text);

    const Options& options_;
    SignalInbox& signals_;
    ProgressLine& progress_;
    Output& log_;
    int interrupts_ = 0;
    bool told_to_leave_ = false;
    std::atomic<std::chrono::steady_clock::time_point> heard_;  // By the client's thread.
    std::chrono::steady_clock::time_point next_look_;
    bool server_is_gone_ = false;
};

}  // namespace shortq::cli
