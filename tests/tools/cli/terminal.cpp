#include "tests/tools/cli/terminal.h"

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <stdexcept>

namespace shortq::cli::test {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (auto& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
}

winsize size_of(std::size_t columns, std::size_t rows) {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = static_cast<unsigned short>(rows);
    return size;
}

}  // namespace

Terminal::Terminal(const Setup& setup, std::vector<std::string> arguments)
    : screen_(setup.columns, setup.rows) {
    arguments.insert(arguments.begin(), SHORTQ_CLI_PROGRAM);
    std::map<std::string, std::string> variables{{"TERM", "xterm-256color"},
                                                 {"INPUTRC", "/dev/null"},
                                                 {"SHORTQ_HISTORY", ""},
                                                 {"PATH", "/usr/bin:/bin"}};
    for (const auto& [name, value] : setup.environment) variables[name] = value;
    std::vector<std::string> texts;
    for (const auto& [name, value] : variables) texts.push_back(name + "=" + value);
    auto argv = pointers(arguments);
    auto environment = pointers(texts);
    auto size = size_of(setup.columns, setup.rows);
    pid_ = ::forkpty(&master_, nullptr, nullptr, &size);
    if (pid_ < 0) throw std::runtime_error("forkpty failed");
    if (pid_ == 0) {
        ::execve(argv[0], argv.data(), environment.data());
        ::_exit(127);
    }
}

Terminal::~Terminal() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    ::close(master_);
}

void Terminal::type(std::string_view keys) {
    while (!keys.empty()) {
        const auto written = ::write(master_, keys.data(), keys.size());
        if (written < 0) throw std::runtime_error("cannot type");
        keys.remove_prefix(static_cast<std::size_t>(written));
    }
}

void Terminal::resize(std::size_t columns, std::size_t rows) {
    const auto size = size_of(columns, rows);
    screen_.resize(columns, rows);
    ::ioctl(master_, TIOCSWINSZ, &size);
}

bool Terminal::echoes() const {
    termios state{};
    return ::tcgetattr(master_, &state) == 0 && (state.c_lflag & ECHO) != 0;
}

bool Terminal::read_some() {
    pollfd wait{master_, POLLIN, 0};
    if (::poll(&wait, 1, 100) <= 0) return true;
    std::array<char, 4096> part;
    const auto got = ::read(master_, part.data(), part.size());
    if (got <= 0) return false;
    const std::string_view text(part.data(), static_cast<std::size_t>(got));
    bytes_ += text;
    screen_.feed(text);
    return true;
}

bool Terminal::wait_until(const std::function<bool(const VirtualScreen&)>& holds) {
    const auto end = Clock::now() + shortq::test::kPatience;
    while (!holds(screen_)) {
        if (over_ || Clock::now() > end) return false;
        over_ = !read_some();
    }
    return true;
}

bool Terminal::shows(const std::string& text) {
    return wait_until(
        [&](const VirtualScreen& screen) { return screen.text().find(text) != std::string::npos; });
}

bool Terminal::asks(const std::string& row) {
    return wait_until(
        [&](const VirtualScreen& screen) { return screen.row(screen.cursor_row()) == row; });
}

std::optional<int> Terminal::end() {
    static_cast<void>(wait_until([](const VirtualScreen&) { return false; }));
    int status = 0;
    if (!over_ || ::waitpid(pid_, &status, 0) != pid_) return std::nullopt;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace shortq::cli::test
