#include "primary/sync_routing.h"

#include <gtest/gtest.h>

namespace shortq::primary {
namespace {

// Texts that only look at the dispatcher, in the ways that people write them.
TEST(SyncRoutingTest, LooksGoToTheLookLane) {
    for (const auto* text : {
             "select * from shortq.workers",
             "SELECT id, state FROM shortq.workers WHERE pending > 0 ORDER BY id;",
             "from shortq.queries",
             "select count(*) from (select * from \"shortq\".queries) q",
             "-- who is there?\nselect * from shortq.clients c join shortq.queries q on "
             "c.id = q.client",
             "call shortq_cancel(17)",
             "CALL shortq_kill(2);",
         })
        EXPECT_EQ(lane_for(text), LaneName::kLook) << text;
}

// Everything that uses session state, other tables, or more than a look.
TEST(SyncRoutingTest, OtherTextsGoToTheMainLane) {
    for (const auto* text : {
             "",
             "select 1",
             "set variable xs = range(9)",
             "select * from shortq.workers where id = getvariable('x')",
             "select * from trade join shortq.workers on true",
             "create table t as from shortq.workers",
             "select * from shortq.workers; select * from trade",
             "call pragma_version()",
             "with w as (from shortq.workers) select * from w",
             "select 'from shortq.workers'",
         })
        EXPECT_EQ(lane_for(text), LaneName::kMain) << text;
}

// A reload takes as long as its load, so it holds up neither looks nor queries.
TEST(SyncRoutingTest, ReloadHasALaneOfItsOwn) {
    EXPECT_EQ(lane_for("call shortq_reload()"), LaneName::kReload);
    EXPECT_EQ(lane_for("call shortq_reload(); from shortq.generations"), LaneName::kReload);
}

// The views belong to all clients: none may take them away, but copies are everybody's own
// business.
TEST(SyncRoutingTest, SchemaShortqCannotBeChanged) {
    for (const auto* text :
         {"drop schema shortq cascade", "DROP VIEW \"shortq\".workers",
          "select 1; drop view if exists shortq.workers",
          "create or replace view shortq.workers as select 1",
          "alter view shortq.workers rename to w", "comment on view shortq.workers is 'mine'",
          "create schema temp.\"ShortQ\"", "explain drop view shortq.workers",
          "explain analyze drop view memory.shortq.workers",
          "EXPLAIN (ANALYZE, FORMAT json) create table shortq.t as select 1",
          "prepare p as drop schema shortq", "prepare p as create table shortq.t as select 1",
          "explain analyze create or replace temp view x.shortq as select 1"})
        EXPECT_FALSE(check_sync_text(text)) << text;
    for (const auto* text :
         {"create table t as from shortq.workers", "drop table t", "create table t(shortq int)",
          "select * from shortq.workers", "explain analyze select * from shortq.workers",
          "prepare p as from shortq.workers", "create table shortq_notes (i int)", ""})
        EXPECT_TRUE(check_sync_text(text)) << text;
}

// A text that nests without end is left to the engine, which refuses it, and does not end the
// primary.
TEST(SyncRoutingTest, DeepNestingIsLeftToTheEngine) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += "explain ";
    EXPECT_TRUE(check_sync_text(text + "drop schema shortq"));
}

// Nor may a macro take the place of a procedure, or of the function behind a view.
TEST(SyncRoutingTest, ProceduresCannotBeReplaced) {
    for (const auto* text : {"create macro shortq_cancel(x) as table select 1",
                             "create or replace temp function main.\"Shortq_Kill\"(x) as 1",
                             "create macro if not exists __shortq_workers() as table select 1",
                             "explain analyze create macro shortq_reload() as 1"})
        EXPECT_FALSE(check_sync_text(text)) << text;
    EXPECT_TRUE(check_sync_text("create macro busy() as table from shortq.workers"));
}

// The engine's own words for a missing table, and for other misses.
TEST(SyncRoutingTest, MissingTableIsRecognised) {
    EXPECT_EQ(missing_table("Catalog Error: Table with name trade does not exist!\nDid you ..."),
              "trade");
    EXPECT_EQ(missing_table("Catalog Error: Scalar Function with name f does not exist!"), "");
    EXPECT_EQ(missing_table("Parser Error: syntax error"), "");
}

// A name is data in the question to the workers, whatever is in it.
TEST(SyncRoutingTest, TableNameIsQuotedInTheQuestion) {
    EXPECT_NE(has_table_query("o'brien").find("lower('o''brien')"), std::string::npos);
}

}  // namespace
}  // namespace shortq::primary
