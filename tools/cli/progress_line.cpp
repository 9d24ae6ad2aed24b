#include "tools/cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "tools/cli/terminal.h"

namespace shortq::cli {
namespace {

constexpr std::chrono::milliseconds kPatience{500};  // Queries that are done before show nothing.
constexpr std::chrono::milliseconds kRefresh{100};
constexpr std::size_t kBarWidth = 30;

std::string count(std::uint64_t rows) {
    const auto number = static_cast<double>(rows);
    if (rows >= 1'000'000'000) return fmt::format("{:.1f} G rows", number / 1e9);
    if (rows >= 1'000'000) return fmt::format("{:.1f} M rows", number / 1e6);
    if (rows >= 10'000) return fmt::format("{:.0f} k rows", number / 1e3);
    return fmt::format("{} {}", rows, rows == 1 ? "row" : "rows");
}

std::string time(std::chrono::milliseconds elapsed) {
    const double seconds = static_cast<double>(elapsed.count()) / 1000;
    if (seconds < 60) return fmt::format("{:.1f} s", seconds);
    const auto whole = static_cast<int>(seconds);
    return fmt::format("{}:{:02} min", whole / 60, whole % 60);
}

std::string bar(double fraction) {
    const auto done = static_cast<std::size_t>(fraction * kBarWidth);
    std::string text(done, '=');
    if (done < kBarWidth) text += '>';
    text.resize(kBarWidth, ' ');
    return "[" + text + "]";
}

}  // namespace

std::string progress_text(const Progress& progress, std::chrono::milliseconds elapsed,
                          std::size_t width) {
    std::string line;
    if (progress.fraction >= 0) {
        const double fraction = std::min(progress.fraction, 1.0);
        line = fmt::format("{:3.0f} % ", std::floor(fraction * 100));
        if (width >= kBarWidth + 40) line += bar(fraction) + " ";
    }
    if (progress.rows > 0) line += count(progress.rows) + "  ";
    line += time(elapsed);
    if (line.size() > width) line.resize(width);
    return line;
}

ProgressLine::ProgressLine(Style style, Output& log) : style_(style), log_(log) {
    if (style_ != Style::kNone) thread_ = std::thread([this] { run(); });
}

ProgressLine::~ProgressLine() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        leaving_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void ProgressLine::start() {
    const std::lock_guard lock(mutex_);
    started_ = Clock::now();
    next_ = started_ + kPatience;
    progress_ = {};
    active_ = true;
    changed_.notify_all();
}

void ProgressLine::resume() {
    const std::lock_guard lock(mutex_);
    active_ = true;
    changed_.notify_all();
}

void ProgressLine::update(const Progress& progress) {
    const std::lock_guard lock(mutex_);
    const double known = progress_.fraction;  // Not every report tells it.
    progress_ = progress;
    if (progress_.fraction < 0) progress_.fraction = known;
}

void ProgressLine::stop() {
    const std::lock_guard lock(mutex_);
    active_ = false;
    if (on_screen_) log_.append("\r\x1b[K");
    log_.flush();
    on_screen_ = false;
}

void ProgressLine::run() {
    std::unique_lock lock(mutex_);
    while (!leaving_) {
        const auto now = Clock::now();
        if (!active_) {
            changed_.wait(lock);
        } else if (now < next_) {
            changed_.wait_until(lock, next_);
        } else {
            show(now);
        }
    }
}

void ProgressLine::show(Clock::time_point now) {
    const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(now - started_);
    if (style_ == Style::kInPlace) {
        const auto width = terminal_size(STDERR_FILENO).columns;
        log_.append("\r" + progress_text(progress_, elapsed, width - 1) + "\x1b[K");
        on_screen_ = true;
        next_ = now + kRefresh;
    } else {
        log_.append(progress_text(progress_, elapsed, 80) + "\n");
        next_ = now + std::chrono::seconds(1);
    }
    log_.flush();
}

}  // namespace shortq::cli
