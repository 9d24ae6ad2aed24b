// Goal: the user's pager is run as the user wants it. Method: environments; programs in place of a
// pager that write to a file, or leave at once.
#include "tools/cli/pager.h"

#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/temporary_folder.h"
#include "tools/cli/output.h"

namespace shortq::cli {
namespace {

class PagerTest : public ::testing::Test {
protected:
    PagerTest() {
        ::setenv("TERM", "xterm", 1);
        ::unsetenv("SHORTQ_PAGER");
        ::unsetenv("PAGER");
    }
};

TEST_F(PagerTest, TheFirstVariableWins) {
    EXPECT_THAT(pager_command(), testing::HasSubstr("less -SRFX"));
    ::setenv("PAGER", "more", 1);
    EXPECT_EQ(pager_command(), "more");
    ::setenv("SHORTQ_PAGER", "less -S", 1);
    EXPECT_EQ(pager_command(), "less -S");
    ::setenv("SHORTQ_PAGER", "", 1);
    EXPECT_EQ(pager_command(), "") << "none is wanted";
}

TEST_F(PagerTest, DumbTerminalsHaveNone) {
    ::setenv("TERM", "dumb", 1);
    EXPECT_EQ(pager_command(), "");
}

TEST_F(PagerTest, ItReadsEverythingBeforeItIsDone) {
    const shortq::test::TemporaryFolder folder;
    const auto file = (folder.path() / "paged").string();
    {
        const auto pager = Pager::start("sort -r > " + file);
        ASSERT_TRUE(pager);
        Output out(pager->descriptor());
        out.append("a\nb\n");
        out.flush();
        EXPECT_EQ(out.error(), 0);
    }
    std::ifstream in(file);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "b\na\n");
}

TEST_F(PagerTest, WhoLeavesEarlyEndsTheOutput) {
    std::signal(SIGPIPE, SIG_IGN);
    const auto pager = Pager::start("true");
    ASSERT_TRUE(pager);
    Output out(pager->descriptor());
    while (!out.failed()) out.append("line\n");
    EXPECT_EQ(out.error(), EPIPE);
}

}  // namespace
}  // namespace shortq::cli
