// Goal: output is written whole, and a closed reader ends it quietly. Method: pipes.
#include "tools/cli/output.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace shortq::cli {
namespace {

TEST(OutputTest, BuffersUntilFlushed) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    Output out(ends[1]);
    out.append("one ");
    out.append("two");
    out.flush();
    std::array<char, 16> got{};
    EXPECT_EQ(::read(ends[0], got.data(), got.size()), 7);
    EXPECT_STREQ(got.data(), "one two");
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(OutputTest, ReaderThatLeftIsAnErrorOnce) {
    std::signal(SIGPIPE, SIG_IGN);
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    ::close(ends[0]);
    Output out(ends[1]);
    out.append("x");
    EXPECT_FALSE(out.failed());
    out.flush();
    EXPECT_EQ(out.error(), EPIPE);
    out.append("y");
    out.flush();
    EXPECT_EQ(out.error(), EPIPE);
    ::close(ends[1]);
}

}  // namespace
}  // namespace shortq::cli
