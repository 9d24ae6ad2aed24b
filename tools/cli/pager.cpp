#include "tools/cli/pager.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>

#include "tools/cli/terminal.h"

namespace shortq::cli {
namespace {

// S: long lines are not wrapped; R: colours pass; F: leaves at once if all fits; X: what was shown
// stays on the screen.
constexpr const char* kDefaultPager = "LESSCHARSET=utf-8 exec less -SRFX";

// Whether the shell would find a program of that name.
bool is_there(const std::string& program) {
    if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0;
    const char* path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
    }
    return false;
}

// What is more than a name and its options is the shell's business.
bool can_run(const std::string& command) {
    if (command.find_first_of("=;|&$`'\"(<>\\") != std::string::npos) return true;
    return is_there(command.substr(0, command.find(' ')));
}

// Signals as a program expects them: ours are blocked, and SIGPIPE is ignored.
class SpawnAttributes {
public:
    SpawnAttributes() {
        ::posix_spawnattr_init(&attributes_);
        sigset_t signals;
        sigemptyset(&signals);
        ::posix_spawnattr_setsigmask(&attributes_, &signals);
        sigaddset(&signals, SIGPIPE);
        ::posix_spawnattr_setsigdefault(&attributes_, &signals);
        ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    SpawnAttributes(const SpawnAttributes&) = delete;
    SpawnAttributes& operator=(const SpawnAttributes&) = delete;
    ~SpawnAttributes() { ::posix_spawnattr_destroy(&attributes_); }
    [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

private:
    posix_spawnattr_t attributes_{};
};

class SpawnActions {
public:
    explicit SpawnActions(int input) {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    }
    SpawnActions(const SpawnActions&) = delete;
    SpawnActions& operator=(const SpawnActions&) = delete;
    ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }
    [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

private:
    posix_spawn_file_actions_t actions_{};
};

}  // namespace

std::string pager_command() {
    if (is_dumb_terminal()) return {};
    for (const auto* name : {"SHORTQ_PAGER", "PAGER"}) {
        const char* value = std::getenv(name);
        if (value != nullptr) return can_run(value) ? value : std::string();
    }
    return is_there("less") ? kDefaultPager : std::string();
}

std::optional<Pager> Pager::start(const std::string& command) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
    const SpawnAttributes attributes;
    const SpawnActions actions(ends[0]);
    std::string shell = "sh";
    std::string option = "-c";
    std::string text = command;
    const std::array<char*, 4> arguments{shell.data(), option.data(), text.data(), nullptr};
    pid_t pid = -1;
    const int failed =
        ::posix_spawn(&pid, "/bin/sh", actions.get(), attributes.get(), arguments.data(), environ);
    ::close(ends[0]);
    if (failed == 0) return Pager(pid, ends[1]);
    ::close(ends[1]);
    return std::nullopt;
}

Pager::Pager(Pager&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), input_(std::exchange(other.input_, -1)) {}

Pager::~Pager() {
    if (pid_ < 0) return;
    ::close(input_);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace shortq::cli
