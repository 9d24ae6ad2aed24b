// client/text_times.h: dates, times and intervals as DuckDB prints them. Proleptic Gregorian
// calendar; no time zone rules: instants are printed in UTC.
#pragma once

#include <cstdint>
#include <string>

namespace shortq::detail {

// Days since 1970-01-01. "0044-03-15 (BC)", "infinity".
void append_date(std::string& out, std::int32_t days);

// A time of day that counts `per_second` units; trailing zeros of the fraction are left out.
void append_time(std::string& out, std::int64_t units, std::int64_t per_second);

// Units since 1970-01-01T00:00. `zoned` appends "+00".
void append_timestamp(std::string& out, std::int64_t units, std::int64_t per_second, bool zoned);

// "1 year 2 months 3 days 04:05:06.5"; "00:00:00" for nothing at all.
struct Interval {
    std::int32_t months = 0;
    std::int32_t days = 0;
    std::int64_t nanoseconds = 0;
};
void append_interval(std::string& out, const Interval& interval);

}  // namespace shortq::detail
