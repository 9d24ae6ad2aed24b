// tests/worker/engine/duckdb_host_test.cpp: tables and procedures of the host program.
#include <gmock/gmock.h>

#include "tests/worker/engine/fixture.h"

namespace shortq::engine::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A host with one table of every type, and three procedures.
class DuckDbHostTest : public ::testing::Test {
protected:
    DuckDbHostTest() {
        EngineOptions options{.access = Access::kSync};
        options.host_tables.push_back({"shortq",
                                       "workers",
                                       {{"id", "BIGINT"},
                                        {"load", "DOUBLE"},
                                        {"state", "VARCHAR"},
                                        {"busy", "BOOLEAN"},
                                        {"started_at", "TIMESTAMP"}},
                                       [this] {
                                           ++reads_;
                                           return rows_;
                                       }});
        options.host_calls.push_back(
            {"shortq_cancel",
             {"BIGINT"},
             {{"id", "BIGINT"}, {"outcome", "VARCHAR"}},
             [this](std::span<const Value> arguments) { return cancel(arguments); }});
        options.host_calls.push_back(
            {"shortq_reload", {}, {{"generation", "BIGINT"}}, [this](std::span<const Value>) {
                 return Result<std::vector<Value>>(std::vector<Value>{std::int64_t{++reloads_}});
             }});
        engine_ = start("", std::move(options));
    }

    Result<std::vector<Value>> cancel(std::span<const Value> arguments) {
        ++cancels_;
        if (std::holds_alternative<Null>(arguments[0])) {
            return fail(ErrorCode::kBadRequest, "no id");
        }
        const auto id = std::get<std::int64_t>(arguments[0]);
        if (id == 404) return fail(ErrorCode::kNotFound, "no request 404");
        return std::vector<Value>{id, std::string("cancelled")};
    }

    std::vector<std::vector<Value>> rows_{
        {std::int64_t{1}, 0.5, std::string("idle"), false, Timestamp{0}},
        {std::int64_t{2}, Null{}, std::string("busy"), true, Null{}}};
    int reads_ = 0;
    int cancels_ = 0;
    int reloads_ = 0;
    std::unique_ptr<Engine> engine_;
};

// Host tables show what the host says now. Method: ask, change the rows, ask the same text again.
TEST_F(DuckDbHostTest, TablesAreComputedAtEachUse) {
    EXPECT_EQ(ask(*engine_, "from shortq.workers"),
              "1|0.5|idle|false|1970-01-01 00:00:00\n2|NULL|busy|true|NULL\n");
    rows_.pop_back();
    EXPECT_EQ(ask(*engine_, "from shortq.workers"), "1|0.5|idle|false|1970-01-01 00:00:00\n");
    rows_.clear();
    EXPECT_EQ(ask(*engine_, "select count(*), sum(id) from shortq.workers"), "0|NULL\n");
    EXPECT_EQ(reads_, 3);
    EXPECT_EQ(ask(*engine_, "describe shortq.workers").substr(0, 9), "id|BIGINT");
    EXPECT_EQ(reads_, 3);
}

// Tables longer than a vector come whole. Method: 5000 rows.
TEST_F(DuckDbHostTest, LongTablesComeWhole) {
    rows_.assign(5000, rows_.front());
    EXPECT_EQ(ask(*engine_, "select count(*), sum(id) from shortq.workers"), "5000|5000\n");
}

// Calls act once and answer their row. Method: count how often the host was asked.
TEST_F(DuckDbHostTest, CallsActOnce) {
    EXPECT_EQ(ask(*engine_, "call shortq_cancel(7)"), "7|cancelled\n");
    EXPECT_EQ(cancels_, 1);
    EXPECT_EQ(ask(*engine_, "call shortq_reload()"), "1\n");
    EXPECT_EQ(ask(*engine_, "CALL shortq_reload();"), "2\n");
    EXPECT_EQ(ask(*engine_, "explain call shortq_reload()").substr(0, 13), "physical_plan");
    EXPECT_EQ(reloads_, 2);
}

// A call that the host refuses has the host's code and text. Method: a call for what is not there;
// the next query is not touched by it.
TEST_F(DuckDbHostTest, RefusedCallsKeepTheirCode) {
    EXPECT_EQ(ask(*engine_, "call shortq_cancel(404)"), "not_found: no request 404");
    EXPECT_EQ(ask(*engine_, "call shortq_cancel(null)"), "bad_request: no id");
    EXPECT_THAT(ask(*engine_, "select error('own')"), StartsWith("query_error: "));
    EXPECT_THAT(ask(*engine_, "call shortq_cancel('x')"), StartsWith("query_error: "));
    EXPECT_THAT(ask(*engine_, "call shortq_cancel()"), StartsWith("query_error: "));
    EXPECT_FALSE(engine_->sick());
}

// Parameters reach calls. Method: one in place of a literal.
TEST_F(DuckDbHostTest, ParametersReachCalls) {
    EXPECT_EQ(ask(*engine_, "call shortq_cancel($1)", {{"", std::int64_t{9}}}), "9|cancelled\n");
    EXPECT_EQ(cancels_, 1);
}

// An error inside the host's table is an error of the query. Method: a value of a wrong type.
TEST_F(DuckDbHostTest, WrongValuesAreErrors) {
    rows_ = {{std::string("text"), Null{}, Null{}, Null{}, Null{}}};
    EXPECT_THAT(ask(*engine_, "from shortq.workers"), StartsWith("query_error: "));
    EXPECT_EQ(ask(*engine_, "select 1"), "1\n");
}

// A type the host cannot have is refused at load. Method: such a column.
TEST(DuckDbHostTypesTest, UnknownTypesAreRefused) {
    EngineOptions options{.access = Access::kSync};
    options.host_tables.push_back(
        {"s", "t", {{"x", "HUGEINT"}}, [] { return std::vector<std::vector<Value>>{}; }});
    const auto loaded = make(std::move(options))->load("");
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, ErrorCode::kInternal);
    EXPECT_THAT(loaded.error().message, HasSubstr("HUGEINT"));
}

}  // namespace
}  // namespace shortq::engine::testing
