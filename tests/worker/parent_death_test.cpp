#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/process/child.hpp>
#include <boost/process/io.hpp>
#include <boost/process/pipe.hpp>
#include <chrono>
#include <csignal>
#include <string>

#include "worker/engine/unique_fd.h"

namespace shortq::test {
namespace {

// Goal: no worker outlives its primary. Method: kill -9 a process that started one; the worker must
// be gone within a second.
TEST(ParentDeathTest, WorkerGoesWithAKilledPrimary) {
    namespace bp = boost::process;
    bp::ipstream output;
    bp::child parent(SHORTQ_WORKER_PARENT, bp::std_out > output);
    pid_t worker = 0;
    ASSERT_TRUE(output >> worker);
    const UniqueFd watched(static_cast<int>(::syscall(SYS_pidfd_open, worker, 0)));
    ASSERT_TRUE(watched);
    pollfd item{watched.get(), POLLIN, 0};
    ASSERT_EQ(::poll(&item, 1, 0), 0) << "the worker left by itself";
    ASSERT_EQ(::kill(parent.id(), SIGKILL), 0);
    parent.wait();
    constexpr int kLimitMs = 1000;
    EXPECT_EQ(::poll(&item, 1, kLimitMs), 1);
}

}  // namespace
}  // namespace shortq::test
