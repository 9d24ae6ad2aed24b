// Goal: regions keep their bytes, outlive the file's object, and leave nothing behind.
// Method: a folder, and what is in it.
#include "primary/kdb/spill_file.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "tests/temporary_folder.h"

namespace shortq::primary {
namespace {

TEST(SpillFileTest, RegionsKeepTheirBytesApartAndHaveNoName) {
    const test::TemporaryFolder folder;
    std::optional<SpillFile> file(folder.path());
    const auto a = file->allocate(10'000);
    const auto b = file->allocate(1);
    ASSERT_TRUE(a && b);
    std::memset(a->data, 'a', 10'000);
    std::memset(b->data, 'b', 1);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    file.reset();
    EXPECT_TRUE(std::all_of(a->data, a->data + 10'000,
                            [](std::byte byte) { return byte == std::byte{'a'}; }));
    EXPECT_EQ(*b->data, std::byte{'b'});
}

TEST(SpillFileTest, AMissingFolderIsAnErrorThatNamesIt) {
    SpillFile file("/nowhere/at/all");
    const auto region = file.allocate(1);
    ASSERT_FALSE(region);
    EXPECT_EQ(region.error().where, "/nowhere/at/all");
}

// Not a signal when the disk is full, but an error.
TEST(SpillFileTest, MoreThanThereIsRoomForIsAnError) {
    const test::TemporaryFolder folder;
    SpillFile file(folder.path());
    const auto region = file.allocate(std::size_t{1} << 50);
    ASSERT_FALSE(region);
    EXPECT_THAT(region.error().message, ::testing::HasSubstr("no room"));
    EXPECT_TRUE(file.allocate(4096)) << "less is possible";
}

}  // namespace
}  // namespace shortq::primary
