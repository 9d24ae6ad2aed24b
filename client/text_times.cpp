#include "client/text_times.h"

#include <limits>

namespace shortq::detail {
namespace {

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;

void append_padded(std::string& out, std::uint64_t value, std::size_t width) {
    const auto digits = std::to_string(value);
    if (digits.size() < width) out.append(width - digits.size(), '0');
    out += digits;
}

std::int64_t floor_div(std::int64_t value, std::int64_t by) {
    return value / by - (value % by < 0 ? 1 : 0);
}

struct CivilDate {
    std::int64_t year;
    unsigned month;
    unsigned day;
};

// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days; std::chrono::year
// ends at 32767, DuckDB's dates do not.
CivilDate civil_from_days(std::int64_t days) {
    days += 719'468;
    const std::int64_t era = floor_div(days, 146'097);
    const auto day_of_era = static_cast<unsigned>(days - era * 146'097);
    const unsigned year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
    const unsigned day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const unsigned shifted = (5 * day_of_year + 2) / 153;  // Months counted from March.
    const unsigned month = shifted < 10 ? shifted + 3 : shifted - 9;
    return {static_cast<std::int64_t>(year_of_era) + era * 400 + (month <= 2 ? 1 : 0), month,
            day_of_year - (153 * shifted + 2) / 5 + 1};
}

void append_civil(std::string& out, std::int64_t days) {
    const auto date = civil_from_days(days);
    const bool before_christ = date.year <= 0;
    append_padded(out, static_cast<std::uint64_t>(before_christ ? 1 - date.year : date.year), 4);
    out += '-';
    append_padded(out, date.month, 2);
    out += '-';
    append_padded(out, date.day, 2);
    if (before_christ) out += " (BC)";
}

// Whether `value` stands for one of the two infinities; prints it if so.
template <class T>
bool append_infinity(std::string& out, T value) {
    if (value != std::numeric_limits<T>::max() && value != -std::numeric_limits<T>::max()) {
        return false;
    }
    out += value > 0 ? "infinity" : "-infinity";
    return true;
}

std::size_t digits_of(std::int64_t per_second) {
    std::size_t digits = 0;
    for (; per_second > 1; per_second /= 10) ++digits;
    return digits;
}

void append_count(std::string& out, std::int32_t count, const char* unit) {
    if (count == 0) return;
    if (!out.empty()) out += ' ';
    out += std::to_string(count);
    out += ' ';
    out += unit;
    if (count != 1 && count != -1) out += 's';
}

// The one number without a counterpart is moved by a nanosecond.
std::int64_t absolute(std::int64_t value) {
    return value < 0 ? -(value + (value == std::numeric_limits<std::int64_t>::min() ? 1 : 0))
                     : value;
}

}  // namespace

void append_date(std::string& out, std::int32_t days) {
    if (!append_infinity(out, days)) append_civil(out, days);
}

void append_time(std::string& out, std::int64_t units, std::int64_t per_second) {
    const auto seconds = static_cast<std::uint64_t>(units / per_second);
    append_padded(out, seconds / 3600, 2);
    out += ':';
    append_padded(out, seconds / 60 % 60, 2);
    out += ':';
    append_padded(out, seconds % 60, 2);
    const auto fraction = static_cast<std::uint64_t>(units % per_second);
    if (fraction == 0) return;
    out += '.';
    append_padded(out, fraction, digits_of(per_second));
    while (out.back() == '0') out.pop_back();
}

void append_timestamp(std::string& out, std::int64_t units, std::int64_t per_second, bool zoned) {
    if (append_infinity(out, units)) return;
    const std::int64_t per_day = kSecondsPerDay * per_second;
    const std::int64_t days = floor_div(units, per_day);
    append_civil(out, days);
    out += ' ';
    append_time(out, units - days * per_day, per_second);
    if (zoned) out += "+00";
}

void append_interval(std::string& out, const Interval& interval) {
    std::string text;
    append_count(text, interval.months / 12, "year");
    append_count(text, interval.months % 12, "month");
    append_count(text, interval.days, "day");
    if (interval.nanoseconds != 0 || text.empty()) {
        if (!text.empty()) text += ' ';
        if (interval.nanoseconds < 0) text += '-';
        append_time(text, absolute(interval.nanoseconds), kNanosPerSecond);
    }
    out += text;
}

}  // namespace shortq::detail
