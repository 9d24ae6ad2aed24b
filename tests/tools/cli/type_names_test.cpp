// Goal: the types inside a type's name are found. Method: names as the engine writes them.
#include "tools/cli/type_names.h"

#include <gtest/gtest.h>

namespace shortq::cli {
namespace {

TEST(TypeNamesTest, ElementsOfLists) {
    EXPECT_EQ(child_type("BIT[]", 0), "BIT");
    EXPECT_EQ(child_type("DECIMAL(18,3)[3][]", 0), "DECIMAL(18,3)[3]");
    EXPECT_EQ(child_type("STRUCT(a BIT)[]", 0), "STRUCT(a BIT)");
}

TEST(TypeNamesTest, MembersWithoutTheirNames) {
    const auto* type = R"(STRUCT(a BIT, "b, c" DECIMAL(18,3), d STRUCT(e UUID, f BLOB)[]))";
    EXPECT_EQ(child_type(type, 0), "BIT");
    EXPECT_EQ(child_type(type, 1), "DECIMAL(18,3)");
    EXPECT_EQ(child_type(type, 2), "STRUCT(e UUID, f BLOB)[]");
    EXPECT_EQ(child_type(type, 3), "");
    EXPECT_EQ(child_type("UNION(num INTEGER, s BIT)", 1), "BIT");
    EXPECT_EQ(child_type("STRUCT(e ENUM('a)', 'b'), u UUID)", 1), "UUID");
}

TEST(TypeNamesTest, MapsHaveNoNames) {
    EXPECT_EQ(child_type("MAP(VARCHAR, STRUCT(a BIT))", 1), "STRUCT(a BIT)");
}

TEST(TypeNamesTest, OtherTypesHaveNoChildren) {
    EXPECT_EQ(child_type("INTEGER", 0), "");
    EXPECT_EQ(child_type("", 0), "");
    EXPECT_EQ(child_type("STRUCT(a...", 0), "");
}

}  // namespace
}  // namespace shortq::cli
