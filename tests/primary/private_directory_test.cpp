#include "primary/private_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace shortq::primary {
namespace {

namespace fs = std::filesystem;

class PrivateDirectoryTest : public testing::Test {
protected:
    PrivateDirectoryTest() {
        std::string name = (fs::temp_directory_path() / "shortq-test-XXXXXX").string();
        base_ = mkdtemp(name.data());
    }
    ~PrivateDirectoryTest() override { fs::remove_all(base_); }
    fs::path base_;
};

// Nobody else may look in, and nothing is left when the owner goes.
TEST_F(PrivateDirectoryTest, IsPrivateAndRemoved) {
    fs::path path;
    {
        const PrivateDirectory directory(base_, "run");
        path = directory.path();
        struct stat facts {};
        ASSERT_EQ(stat(path.c_str(), &facts), 0);
        EXPECT_EQ(facts.st_mode & 0777U, 0700U);
        std::ofstream(path / "something") << "x";
    }
    EXPECT_FALSE(fs::exists(path));
}

// What somebody else has removed is made again, private as before, and is still seen to be in use;
// a file, or a link, in its place is not used.
TEST_F(PrivateDirectoryTest, WhatVanishedIsMadeAgain) {
    PrivateDirectory directory(base_, "run");
    fs::remove_all(directory.path());
    directory.renew();
    struct stat facts {};
    ASSERT_EQ(stat(directory.path().c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0700U);
    fs::remove(directory.path() / "lock");
    directory.renew();
    fs::last_write_time(directory.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
    const PrivateDirectory other(base_, "run");
    EXPECT_TRUE(fs::exists(directory.path() / "lock")) << "it was taken for a leftover";
    fs::remove_all(directory.path());
    fs::create_directory_symlink(other.path(), directory.path());
    EXPECT_THROW(directory.renew(), std::system_error);
    fs::remove(directory.path());
}

// The folder of a process that was killed goes at the next start; one in use stays, and so does a
// folder of another name.
TEST_F(PrivateDirectoryTest, LeftoversOfADeadOwnerAreRemoved) {
    const pid_t child = fork();
    if (child == 0) {
        const PrivateDirectory directory(base_, "run");
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    ASSERT_FALSE(fs::is_empty(base_));
    fs::create_directory(base_ / "other");
    const PrivateDirectory first(base_, "run");
    const PrivateDirectory second(base_, "run");
    EXPECT_TRUE(fs::exists(first.path()));
    EXPECT_TRUE(fs::exists(base_ / "other"));
    std::size_t folders = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(base_)) ++folders;
    EXPECT_EQ(folders, 3U);
}

// A base that is not there is an error with its name in it.
// Goal: nobody's fresh folder is taken for a leftover. Method: many are made at the same moment.
TEST_F(PrivateDirectoryTest, ManyAreMadeAtOnce) {
    constexpr int kMakers = 4;
    constexpr int kFoldersEach = 250;
    std::atomic<int> lost{0};
    {
        std::vector<std::jthread> makers;
        for (int i = 0; i < kMakers; ++i)
            makers.emplace_back([&] {
                for (int made = 0; made < kFoldersEach; ++made) try {
                        const PrivateDirectory folder(base_, "run");
                        if (!fs::exists(folder.path() / "lock")) ++lost;
                    } catch (const std::system_error&) {
                        ++lost;
                    }
            });
    }
    EXPECT_EQ(lost, 0);
    EXPECT_TRUE(fs::is_empty(base_));
}

TEST_F(PrivateDirectoryTest, MissingBaseIsAnError) {
    EXPECT_THROW(PrivateDirectory(base_ / "nowhere", "run"), std::system_error);
}

// A socket's path must fit into sockaddr_un, whatever the environment says.
TEST(SocketBaseTest, LongRuntimeFolderIsNotUsed) {
    setenv("XDG_RUNTIME_DIR", ("/tmp/" + std::string(100, 'x')).c_str(), 1);
    EXPECT_LT(socket_base().string().size(), 68U);
    unsetenv("XDG_RUNTIME_DIR");
}

// Queries spill where TMPDIR says, in /tmp without it, and nowhere else: a folder that is not there
// is an error with its name. Method: all three.
TEST_F(PrivateDirectoryTest, SpillFoldersAreWhereTheEnvironmentSays) {
    const char* const before = std::getenv("TMPDIR");
    const std::string kept = before == nullptr ? "" : before;
    setenv("TMPDIR", base_.c_str(), 1);
    EXPECT_EQ(spill_base(), base_);
    setenv("TMPDIR", (base_ / "nowhere").c_str(), 1);
    try {
        EXPECT_EQ(spill_base(), "an error");
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find((base_ / "nowhere").string()), std::string::npos)
            << error.what();
    }
    EXPECT_TRUE(fs::is_directory(socket_base()));
    unsetenv("TMPDIR");
    EXPECT_EQ(spill_base(), "/tmp");
    if (before != nullptr) setenv("TMPDIR", kept.c_str(), 1);
}

}  // namespace
}  // namespace shortq::primary
