// proto/kdb/leaf.h: single values of the engine as values of kdb+. Private to proto/kdb.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "proto/cells.h"
#include "proto/kdb/object.h"
#include "proto/kdb/types.h"

namespace shortq::kdb {

using shortq::detail::Int128;
using shortq::detail::UInt128;

inline constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
inline constexpr std::int64_t kNanosPerDay = 86'400 * kNanosPerSecond;

[[nodiscard]] inline bool is_valid(const Array& array, std::int64_t row) {
    return array.null_count == 0 || shortq::detail::bit_at(array.buffers[0], row);
}

// Whether `to` is the value. The greatest number and its negative are infinities on both sides, so
// nothing else may become one, nor the null between them.
[[nodiscard]] inline bool to_date(std::int32_t days, std::int32_t& to) {
    const bool infinite = days == kInfiniteInt || days == -kInfiniteInt;
    to = infinite ? days : static_cast<std::int32_t>(std::int64_t{days} - kEpochDays);
    return infinite || days > -kInfiniteInt + kEpochDays;
}

[[nodiscard]] inline bool to_timestamp(std::int64_t units, std::int64_t per_second,
                                       std::int64_t& to) {
    to = units;
    if (units == kInfiniteLong || units == -kInfiniteLong) return true;
    return !__builtin_sub_overflow(units, kEpochSeconds * per_second, &to) &&
           !__builtin_mul_overflow(to, kNanosPerSecond / per_second, &to) && to < kInfiniteLong &&
           to > -kInfiniteLong;
}

// Months, days, nanoseconds, as "tin" has them. Months have no fixed length.
struct Interval {
    std::int32_t months = 0;
    std::int32_t days = 0;
    std::int64_t nanos = 0;
};
[[nodiscard]] inline bool to_timespan(const Interval& interval, std::int64_t& to) {
    return !__builtin_mul_overflow(std::int64_t{interval.days}, kNanosPerDay, &to) &&
           !__builtin_add_overflow(to, interval.nanos, &to) && interval.months == 0 &&
           to < kInfiniteLong && to > -kInfiniteLong;
}

// Whether a long holds it, and not as its null.
[[nodiscard]] inline bool fits_long(std::uint64_t value) {
    return value <= static_cast<std::uint64_t>(kInfiniteLong);
}
[[nodiscard]] inline bool fits_long(Int128 value) {
    return value <= kInfiniteLong && value >= -kInfiniteLong;
}
[[nodiscard]] inline bool fits_long(UInt128 value) {
    return value <= static_cast<UInt128>(kInfiniteLong);
}

// value / 10^scale, rounded once.
[[nodiscard]] double decimal_to_double(Int128 value, int scale);

// "00112233-4455-6677-8899-aabbccddeeff"; nothing for other texts.
[[nodiscard]] std::optional<Guid> parse_guid(std::string_view text);

}  // namespace shortq::kdb
