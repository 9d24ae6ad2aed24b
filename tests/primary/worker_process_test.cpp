#include "primary/worker_process.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

namespace {

int signals_to_all = 0;

}  // namespace

// In place of the C library's, for this whole program: a signal to every process there is, or to a
// whole group, is counted and not sent.
extern "C" int kill(pid_t pid, int signal) noexcept {
    if (pid > 1) return static_cast<int>(::syscall(SYS_kill, pid, signal));
    ++signals_to_all;
    return 0;
}

namespace shortq {
namespace {

// How many descriptors this process may have, for a while.
class DescriptorLimit {
public:
    explicit DescriptorLimit(rlim_t most) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit limit{most, before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
    ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    DescriptorLimit(const DescriptorLimit&) = delete;
    DescriptorLimit& operator=(const DescriptorLimit&) = delete;

private:
    rlimit before_{};
};

rlim_t first_free_descriptor() {
    rlim_t number = 0;
    while (std::filesystem::exists("/proc/self/fd/" + std::to_string(number))) ++number;
    return number;
}

// Goal: a process that cannot be started for want of descriptors is an error, at whichever step it
// fails, and nobody gets a signal that is not his. Method: no descriptor is left, one, two, ...
// until it works.
TEST(WorkerProcessTest, WithoutDescriptorsItIsAnError) {
    const auto first = first_free_descriptor();
    int failures = 0;
    for (rlim_t left = 0;; ++left) {
        ASSERT_LT(left, 20U) << "it never works";
        const DescriptorLimit limit(first + left);
        const auto process = WorkerProcess::spawn({.program = "/bin/true", .arguments = {}});
        if (process) break;
        EXPECT_FALSE(process.error().message.empty());
        ++failures;
    }
    EXPECT_GE(failures, 3) << "the board, and a pipe to hear of failures";
    EXPECT_EQ(signals_to_all, 0);
    EXPECT_EQ(first_free_descriptor(), first);
}

}  // namespace
}  // namespace shortq
