// tests/soak/primary.h: the primary under test, as a process, and its own word on its state.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "shortq/client.h"
#include "tests/end-to-end/program.h"
#include "tests/soak/options.h"

namespace shortq::soak {

// Threads: any, except start, restart_if_asked and stop: the main thread, which outlives the
// primary.
class Primary {
public:
    Primary(const Options& options, std::string script);

    // Throws with the log if no ready line comes.
    void start();
    // As a power cut and a quick administrator: kill -9, and another one on the same port. Waits
    // until the main thread has done it: the primary ends with the thread that started it.
    void ask_for_restart();
    // The main thread, now and then. Throws as start().
    void restart_if_asked();
    // None: it did not end.
    [[nodiscard]] std::optional<ExitStatus> stop();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] std::string endpoint() const;
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] std::vector<pid_t> workers() const { return named("shortq-worker"); }
    [[nodiscard]] std::vector<pid_t> fork_servers() const { return named("shortq-fork"); }
    [[nodiscard]] std::vector<test::ProcessInfo> family() const;
    // Of all its lives.
    [[nodiscard]] std::string log() const;

private:
    [[nodiscard]] std::vector<pid_t> named(const std::string& name) const;
    [[nodiscard]] std::shared_ptr<test::Program> program() const;
    void launch();
    void kill_and_restart();

    Options options_;
    std::string script_;
    mutable std::mutex mutex_;
    std::shared_ptr<test::Program> program_;
    std::string earlier_log_;
    std::atomic<pid_t> pid_{-1};
    std::atomic<std::uint16_t> port_{0};
    std::atomic<bool> restart_asked_{false};
};

// What keeps the primary from being at rest: something queued, at workers, abandoned, loading; a
// gauge that is not 0, counters that do not add up. Empty: nothing. `clients`: how many there are.
[[nodiscard]] std::string unrest(Client& control, unsigned workers, std::size_t clients);

// The first cell of a sync query; -1 for an error.
[[nodiscard]] std::int64_t number(Client& control, const std::string& query);

}  // namespace shortq::soak
