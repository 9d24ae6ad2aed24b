// Goal: history is kept whole, once, bounded and private. Method: files in a temporary folder.
#include "tools/cli/history.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>

#include "tests/temporary_folder.h"

namespace shortq::cli {
namespace {

using shortq::test::TemporaryFolder;
using ::testing::ElementsAre;

class HistoryTest : public ::testing::Test {
protected:
    [[nodiscard]] std::filesystem::path file() const { return folder_.path() / "a" / "history"; }
    [[nodiscard]] unsigned mode() const {
        struct stat status {};
        EXPECT_EQ(::stat(file().c_str(), &status), 0);
        return status.st_mode & 0777;
    }
    TemporaryFolder folder_;
};

TEST_F(HistoryTest, EntriesComeBackWhole) {
    {
        History history(file());
        history.add("select 1;");
        history.add("select 'a\\nb',\n2;");
        history.add("\\d trade");
    }
    EXPECT_THAT(History(file()).entries(),
                ElementsAre("select 1;", "select 'a\\nb',\n2;", "\\d trade"));
    EXPECT_EQ(mode(), 0600U);
}

TEST_F(HistoryTest, EachTextIsThereOnceWhereItWasLast) {
    History history(file());
    for (const auto* text : {"a", "b", "b", "a"}) history.add(text);
    EXPECT_THAT(history.entries(), ElementsAre("b", "a"));
    EXPECT_THAT(History(file()).entries(), ElementsAre("b", "a"));
}

TEST_F(HistoryTest, TheOldestAreForgotten) {
    {
        History history(file());
        for (std::size_t i = 0; i < History::kEntriesMax + 700; ++i) {
            history.add(std::to_string(i));
        }
    }
    History again(file());
    EXPECT_EQ(again.entries().size(), History::kEntriesMax);
    EXPECT_EQ(again.entries().front(), "700");
    EXPECT_LT(std::filesystem::file_size(file()), 10'000U) << "the file was written anew";
    EXPECT_EQ(mode(), 0600U);
}

TEST_F(HistoryTest, TwoPromptsAppendToOneFile) {
    History one(file());
    History two(file());
    one.add("1");
    two.add("2");
    one.add("3");
    EXPECT_THAT(History(file()).entries(), ElementsAre("1", "2", "3"));
}

// Somebody's editor, or a full disk, left the last line without its end.
TEST_F(HistoryTest, ALineWithoutEndIsNotJoinedByTheNext) {
    std::filesystem::create_directory(folder_.path() / "a");
    folder_.write("a/history", "one\ntwo");
    History(file()).add("three");
    EXPECT_THAT(History(file()).entries(), ElementsAre("one", "two", "three"));
}

TEST_F(HistoryTest, FilesOfOthersAreMadePrivate) {
    std::filesystem::create_directory(folder_.path() / "a");
    folder_.write("a/history", "old\n");
    ::chmod(file().c_str(), 0644);
    History history(file());
    history.add("new");
    EXPECT_EQ(mode(), 0600U);
    EXPECT_THAT(history.entries(), ElementsAre("old", "new"));
}

TEST_F(HistoryTest, WhatCannotBeKeptIsNoFault) {
    History history(folder_.write("file", "") + "/history");
    history.add("a");
    EXPECT_THAT(history.entries(), ElementsAre("a"));
    History nowhere{std::filesystem::path()};
    nowhere.add("a");
    EXPECT_THAT(nowhere.entries(), ElementsAre("a"));
}

TEST_F(HistoryTest, TheFileIsWhereTheEnvironmentSays) {
    ::setenv("HOME", "/home/x", 1);
    ::unsetenv("SHORTQ_HISTORY");
    ::unsetenv("XDG_STATE_HOME");
    EXPECT_EQ(history_file(), "/home/x/.local/state/shortq/history");
    ::setenv("XDG_STATE_HOME", "/state", 1);
    EXPECT_EQ(history_file(), "/state/shortq/history");
    ::setenv("SHORTQ_HISTORY", "/elsewhere", 1);
    EXPECT_EQ(history_file(), "/elsewhere");
    ::setenv("SHORTQ_HISTORY", "", 1);
    EXPECT_EQ(history_file(), "");
}

}  // namespace
}  // namespace shortq::cli
