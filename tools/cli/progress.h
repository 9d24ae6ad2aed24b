// tools/cli/progress.h: a line on stderr that says how far a long query is.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "tools/cli/output.h"

namespace shortq::cli {

// What is known about a query under way.
struct Advance {
    double fraction = -1;    // In [0, 1]; negative: unknown.
    std::uint64_t rows = 0;  // That have arrived.
};

// " 45 % [=========>          ] 1.2 M rows  12.3 s", not wider than `width`.
[[nodiscard]] std::string progress_line(const Advance& advance, std::chrono::milliseconds elapsed,
                                        std::size_t width);

// Shown from half a second on. Threads: one; update() from any.
class Progress {
public:
    enum class Style : std::uint8_t {
        kNone,
        kInPlace,  // One line of a terminal, written over and taken away at the end.
        kLines,    // A line each second, for a log.
    };

    Progress(Style style, Output& log) : style_(style), log_(log) {}

    // How often to call tick() while a query is under way.
    static constexpr std::chrono::milliseconds kTick{100};
    [[nodiscard]] bool is_shown() const noexcept { return style_ != Style::kNone; }

    void start();
    // To be called with every report of the client's.
    void update(const Advance& advance) {
        fraction_ = advance.fraction;
        rows_ = advance.rows;
    }
    void tick();
    void stop();  // Takes the line away.

private:
    using Clock = std::chrono::steady_clock;

    Style style_;
    Output& log_;
    Clock::time_point started_;
    Clock::time_point next_;
    bool on_screen_ = false;
    std::atomic<double> fraction_{-1};
    std::atomic<std::uint64_t> rows_{0};
};

}  // namespace shortq::cli
