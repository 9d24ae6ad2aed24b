// Goal: scripts are cut at semicolons that end statements, and at no others. Method: examples.
#include "tools/cli/statements.h"

#include <gmock/gmock.h>

namespace shortq::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StatementsTest, SemicolonsEndStatements) {
    EXPECT_THAT(split_statements("select 1; select 2 ;\n\nselect 3"),
                ElementsAre("select 1", "select 2", "select 3"));
    EXPECT_THAT(split_statements(" ; ;; "), IsEmpty());
    EXPECT_THAT(split_statements(""), IsEmpty());
}

TEST(StatementsTest, QuotesHideSemicolons) {
    EXPECT_THAT(split_statements("select ';', 'it''s;', \"a;b\"; x"),
                ElementsAre("select ';', 'it''s;', \"a;b\"", "x"));
    EXPECT_THAT(split_statements(R"(select e'\';', 'a\'; x)"),
                ElementsAre(R"(select e'\';', 'a\')", "x"));
    EXPECT_THAT(split_statements("select $$;$$, $a$;$$;$a$; x"),
                ElementsAre("select $$;$$, $a$;$$;$a$", "x"));
    EXPECT_THAT(split_statements("select $1; select $2"), ElementsAre("select $1", "select $2"));
    EXPECT_THAT(split_statements("select 'open; x"), ElementsAre("select 'open; x"));
}

TEST(StatementsTest, CommentsHideSemicolonsAndAreNoStatements) {
    EXPECT_THAT(split_statements("-- a; b\nselect 1; -- done;"), ElementsAre("-- a; b\nselect 1"));
    EXPECT_THAT(split_statements("/* a; /* b; */ c; */ select 1; /* end */"),
                ElementsAre("/* a; /* b; */ c; */ select 1"));
    EXPECT_THAT(split_statements("-- only a comment"), IsEmpty());
    EXPECT_THAT(split_statements("select 1 - -1; x"), ElementsAre("select 1 - -1", "x"));
}

TEST(StatementsTest, WhatIsBegunIsKept) {
    EXPECT_THAT(cut_statements("a; b").statements, ElementsAre("a"));
    EXPECT_EQ(cut_statements("a; b").rest, "b");
    EXPECT_EQ(cut_statements("a; -- end").rest, "");
    EXPECT_EQ(cut_statements("a; /* goes on").rest, "/* goes on");
    EXPECT_EQ(cut_statements("a; 'x;").rest, "'x;");
    EXPECT_EQ(cut_statements("-- why\nselect").rest, "-- why\nselect");
}

}  // namespace
}  // namespace shortq::cli
