#include "tests/end-to-end/program.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/environment.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/io.hpp>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace shortq::test {
namespace {

namespace bp = boost::process;

constexpr const char* kMarkName = "SHORTQ_TEST_MARK";

// Runs between fork and exec: nothing of the test, such as another server's socket, is inherited.
struct InheritNothing : bp::extend::handler {
    template <class Executor>
    void on_exec_setup(Executor& /*executor*/) const {
        ::close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC);
    }
};

std::string new_mark() {
    static std::atomic<int> count{0};
    return std::to_string(::getpid()) + "-" + std::to_string(++count);
}

bool has_mark(pid_t pid, const std::string& mark) {
    const auto environment = read_file("/proc/" + std::to_string(pid) + "/environ");
    const auto entry = std::string(kMarkName) + "=" + mark + '\0';
    return environment.find(entry) != std::string::npos;
}

std::vector<pid_t> all_pids() {
    std::vector<pid_t> pids;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const auto name = entry.path().filename().string();
        pid_t pid = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (error == std::errc() && end == name.data() + name.size()) pids.push_back(pid);
    }
    return pids;
}

}  // namespace

bool wait_until(const std::function<bool()>& holds, std::chrono::milliseconds patience) {
    constexpr std::chrono::milliseconds kBetweenLooks{5};
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(kBetweenLooks);
    }
    return true;
}

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

std::string sanitizer_reports(const std::string& log) {
    std::istringstream lines(log);
    std::string found;
    for (std::string line; std::getline(lines, line);) {
        for (const char* sign : {"ERROR: AddressSanitizer", "ERROR: LeakSanitizer",
                                 "WARNING: ThreadSanitizer", "runtime error: "}) {
            if (line.find(sign) != std::string::npos) found += line + '\n';
        }
    }
    return found;
}

std::optional<ProcessInfo> process_info(pid_t pid) {
    // "pid (name) state parent ...": the name may hold anything, so look for its last bracket.
    const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    const auto open = stat.find('(');
    const auto close = stat.rfind(')');
    if (open == std::string::npos || close == std::string::npos) return std::nullopt;
    ProcessInfo info;
    info.pid = pid;
    info.name = stat.substr(open + 1, close - open - 1);
    std::istringstream rest(stat.substr(close + 1));
    rest >> info.state >> info.parent;
    if (info.state == 'Z' || info.state == 'X') return std::nullopt;
    return info;
}

std::uint64_t resident_bytes(pid_t pid) {
    std::istringstream statm(read_file("/proc/" + std::to_string(pid) + "/statm"));
    std::uint64_t pages = 0;
    std::uint64_t resident_pages = 0;
    statm >> pages >> resident_pages;
    return resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t proportional_bytes(pid_t pid) {
    std::istringstream rollup(read_file("/proc/" + std::to_string(pid) + "/smaps_rollup"));
    for (std::string name; rollup >> name;) {
        std::uint64_t kilobytes = 0;
        if (name == "Pss:" && rollup >> kilobytes) return kilobytes * 1024;
    }
    return 0;
}

std::size_t open_files(pid_t pid) {
    std::error_code ignored;
    const std::filesystem::directory_iterator files("/proc/" + std::to_string(pid) + "/fd",
                                                    ignored);
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

std::chrono::milliseconds cpu_time(pid_t pid) {
    const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    std::istringstream rest(stat.substr(stat.rfind(')') + 1));
    constexpr int kFieldsBetween = 11;  // "state parent ..." up to utime and stime.
    std::string skipped;
    for (int i = 0; i < kFieldsBetween; ++i) rest >> skipped;
    std::int64_t user = 0;
    std::int64_t system = 0;
    rest >> user >> system;
    return std::chrono::milliseconds((user + system) * 1000 / ::sysconf(_SC_CLK_TCK));
}

Program::Program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                 std::string_view input, const Environment& more)
    : mark_(new_mark()) {
    folder_.write("in", input);
    bp::environment environment = boost::this_process::environment();
    // Not by operator[]: its search compares past the end of variables that are shorter than
    // `name`.
    environment.set(kMarkName, mark_);
    for (const auto& [name, value] : more) environment.set(name, value);
    bp::child child(bp::exe = program.string(), bp::args = arguments, environment,
                    bp::std_in<(folder_.path() / "in").string(), bp::std_out>(
                        (folder_.path() / "out").string()),
                    bp::std_err > (folder_.path() / "err").string(), InheritNothing());
    pid_ = child.id();
    child.detach();
    pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    if (!pidfd_) throw std::runtime_error("pidfd_open failed");
}

Program::~Program() {
    if (!status_) {
        signal(SIGKILL);
        (void)wait();
    }
    for (const auto& left : family()) ::kill(left.pid, SIGKILL);
}

void Program::signal(int number) const noexcept {
    if (!status_) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0);
}

std::optional<ExitStatus> Program::wait(std::chrono::milliseconds patience) {
    if (status_) return status_;
    pollfd item{pidfd_.get(), POLLIN, 0};
    if (::poll(&item, 1, static_cast<int>(patience.count())) != 1) return std::nullopt;
    siginfo_t info{};
    if (::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED) == 0) {
        status_ = ExitStatus{.signalled = info.si_code != CLD_EXITED, .value = info.si_status};
    }
    return status_;
}

Outcome Program::finish(std::chrono::milliseconds patience) {
    const auto status = wait(patience);
    if (!status) throw std::runtime_error("the program does not end; it wrote: " + out() + err());
    return Outcome{*status, out(), err()};
}

std::vector<ProcessInfo> Program::family() const {
    std::vector<ProcessInfo> found;
    for (const pid_t pid : all_pids()) {
        if (!has_mark(pid, mark_)) continue;
        if (auto info = process_info(pid)) found.push_back(std::move(*info));
    }
    return found;
}

Outcome run(const std::filesystem::path& program, const std::vector<std::string>& arguments,
            std::string_view input) {
    return Program(program, arguments, input).finish();
}

}  // namespace shortq::test
