// tools/cli/progress_line.h: a line on stderr that says how far a long query is.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "shortq/client.h"
#include "tools/cli/output.h"

namespace shortq::cli {

// " 45 % [=========>          ] 1.2 M rows  12.3 s", not wider than `width`.
[[nodiscard]] std::string progress_text(const Progress& progress, std::chrono::milliseconds elapsed,
                                        std::size_t width);

// Shown from half a second on, by a thread of its own, until stop(). Meanwhile nobody else may
// write to the log. Threads: one; update() from any.
class ProgressLine {
public:
    enum class Style : std::uint8_t {
        kNone,
        kInPlace,  // One line of a terminal, written over and taken away at the end.
        kLines,    // A line each second, for a log.
    };

    ProgressLine(Style style, Output& log);
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine();

    void start();
    // Between start() and now, what was known stays: a message interrupts the line only.
    void resume();
    void update(const Progress& progress);
    void stop();  // Takes the line away.

private:
    using Clock = std::chrono::steady_clock;

    void run();
    void show(Clock::time_point now);

    const Style style_;
    Output& log_;
    std::mutex mutex_;  // Guards all below, and the log between start() and stop().
    std::condition_variable changed_;
    bool active_ = false;
    bool leaving_ = false;
    bool on_screen_ = false;
    Progress progress_;
    Clock::time_point started_;
    Clock::time_point next_;
    std::thread thread_;  // None without a style.
};

}  // namespace shortq::cli
