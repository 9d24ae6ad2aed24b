// Goal: nested type names are taken apart where DuckDB's quoting allows surprises. Method:
// examples.
#include "proto/engine_type.h"

#include <gtest/gtest.h>

namespace shortq::detail {
namespace {

TEST(EngineTypeTest, ElementOfListsAndArrays) {
    EXPECT_EQ(element_type("INTEGER[]"), "INTEGER");
    EXPECT_EQ(element_type("BIT[3][]"), "BIT[3]");
    EXPECT_EQ(element_type("STRUCT(a BIT[])[]"), "STRUCT(a BIT[])");
    EXPECT_EQ(element_type("BIT"), "");
}

TEST(EngineTypeTest, ArgumentsWithAndWithoutNames) {
    constexpr auto kStruct =
        R"(STRUCT(a BIT, "b, c" ENUM('x)', 'it''s'), d DECIMAL(18,3)[], "e""(" MAP(BIT, BLOB)))";
    EXPECT_EQ(argument_type(kStruct, 0, true), "BIT");
    EXPECT_EQ(argument_type(kStruct, 1, true), "ENUM('x)', 'it''s')");
    EXPECT_EQ(argument_type(kStruct, 2, true), "DECIMAL(18,3)[]");
    EXPECT_EQ(argument_type(kStruct, 3, true), "MAP(BIT, BLOB)");
    EXPECT_EQ(argument_type(kStruct, 4, true), "");
    EXPECT_EQ(argument_type("MAP(BIT, TIMESTAMP WITH TIME ZONE)", 1, false),
              "TIMESTAMP WITH TIME ZONE");
    EXPECT_EQ(argument_type("INTEGER", 0, true), "");
    EXPECT_EQ(argument_type("STRUCT(", 0, true), "");
}

}  // namespace
}  // namespace shortq::detail
