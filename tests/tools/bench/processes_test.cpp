// tests/tools/bench/processes_test.cpp. Goal: what the bench reads of processes is what the kernel
// says. Method: texts as the kernel writes them, broken ones, and this very process.
#include "tools/bench/processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/end-to-end/program.h"

namespace shortq::bench {
namespace {

using ::testing::Contains;
using ::testing::Eq;
using ::testing::Optional;

constexpr const char* kRollup =
    "55d0c8a00000-7ffd3a5fe000 ---p 00000000 00:00 0                          [rollup]\n"
    "Rss:                3716 kB\n"
    "Pss:                 681 kB\n"
    "Pss_Dirty:           500 kB\n"
    "Pss_Anon:            496 kB\n"
    "Private_Dirty:       120 kB\n";

// Goal: the parent is found whatever a process calls itself. Method: names with spaces, brackets
// and what looks like the rest of the line.
TEST(ProcessesTest, TheParentIsFoundBehindAnyName) {
    EXPECT_THAT(parent_in("12 (shortq) S 7 12 12 0 -1"), Optional(Eq(7)));
    EXPECT_THAT(parent_in("12 (a b) S 1 (c)) R 99 12 0"), Optional(Eq(99)));
    EXPECT_EQ(parent_in(""), std::nullopt);
    EXPECT_EQ(parent_in("12 (shortq"), std::nullopt);
    EXPECT_EQ(parent_in("12 (shortq) S"), std::nullopt);
}

// Goal: the figure is Pss, in bytes, and no other. Method: a rollup, and what lacks the line.
TEST(ProcessesTest, TheProportionalSizeIsReadInBytes) {
    EXPECT_THAT(proportional_bytes_in(kRollup), Optional(Eq(681U * 1024)));
    EXPECT_EQ(proportional_bytes_in(""), std::nullopt);
    EXPECT_EQ(proportional_bytes_in("Rss: 12 kB\nPss_Anon: 3 kB\n"), std::nullopt);
    EXPECT_EQ(proportional_bytes_in("Pss: many kB\n"), std::nullopt);
    EXPECT_EQ(proportional_bytes_in("Pss: 12\n"), std::nullopt);
}

// Goal: memory that is not of files is told from the rest. Method: a status, and this process.
TEST(ProcessesTest, AnonymousMemoryIsReadInBytes) {
    EXPECT_THAT(anonymous_bytes_in("VmRSS:\t  900 kB\nRssAnon:\t     123 kB\nRssFile:\t 7 kB\n"),
                Optional(Eq(123U * 1024)));
    EXPECT_EQ(anonymous_bytes_in("RssFile: 7 kB\n"), std::nullopt);
    EXPECT_GT(anonymous_bytes(::getpid()), 0U);
}

// Goal: a family is a process and all that descend from it. Method: a child of this process that
// lives until it is killed.
TEST(ProcessesTest, AFamilyIsAProcessAndItsChildren) {
    const test::Program child("/bin/sleep", {"600"});
    EXPECT_THAT(family_of(::getpid()), Contains(::getpid()));
    EXPECT_THAT(family_of(::getpid()), Contains(child.pid()));
    EXPECT_EQ(family_of(child.pid()), std::vector<pid_t>{child.pid()});
}

// Goal: the memory of several processes is their sum; one that is gone counts nothing, all of them
// gone is an error. Method: this process, once and twice, and a number that no process has.
TEST(ProcessesTest, MemoryIsTheSumOfThoseThatLive) {
    constexpr pid_t kNobody = 0x7fff'ffff;
    const auto once = proportional_bytes({::getpid(), kNobody});
    const auto twice = proportional_bytes({::getpid(), ::getpid()});
    ASSERT_TRUE(once && twice);
    EXPECT_GT(*once, 100'000U);
    EXPECT_GT(*twice, *once);
    EXPECT_FALSE(proportional_bytes({kNobody}));
}

}  // namespace
}  // namespace shortq::bench
