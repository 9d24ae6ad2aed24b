// tests/end-to-end/same_answers_test.cpp: forked workers and those that load for themselves give
// the same answers.
#include <set>
#include <sstream>

#include "tests/end-to-end/processes.h"

namespace shortq::test {
namespace {

using ::testing::SizeIs;

class SameAnswersTest : public Processes {};

// Everything of a result, as text.
std::string whole(const Result<Table>& table) {
    if (!table) return summary(table);
    std::string text;
    for (std::uint64_t row = 0; row < table->rows(); ++row) {
        for (std::size_t column = 0; column < table->columns(); ++column)
            text += table->text(row, column) + '|';
        text += '\n';
    }
    return text;
}

// The first line in which two texts differ, both ways; empty: none.
std::string difference(const std::string& one, const std::string& other) {
    std::istringstream ones(one);
    std::istringstream others(other);
    for (;;) {
        std::string left = "the end";
        std::string right = left;
        const bool more = static_cast<bool>(std::getline(ones, left));
        if (!std::getline(others, right) && !more) return {};
        if (left != right) return left + " instead of " + right;
    }
}

// More than 200 queries whose results are the same each time that they run.
std::vector<std::string> varied_queries() {
    std::vector<std::string> queries{
        "describe t",
        "summarize select i, k, s, day from t",
        "select current_schema()",
        "select nothing from t",
        "selec 1",
        "select error('it''s me')",
        "select 1 / (i - i) from t",
        "select getvariable('v')",
        "from p order by all",
        "from z order by i limit 3",
        "select typeof(columns(*)) from t limit 1",
        "select current_setting('TimeZone')",
        "from (pivot (select nullable, k % 3 as m from t) on m using count(*)) order by nullable",
        "from (values (null), (1), (2)) v(a) order by a",
        "with recursive r as (select 1 as n union all select n + 1 from r where n < 50) "
        "select string_agg(n, ',' order by n) from r"};
    const std::vector<std::string> templates{
        "select count(*), sum(i), min(s), max(day) from t where k = @",
        "select k, count(*), sum(i)::bigint from t where i % (@ + 1) = 0 group by k order by k",
        "select i, s, amount, day, moment from t where i % 997 = @ order by i",
        "select t.i, d.name from t join d on t.k = d.k where t.i between @ * 100 and @ * 100 + 50 "
        "order by t.i",
        "select i, sum(i) over (partition by k order by i) from t where i < 500 + @ order by i",
        "select i, rank() over (order by s, i) from t where k = @ order by i limit 200",
        "select list(i order by i) from t where i % 1000 = @",
        "select {'k': k, 'n': count(*)} from t where k <= @ group by k order by k",
        "select distinct s from t where k = @ order by s desc limit 50",
        "select sum(amount), max(amount) from t where k = @",
        "select count(distinct s), count(distinct i % (@ + 7)) from t",
        "select date_trunc('month', day), count(*) from t where k >= @ group by all order by all",
        "select s from t where s like '%@%' order by s, i limit 30",
        "select i from t where nullable is null and k = @ order by i",
        "select count(*) from t a join t b on a.i = b.i + @",
        "select i, lag(s, @) over (order by i) from t order by i limit 40 offset @",
        "select unnest(range(@)), @ order by 1",
        "select map_from_entries(list((k, c) order by k)) from (select k, count(*) c from t where "
        "i "
        "> @ * 11 group by k)",
        "select * exclude (moment) from t where i = @",
        "select approx, count(*) from (select i % (@ + 2) as approx from t) group by all order by "
        "1",
    };
    for (const auto& pattern : templates) {
        for (int parameter = 0; parameter < 10; ++parameter) {
            std::string query;
            for (const char one : pattern)
                query += one == '@' ? std::to_string(parameter) : std::string(1, one);
            queries.push_back(std::move(query));
        }
    }
    return queries;
}

// Goal: it makes no difference to a query whether its worker was forked or has loaded for itself.
// Method: varied queries on tables in memory, in files and in an attached database, with several
// threads; what comes back is compared cell by cell, errors included.
TEST_F(SameAnswersTest, ForkedWorkersAnswerAsThoseThatLoad) {
    const auto file = write_database("attached.duckdb");
    const auto script =
        "set variable v = ['it''s', null]; set session default_null_order = 'nulls_first'; "
        "set TimeZone = 'Asia/Kathmandu'; attach '" +
        file +
        "' as z (read_only); "
        "create table t as select range as i, (hash(range) % 10)::integer as k, "
        "'s' || (hash(range, 1) % 5000) as s, ((hash(range, 2) % 100000) / 100)::decimal(12, 2) as "
        "amount, date '2020-01-01' + (hash(range, 3) % 1000)::integer as day, "
        "timestamptz '2020-01-01 00:00:00+00' + to_seconds((hash(range, 4) % 1000000)::bigint) as "
        "moment, nullif(hash(range, 5) % 7, 0) as nullable from range(30000); "
        "create table d as select range::integer as k, 'name ' || range as name from range(10); "
        "create view p as from read_csv('" +
        folder_.write("p.csv", "a,b\n2,x\n1,\n") +
        "'); "
        "create view z as from z.t;";
    const Server forked(duckdb(2, script, {"--spawn", "fork", "--threads", "2"}));
    const Server loaded(duckdb(2, script, {"--spawn", "exec", "--threads", "2"}));
    EXPECT_THAT(forked.fork_servers(), SizeIs(1));
    EXPECT_THAT(loaded.fork_servers(), SizeIs(0));
    auto one = forked.connect();
    auto other = loaded.connect();
    const auto queries = varied_queries();
    EXPECT_GE(queries.size(), 200U);
    std::set<std::string> different;
    int answered = 0;
    for (const auto& query : queries) {
        const auto result = one.deferred(query);
        answered += result ? 1 : 0;
        different.insert(whole(result));
        EXPECT_EQ(difference(whole(result), whole(other.deferred(query))), "") << query;
    }
    EXPECT_EQ(answered, static_cast<int>(queries.size()) - 3) << "three are wrong on purpose";
    EXPECT_GT(different.size(), 150U);
}

}  // namespace
}  // namespace shortq::test
