// Goal: the user's pager is run as the user wants it. Method: environments; programs in place of a
// pager that write to a file, or leave at once.
#include "tools/cli/pager.h"

#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

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
        path_ = std::getenv("PATH");
    }
    ~PagerTest() override { ::setenv("PATH", path_.c_str(), 1); }

    // As if these programs, and no others, were installed.
    void install(const std::vector<std::string>& programs) {
        for (const auto& program : programs) {
            const auto file = folder_.path() / program;
            std::ofstream(file) << "#!/bin/sh\n";
            std::filesystem::permissions(file, std::filesystem::perms::owner_all);
        }
        ::setenv("PATH", ("/nowhere:" + folder_.path().string()).c_str(), 1);
    }

    const shortq::test::TemporaryFolder folder_;
    std::string path_;
};

// Then it is as if none were wanted, not a result that is lost.
TEST_F(PagerTest, OneThatIsNotThereIsNone) {
    install({"more"});
    EXPECT_EQ(pager_command(), "") << "no less";
    ::setenv("PAGER", "nonexistent -S", 1);
    EXPECT_EQ(pager_command(), "");
    ::setenv("PAGER", "/nowhere/more", 1);
    EXPECT_EQ(pager_command(), "");
    ::setenv("PAGER", "X=1 nonexistent", 1);
    EXPECT_EQ(pager_command(), "X=1 nonexistent") << "the shell's business";
}

TEST_F(PagerTest, TheFirstVariableWins) {
    install({"less", "more"});
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
