#include "tools/bench/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>

namespace shortq::bench {
namespace {

// For a program to end by itself.
constexpr std::chrono::seconds kPatience{20};

std::vector<char*> as_argv(const std::vector<std::string>& arguments) {
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    // execv() does not write to them, whatever its signature says.
    for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));  // NOLINT
    argv.push_back(nullptr);
    return argv;
}

// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void become(char* const* argv, int output, pid_t parent) {
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(127);
    ::dup2(output, STDOUT_FILENO);
    ::execv(argv[0], argv);
    ::_exit(127);
}

// Whether a child, which is not reaped yet, is at its end in time.
bool ends_within(pid_t pid, std::chrono::milliseconds limit) {
    const auto descriptor = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    if (descriptor < 0) return true;  // Not to be watched: who waits for it will see.
    pollfd end{.fd = descriptor, .events = POLLIN, .revents = 0};
    int ready = 0;
    do {
        ready = ::poll(&end, 1, static_cast<int>(limit.count()));
    } while (ready < 0 && errno == EINTR);
    ::close(descriptor);
    return ready > 0;
}

std::string read_line(int descriptor) {
    std::string line;
    char c = 0;
    while (::read(descriptor, &c, 1) == 1 && c != '\n') line += c;
    return line;
}

}  // namespace

Result<Child> Child::start(const std::vector<std::string>& arguments) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return fail(ErrorCode::kInternal, std::strerror(errno), arguments[0]);
    }
    const auto argv = as_argv(arguments);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid == 0) become(argv.data(), ends[1], parent);
    ::close(ends[1]);
    Child child(pid);
    child.first_line_ = pid < 0 ? std::string() : read_line(ends[0]);
    ::close(ends[0]);  // Programs that are started here write one line.
    if (child.first_line_.empty()) {
        return fail(ErrorCode::kInternal, "could not be started, or ended at once", arguments[0]);
    }
    return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), first_line_(std::move(other.first_line_)) {}

Child& Child::operator=(Child&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(first_line_, other.first_line_);
    return *this;
}

Child::~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGTERM);
    if (!ends_within(pid_, kPatience)) ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

std::string endpoint_in(const std::string& ready_line) {
    const auto scheme = ready_line.find("://");
    if (scheme == std::string::npos) return {};
    const auto start = ready_line.rfind(' ', scheme) + 1;  // 0 if it is all the way in front.
    return ready_line.substr(start, ready_line.find(' ', start) - start);
}

Result<Child> start_this_program(const std::vector<std::string>& arguments) {
    std::vector<std::string> line{std::filesystem::read_symlink("/proc/self/exe").string()};
    line.insert(line.end(), arguments.begin(), arguments.end());
    return Child::start(line);
}

std::string program_next_to_this_one(const std::string& name) {
    return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

}  // namespace shortq::bench
