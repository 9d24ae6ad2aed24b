#include "tools/bench/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace shortq::bench {
namespace {

std::size_t columns_of_terminal() {
    constexpr std::size_t kUsual = 80;
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return kUsual;
    return size.ws_col;
}

void put(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

}  // namespace

Progress::Progress() : terminal_(::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() { erase(); }

void Progress::erase() {
    if (shown_) put("\r\033[K");
    shown_ = false;
}

void Progress::step(const std::string& what) {
    ++begun_;
    if (!terminal_) return;
    const std::chrono::duration<double> passed = Clock::now() - start_;
    std::string line =
        expected_ == 0
            ? fmt::format("{}  {}  {:.0f} s", begun_, what, passed.count())
            : fmt::format("{}/{}  {}  {:.0f} s", begun_, expected_, what, passed.count());
    if (begun_ > 1 && begun_ <= expected_) {
        const auto each = passed.count() / static_cast<double>(begun_ - 1);
        const auto left = each * static_cast<double>(expected_ - begun_ + 1);
        line += fmt::format(", about {:.0f} s left", left);
    }
    // A line that wraps could not be erased.
    if (const auto room = columns_of_terminal() - 1; line.size() > room) line.resize(room);
    put("\r\033[K" + line);
    shown_ = true;
}

}  // namespace shortq::bench
