// tests/primary/cgroup_test.cpp: memory limits of control groups, read from trees of files as
// machines and containers have them.
#include "primary/cgroup.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "tests/temporary_folder.h"

namespace shortq::primary {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
// What version 1 says for "no limit" with pages of 4 and of 64 KiB.
constexpr const char* kNoLimit4K = "9223372036854771712\n";
constexpr const char* kNoLimit64K = "9223372036854710272\n";

class CgroupTest : public ::testing::Test {
protected:
    void write(const std::string& file, const std::string& text) const {
        std::filesystem::create_directories((root_.path() / file).parent_path());
        root_.write(file, text);
    }
    void limit(const std::string& folder, const std::string& text) const {
        write(folder + (folder.find("memory") == std::string::npos ? "/memory.max"
                                                                   : "/memory.limit_in_bytes"),
              text);
    }
    [[nodiscard]] std::optional<std::uint64_t> bytes() const {
        return cgroup_memory_bytes(root_.path());
    }

    test::TemporaryFolder root_;
};

// Goal: version 2, the least limit on the way up holds. Method: limits at three heights, each in
// turn the least; "max" is none.
TEST_F(CgroupTest, VersionTwoTakesTheLeastOnTheWayUp) {
    write("proc/self/cgroup", "0::/user.slice/job.scope\n");
    write("proc/self/mountinfo",
          "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
          "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
    EXPECT_EQ(bytes(), std::nullopt) << "no file";
    limit("sys/fs/cgroup/user.slice/job.scope", "max\n");
    EXPECT_EQ(bytes(), std::nullopt);
    limit("sys/fs/cgroup/user.slice", std::to_string(4 * kGiB) + "\n");
    EXPECT_EQ(bytes(), 4 * kGiB) << "above";
    limit("sys/fs/cgroup/user.slice/job.scope", std::to_string(2 * kGiB) + "\n");
    EXPECT_EQ(bytes(), 2 * kGiB) << "its own";
    limit("sys/fs/cgroup", std::to_string(kGiB) + "\n");
    EXPECT_EQ(bytes(), kGiB) << "the root of a container";
    limit("sys/fs/cgroup/other.slice", "1\n");
    EXPECT_EQ(bytes(), kGiB) << "somebody else's";
}

// Goal: version 1, by the line of the memory controller and its own mount. Method: as above; other
// controllers have lines and mounts of their own, before and behind.
TEST_F(CgroupTest, VersionOneFollowsTheMemoryController) {
    write("proc/self/cgroup",
          "6:cpu,cpuacct:/elsewhere\n4:memory:/jobs/a:b\n2:name=systemd:/elsewhere\n");
    write("proc/self/mountinfo",
          "33 31 0:30 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
          "35 31 0:32 / /cg/with\\040blank/memory rw,relatime - cgroup cgroup rw,memory\n");
    const std::string mount = "cg/with blank/memory";
    limit(mount, kNoLimit4K);
    limit(mount + "/elsewhere", "1\n");
    EXPECT_EQ(bytes(), std::nullopt) << "a huge number is none";
    limit(mount + "/jobs", std::to_string(3 * kGiB) + "\n");
    limit(mount + "/jobs/a:b", kNoLimit64K);
    EXPECT_EQ(bytes(), 3 * kGiB);
    limit(mount + "/jobs/a:b", std::to_string(2 * kGiB) + "\n");
    EXPECT_EQ(bytes(), 2 * kGiB);
}

// Goal: version 1 in a container: limits above its root, which no file there shows, hold. Method:
// the figure of memory.stat.
TEST_F(CgroupTest, VersionOneKnowsLimitsThatAreNotMounted) {
    write("proc/self/cgroup", "4:memory:/\n");
    write("proc/self/mountinfo",
          "35 31 0:32 / /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    limit("sys/fs/cgroup/memory", kNoLimit4K);
    write("sys/fs/cgroup/memory/memory.stat",
          "cache 4096\nhierarchical_memory_limit " + std::to_string(kGiB) + "\ntotal_rss 1\n");
    EXPECT_EQ(bytes(), kGiB);
    write("sys/fs/cgroup/memory/memory.stat",
          std::string("cache 4096\nhierarchical_memory_limit ") + kNoLimit4K);
    EXPECT_EQ(bytes(), std::nullopt);
}

// Goal: where both versions are mounted, the one that has the memory controller counts. Method:
// systemd's hybrid set-up, with memory under version 1; then a limit under version 2, too.
TEST_F(CgroupTest, BothVersionsAreLookedAt) {
    write("proc/self/cgroup", "4:memory:/user\n1:name=systemd:/user\n0::/user\n");
    write("proc/self/mountinfo",
          "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
          "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    limit("sys/fs/cgroup/memory/user", std::to_string(2 * kGiB) + "\n");
    EXPECT_EQ(bytes(), 2 * kGiB);
    limit("sys/fs/cgroup/unified/user", std::to_string(kGiB) + "\n");
    EXPECT_EQ(bytes(), kGiB);
}

// Goal: a mount that shows a part of the hierarchy is read from that part on. Method: a container
// whose mount's root is its own cgroup, named as on the machine; a process further down in it.
TEST_F(CgroupTest, AMountOfAPartIsReadFromThere) {
    write("proc/self/mountinfo",
          "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    limit("sys/fs/cgroup/memory", std::to_string(2 * kGiB) + "\n");
    limit("sys/fs/cgroup/memory/job", std::to_string(kGiB) + "\n");
    limit("sys/fs/cgroup/memory/docker/abc", "1\n");  // Another container, inside this one.
    write("proc/self/cgroup", "4:memory:/docker/abc\n");
    EXPECT_EQ(bytes(), 2 * kGiB);
    write("proc/self/cgroup", "4:memory:/docker/abc/job\n");
    EXPECT_EQ(bytes(), kGiB);
    write("proc/self/cgroup", "4:memory:/docker/abcd\n");
    EXPECT_EQ(bytes(), 2 * kGiB) << "a name that only begins alike: the mount's own limit";
}

// Goal: in a namespace of its own a process sees its group as "/", and roots above as "/..".
// Method: the machine's whole tree is mounted, too, and comes first; then only that.
TEST_F(CgroupTest, NamespacesAreUnderstood) {
    const std::string whole = "29 22 0:26 /../.. /host/cgroup ro - cgroup2 cgroup2 rw\n";
    write("proc/self/cgroup", "0::/\n");
    write("proc/self/mountinfo", whole + "30 22 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n");
    limit("host/cgroup", std::to_string(8 * kGiB) + "\n");
    limit("sys/fs/cgroup", std::to_string(kGiB) + "\n");
    EXPECT_EQ(bytes(), kGiB);
    write("proc/self/mountinfo", whole);
    EXPECT_EQ(bytes(), 8 * kGiB);
    // A process that was moved out of its namespace's part of the tree.
    write("proc/self/cgroup", "0::/../sibling\n");
    write("proc/self/mountinfo", "29 22 0:26 /.. /host/cgroup ro - cgroup2 cgroup2 rw\n");
    limit("host/cgroup/sibling", std::to_string(2 * kGiB) + "\n");
    EXPECT_EQ(bytes(), 2 * kGiB);
}

// Goal: what is missing or makes no sense is no limit, never an error. Method: nothing; files
// without use; cgroups that are not mounted.
TEST_F(CgroupTest, WhatIsMissingIsNoLimit) {
    EXPECT_EQ(bytes(), std::nullopt);
    write("proc/self/cgroup", "\n:\n::\n0\n0:\nx:y\n0::/a\n4:memory:/a\n");
    EXPECT_EQ(bytes(), std::nullopt);
    write(
        "proc/self/mountinfo",
        "\n-\n1 2 3 - cgroup2\n30 22 0:26 / /c rw - cgroup2\n"
        "30 22 0:26 / /c rw - cgroup2 cgroup2 rw\n31 22 0:27 / /v1 rw - cgroup cgroup rw,memory\n");
    EXPECT_EQ(bytes(), std::nullopt);
    write("c/memory.max", "");
    write("c/a/memory.max", "rubbish\n");
    write("v1/a/memory.stat", "hierarchical_memory_limit\nrubbish x\n");
    EXPECT_EQ(bytes(), std::nullopt);
}

}  // namespace
}  // namespace shortq::primary
