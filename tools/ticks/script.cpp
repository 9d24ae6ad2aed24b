// tools/ticks/script.cpp: fills the options into the script's text.
#include "tools/ticks/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace shortq::ticks {
namespace {

// Prices are whole cents, so that all arithmetic is on integers. mid() is a symbol's price at a
// microsecond of the day: a slow wave and a fast one around a level, each symbol shifted by its own
// phase. Trades happen at the bid or the ask of that moment. `key` keeps the hashes of the columns
// apart from each other.
constexpr std::string_view kMacros = R"(
SET threads = 1;
CREATE MACRO pick(i, key, n) AS (hash(i * 64 + key) % n)::BIGINT;
CREATE MACRO wave(t, period, height) AS abs(t % period - period // 2) * height // (period // 2);
CREATE MACRO symbol(k) AS
    (['AAPL','AMD','CSCO','DELL','GOOG','IBM','INTC','MSFT','ORCL','TXN'])[k + 1];
CREATE MACRO market(k) AS (['N','Q','P','Z'])[k + 1];
CREATE MACRO level(k) AS ([18500,14100,5050,7600,14000,16200,4800,37500,10600,16900])[k + 1];
CREATE MACRO mid(k, day, t) AS
    level(k) + wave(t + k * 2900000000, 14400000000, level(k) // 50)
             + wave(t + k * 170000000, 611000000, level(k) // 400)
             + pick(day * 10 + k, 9, level(k) // 25);
CREATE MACRO spread(i) AS 1 + pick(i, 5, 4);
)";

// {0} first day, {1} days, {2} rows per day, {3} folder, {4} one row in this many is a block trade.
// 09:30:00 and 23 400 s of trading, in microseconds. Rows of a day are in order of time.
constexpr std::string_view kTrades = R"(
COPY (
    WITH numbered AS (
        SELECT i, i // {2} AS day, pick(i, 1, 10) AS k,
            34200000000 + (i % {2}) * (23400000000 // {2})
                        + pick(i, 2, greatest(23400000000 // {2}, 1)) AS t
        FROM range(CAST({1} AS BIGINT) * {2}) AS rows(i))
    SELECT date '{0}' + day::INTEGER AS date,
        make_timestamp(epoch_us((date '{0}' + day::INTEGER)::TIMESTAMP) + t) AS time,
        symbol(k) AS sym,
        (mid(k, day, t) + (pick(i, 3, 2) * 2 - 1) * spread(i)) / 100.0::DOUBLE AS price,
        (CASE WHEN i % {4} = {4} // 2 THEN 50100 + pick(i, 4, 500) * 100
              ELSE (1 + pick(i, 4, 40)) * 100 // (1 + pick(i, 6, 3)) END)::INTEGER AS size,
        market(pick(i, 7, 4)) AS exchange
    FROM numbered
) TO '{3}/trade' (FORMAT parquet, PARTITION_BY (date));
)";

constexpr std::string_view kQuotes = R"(
COPY (
    WITH numbered AS (
        SELECT i, i // {2} AS day, pick(i, 11, 10) AS k,
            34200000000 + (i % {2}) * (23400000000 // {2})
                        + pick(i, 12, greatest(23400000000 // {2}, 1)) AS t
        FROM range(CAST({1} AS BIGINT) * {2}) AS rows(i))
    SELECT date '{0}' + day::INTEGER AS date,
        make_timestamp(epoch_us((date '{0}' + day::INTEGER)::TIMESTAMP) + t) AS time,
        symbol(k) AS sym,
        (mid(k, day, t) - spread(i)) / 100.0::DOUBLE AS bid,
        (mid(k, day, t) + spread(i)) / 100.0::DOUBLE AS ask,
        ((1 + pick(i, 13, 50)) * 100)::INTEGER AS bsize,
        ((1 + pick(i, 14, 50)) * 100)::INTEGER AS asize
    FROM numbered
) TO '{3}/quote' (FORMAT parquet, PARTITION_BY (date));
)";

// A text to stand inside single quotes.
std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        result += c;
        if (c == '\'') result += c;
    }
    return result;
}

// A dozen block trades in all, whatever the size of the data.
constexpr std::uint64_t kBlockTrades = 12;

}  // namespace

std::string tick_script(const TickOptions& options, const std::filesystem::path& folder) {
    const std::string path = escaped(folder.string());
    const std::string day = escaped(options.first_day);
    const std::uint64_t trades = options.trades_per_day;
    const std::uint64_t stride = std::max<std::uint64_t>(options.days * trades / kBlockTrades, 1);
    std::string script(kMacros);
    script += fmt::format(kTrades, day, options.days, trades, path, stride);
    script += fmt::format(kQuotes, day, options.days, trades * options.quotes_per_trade, path);
    return script;
}

}  // namespace shortq::ticks
