// primary/auth/private_file.h: real files in a folder that goes.
#include "primary/auth/private_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/temporary_folder.h"

namespace shortq::auth {
namespace {

using testing::HasSubstr;

// Goal: who else may see or change a file decides whether it is read. Method: all such modes.
TEST(PrivateFileTest, IsReadOnlyIfNobodyElseMayTouchIt) {
    const test::TemporaryFolder folder;
    const auto path = folder.path() / "users";
    ASSERT_TRUE(write_new_file(path, "hello\n", true));
    for (const mode_t mode : {0600U, 0400U, 0640U, 0440U}) {
        ::chmod(path.c_str(), mode);
        EXPECT_EQ(read_private_file(path).value_or("refused"), "hello\n") << std::oct << mode;
    }
    for (const mode_t mode : {0644U, 0660U, 0602U, 0606U, 0777U, 0604U, 0601U}) {
        ::chmod(path.c_str(), mode);
        const auto text = read_private_file(path);
        ASSERT_FALSE(text) << std::oct << mode;
        EXPECT_THAT(text.error().message, HasSubstr("run: chmod 600 " + path.string()));
        EXPECT_EQ(text.error().where, path.string());
    }
}

// Goal: a new file is private, and an old one stays. Method: write twice.
TEST(PrivateFileTest, IsNeverOverwritten) {
    const test::TemporaryFolder folder;
    const auto path = folder.path() / "key";
    ASSERT_TRUE(write_new_file(path, "first", true));
    const auto again = write_new_file(path, "second", true);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().message, "exists already; it is not overwritten");
    EXPECT_EQ(read_private_file(path).value(), "first");
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

// Goal: what is no such file says so, and nothing waits. Method: a folder, a pipe, nothing, a MiB.
TEST(PrivateFileTest, SaysWhyItCannotBeRead) {
    const test::TemporaryFolder folder;
    EXPECT_EQ(read_private_file(folder.path()).error().message, "not an ordinary file");
    const auto pipe = folder.path() / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(read_private_file(pipe).error().message, "not an ordinary file");
    EXPECT_EQ(read_private_file(folder.path() / "none").error().message,
              "cannot read: No such file or directory");
    const auto large = folder.path() / "large";
    ASSERT_TRUE(write_new_file(large, std::string((1U << 20) + 1, 'x'), true));
    EXPECT_EQ(read_private_file(large).error().message, "larger than a MiB");
}

}  // namespace
}  // namespace shortq::auth
