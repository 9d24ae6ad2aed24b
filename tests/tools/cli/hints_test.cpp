// Goal: hints name what was meant, and keep silent otherwise. Method: examples.
#include "tools/cli/hints.h"

#include <gtest/gtest.h>

namespace shortq::cli {
namespace {

TEST(HintsTest, NearestNameIsNearEnough) {
    const std::vector<std::string> names{"--sync", "--stats", "--format", "--min-generation"};
    EXPECT_EQ(nearest_name("--snyc", names), "--sync");
    EXPECT_EQ(nearest_name("--stat", names), "--stats");
    EXPECT_EQ(nearest_name("--min-gen", names), "--min-generation");
    EXPECT_EQ(nearest_name("--whatever", names), "");
    EXPECT_EQ(nearest_name("--x", {}), "");
}

TEST(HintsTest, OnlyFailuresAboutThePrimaryGetTheHint) {
    const Error error{ErrorCode::kQueryError, "no such schema", {}};
    const std::string hint = "the views and calls of shortq are at the primary: do so";
    EXPECT_EQ(hint_for_deferred(error, "from shortq.workers", "do so"), hint);
    EXPECT_EQ(hint_for_deferred(error, "from SHORTQ.Workers", "do so"), hint);
    EXPECT_EQ(
        hint_for_deferred({ErrorCode::kReadOnly, "CALL", {}}, "call shortq_reload()", "do so"),
        hint);
    EXPECT_EQ(hint_for_deferred(error, "select 'shortq.workers'", "do so"), "");
    EXPECT_EQ(hint_for_deferred(error, "-- shortq.workers\nselect 1", "do so"), "");
    EXPECT_EQ(hint_for_deferred(error, "select a.shortq from a", "do so"), "");
    EXPECT_EQ(hint_for_deferred({ErrorCode::kTimeout, "late", {}}, "from shortq.workers", "do so"),
              "");
}

}  // namespace
}  // namespace shortq::cli
