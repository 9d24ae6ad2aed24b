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

// Each pattern so many times, with 0, 1, ... in place of its @.
std::vector<std::string> with_parameters(const std::vector<std::string>& patterns, int times) {
    std::vector<std::string> queries;
    for (const auto& pattern : patterns) {
        for (int parameter = 0; parameter < times; ++parameter) {
            std::string query;
            for (const char one : pattern)
                query += one == '@' ? std::to_string(parameter) : std::string(1, one);
            queries.push_back(std::move(query));
        }
    }
    return queries;
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
    for (auto& query : with_parameters(templates, 10)) queries.push_back(std::move(query));
    return queries;
}

// The demo's flights and airports, asked in 200 ways.
std::vector<std::string> demo_queries() {
    return with_parameters(
        {
            "select count(*), sum(delay), avg(delay), stddev(delay) from flights where month(date) "
            "= @ + 1",
            "select origin, count(*), avg(delay), corr(delay, distance) from flights where delay > "
            "@ * 20 group by all order by all",
            "select a.state, avg(f.delay), sum(f.distance * a.latitude) from flights f join "
            "airports a on f.origin = a.iata where f.delay > @ * 10 group by all order by all",
            "select * from flights where delay = @ + 200 order by all limit 500",
            "select date_trunc('day', date) as day, max(delay), quantile_cont(delay, 0.9) from "
            "flights where origin like chr(65 + @) || '%' group by all order by all",
            "select origin, destination, rank() over (partition by origin order by delay desc, "
            "date, destination) as place from flights where delay > 600 + @ * 40 order by all "
            "limit 300",
            "select string_agg(distinct destination, ',' order by destination) from flights where "
            "origin = (select iata from airports order by iata limit 1 offset 400 + @)",
            "select hour(date), regr_slope(delay, distance), entropy(delay) from flights where "
            "day(date) = @ + 1 group by all order by all",
            "select list(delay order by date, delay, destination)[:50], {'n': count(*)} from "
            "flights where origin = 'JFK' and month(date) = @ + 1",
            "select city, round(sin(latitude * @), 9), cos(longitude) / (@ + 1) from airports "
            "order by iata limit 200",
            "from (pivot (select month(date) as m, origin, delay from flights where origin in "
            "('ATL', 'ORD', 'DFW') and delay > @) on origin using avg(delay)) order by m",
            "select count(distinct origin || destination), approx_count_distinct(destination) from "
            "flights where delay between @ * 5 and @ * 5 + 20",
            "select f.origin, max_by(f.destination, (f.delay, f.date, f.destination)) from flights "
            "f semi join airports a on a.iata = f.destination and a.latitude > 20 + @ group by all "
            "order by all",
            "select distance // 100 as bucket, histogram(delay // 60) from flights where "
            "dayofweek(date) = @ % 7 group by all order by all",
            "select date, delay, avg(delay) over (order by date, origin, destination rows between "
            "@ preceding and current row) from flights where origin = 'ITH' order by date, "
            "destination limit 300",
            "select md5(string_agg(date::varchar || delay, '' order by date, delay, destination)) "
            "from flights where destination = 'SYR' and month(date) = @ + 1",
            "with far as (select * from flights where distance > 2000 + @ * 50) select origin, "
            "count(*) from far group by all having count(*) > 100 order by all",
            "select a.iata, b.iata from airports a, airports b where abs(a.latitude - b.latitude) "
            "< 0.01 and abs(a.longitude - b.longitude) < 0.02 * (@ + 1) and a.iata < b.iata order "
            "by all",
            "select sum(delay)::double / count(*), sum(delay * 1.1), sum(delay / 3.0), "
            "geomean(distance) from flights where delay > @",
            "select * from airports where name ilike '%' || chr(97 + @) || 'o%' order by iata",
        },
        10);
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

// Goal: the same over real data, bit for bit, floating point included. Method: 200 queries over the
// demo's three million flights, loaded and asked by one thread so that sums have one order; doubles
// are compared
// as their shortest text, which is another for each of them.
TEST_F(SameAnswersTest, ForkedWorkersAnswerAsThoseThatLoadOverTheDemosData) {
    const std::filesystem::path data(DEMO_DATA);
    if (!std::filesystem::exists(data / "flights-3m.parquet"))
        GTEST_SKIP() << "tools/setup has not fetched " << data;
    // Statistics that are sampled as rows come decide on plans, and so on the order of sums.
    const auto script = "set threads = 1; create table flights as from read_parquet('" +
                        (data / "flights-3m.parquet").string() +
                        "'); create table airports as from read_csv('" +
                        (data / "airports.csv").string() + "');";
    const Server forked(duckdb(2, script, {"--spawn", "fork", "--threads", "1"}));
    const Server loaded(duckdb(2, script, {"--spawn", "exec", "--threads", "1"}));
    auto one = forked.connect();
    auto other = loaded.connect();
    const auto queries = demo_queries();
    EXPECT_THAT(queries, SizeIs(200));
    std::set<std::string> different;
    for (const auto& query : queries) {
        const auto result = one.deferred(query);
        EXPECT_TRUE(result) << query << ": " << summary(result);
        const auto text = whole(result);
        different.insert(text);
        EXPECT_EQ(difference(text, whole(other.deferred(query))), "") << query;
    }
    EXPECT_GT(different.size(), 150U);
}

}  // namespace
}  // namespace shortq::test
