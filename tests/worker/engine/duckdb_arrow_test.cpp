// tests/worker/engine/duckdb_arrow_test.cpp: every type leaves the engine and survives the wire.
#include <gmock/gmock.h>

#include "tests/worker/engine/fixture.h"
#include "worker/engine/duckdb_batches.h"

namespace shortq::engine::testing {
namespace {

using ::testing::HasSubstr;

// What the other side of the wire makes of a result.
Table sent(const Collector& collector) {
    const auto schema = proto::decode_schema(proto::encode_schema(collector.result_schema));
    if (!schema) throw std::runtime_error(schema.error().message);
    EXPECT_EQ(*schema, collector.result_schema);
    std::vector<Batch> batches;
    for (const Batch& batch : collector.batches) {
        const proto::BatchFrames frames = proto::split(batch);
        auto whole = proto::assemble(*schema, frames.layout, frames.buffers);
        if (!whole) throw std::runtime_error(whole.error().message);
        batches.push_back(std::move(*whole));
    }
    return {*schema, std::move(batches), {}};
}

Table query(Engine& engine, const std::string& text) {
    Collector collector;
    const auto done = engine.run({text, {}}, collector);
    if (!done) throw std::runtime_error(text + ": " + done.error().message);
    return sent(collector);
}

// Each type that DuckDB has arrives with the text DuckDB gives it. Method: test_all_types() holds
// smallest, largest and NULL of each; beside each column its own cast to VARCHAR.
TEST(DuckDbArrowTest, EveryTypeArrivesWithItsValues) {
    const auto engine = start("");
    const std::string from =
        " from (select * exclude (timestamp_tz, geometry) from test_all_types())";
    const Table table = query(*engine, "select columns(*), columns(*)::varchar" + from);
    const std::size_t types = table.columns() / 2;
    ASSERT_GT(types, 50U);
    for (std::size_t type = 0; type < types; ++type) {
        for (std::uint64_t row = 0; row < table.rows(); ++row) {
            const Field& field = table.schema().fields[type];
            EXPECT_EQ(table.text(row, type), table.text(row, type + types))
                << field.name << " " << field.format << " " << field.engine_type;
            EXPECT_EQ(table.is_null(row, type), table.is_null(row, type + types)) << field.name;
        }
    }
}

// The name of each type is the engine's own. Method: typeof() beside each column, except for the
// union, whose member called `name` the engine quotes because it is a keyword.
TEST(DuckDbArrowTest, TypesAreNamedAsTheEngineNamesThem) {
    const auto engine = start("");
    const Table table = query(*engine,
                              "select columns(*), typeof(columns(*)) from"
                              " (select * exclude (\"union\") from test_all_types() limit 1)");
    const std::size_t types = table.columns() / 2;
    for (std::size_t type = 0; type < types; ++type) {
        EXPECT_EQ(table.schema().fields[type].engine_type, table.text(0, type + types))
            << table.schema().fields[type].name;
    }
}

// Types that test_all_types() lacks arrive too. Method: one query each, NULL among the values.
TEST(DuckDbArrowTest, RarerTypesArrive) {
    const auto engine = start("");
    EXPECT_EQ(query(*engine, "select null").text(0, 0), "NULL");
    EXPECT_EQ(query(*engine, "select []").text(0, 0), "[]");
    EXPECT_EQ(query(*engine, "select {'a': null, 'b': [1, null]}").text(0, 0),
              "{'a': NULL, 'b': [1, NULL]}");
    EXPECT_EQ(query(*engine, "select '{\"a\": 1}'::json").text(0, 0), "{\"a\": 1}");
    EXPECT_EQ(query(*engine, "select map {1: 'x'}").text(0, 0), "{1=x}");
    EXPECT_EQ(query(*engine, "select timetz '12:30:00+02'").text(0, 0), "12:30:00+02");
    EXPECT_EQ(query(*engine, "select interval '1 month 2 days 3 seconds'").text(0, 0),
              "1 month 2 days 00:00:03");
}

// Many rows arrive in order, in batches of half a megabyte. Method: every 331st row, NULLs in every
// seventh.
TEST(DuckDbArrowTest, ManyRowsArriveInOrder) {
    const auto engine = start("");
    Collector collector;
    const std::string text =
        "select case when i % 7 = 0 then null else i end, 'v' || i from range(200000) r(i)";
    ASSERT_TRUE(engine->run({text, {}}, collector));
    const Table table = sent(collector);
    ASSERT_EQ(table.rows(), 200000U);
    for (std::uint64_t row = 0; row < table.rows(); row += 331) {
        EXPECT_EQ(table.is_null(row, 0), row % 7 == 0);
        EXPECT_EQ(table.text(row, 1), "v" + std::to_string(row));
    }
    ASSERT_GT(collector.batches.size(), 1U);
    for (const Batch& batch : collector.batches) {
        std::size_t bytes = 0;
        for (const Buffer& buffer : proto::split(batch).buffers) bytes += buffer.bytes.size();
        const bool last = &batch == &collector.batches.back();
        EXPECT_GE(bytes, last ? 1U : kBatchBytes);
        EXPECT_LT(bytes, 2 * kBatchBytes);
    }
}

// A batch of several chunks holds what they held, for each type that DuckDB has, also where chunks
// are not full. Method: test_all_types() 3000 times and more, some rows left out, so that chunks
// end anywhere in a byte of bits; one column at a time, and its own cast to VARCHAR for itself.
TEST(DuckDbArrowTest, EveryTypeSurvivesJoinedChunks) {
    const auto engine = start("");
    const std::string from =
        " from (select * exclude (timestamp_tz, geometry) from test_all_types()), range(3001) r(i)"
        " where i % 5 <> 3";
    const Table none = query(*engine, "select columns(* exclude (i))" + from + " limit 0");
    std::size_t joined = 0;
    for (std::size_t type = 1; type <= none.columns(); ++type) {
        const std::string column = "#" + std::to_string(type);
        Collector collector;
        const auto done = engine->run({"select " + column + from, {}}, collector);
        ASSERT_TRUE(done) << done.error().message;
        joined += collector.batches.front().rows > 2048 ? 1 : 0;
        const Table values = sent(collector);
        const Table texts = query(*engine, "select " + column + "::varchar" + from);
        ASSERT_EQ(values.rows(), 3U * 2401U);
        ASSERT_EQ(texts.rows(), values.rows());
        for (std::uint64_t row = 0; row < values.rows(); row += 13) {
            ASSERT_EQ(values.text(row, 0), texts.text(row, 0))
                << values.schema().fields[0].engine_type << ", row " << row;
        }
    }
    EXPECT_GT(joined, none.columns() - 5);  // All but the largest values.
}

// Batches outlive the engine that made them. Method: destroy it, then read.
TEST(DuckDbArrowTest, BatchesOutliveTheirEngine) {
    auto engine = start("");
    Collector collector;
    ASSERT_TRUE(engine->run({"select i, 'text ' || i from range(5000) r(i)", {}}, collector));
    engine.reset();
    EXPECT_EQ(collector.table().text(4999, 1), "text 4999");
}

// A statement without a result has no fields. Method: one of each kind.
TEST(DuckDbArrowTest, StatementsWithoutAResultHaveNoFields) {
    const auto engine = start("", {.access = Access::kSync});
    for (const char* text :
         {"create table t (i int)", "set variable x = 1", "begin", "drop table t"}) {
        Collector collector;
        ASSERT_TRUE(engine->run({text, {}}, collector)) << text;
        EXPECT_EQ(collector.begins, 1) << text;
        EXPECT_TRUE(collector.result_schema.fields.empty()) << text;
        EXPECT_TRUE(collector.batches.empty()) << text;
        ASSERT_EQ(ask(*engine, "create table if not exists t (i int)"), "") << text;
    }
}

}  // namespace
}  // namespace shortq::engine::testing
