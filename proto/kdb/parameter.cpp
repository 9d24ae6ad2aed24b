#include "proto/kdb/parameter.h"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "proto/utf8.h"

namespace shortq::kdb {
namespace {

using shortq::Value;
using MaybeValue = std::optional<Value>;  // Nothing: kdb+ can hold it, a parameter cannot.

constexpr std::int64_t kMicrosPerSecond = 1'000'000;
constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;
constexpr std::int64_t kEpochMicros = kEpochSeconds * kMicrosPerSecond;

std::int64_t floor_div(std::int64_t value, std::int64_t by) {
    return value / by - (value % by < 0 ? 1 : 0);
}

// ---- dates and timestamps: infinities are the greatest number and its negative on both sides ----

MaybeValue date_of(std::int32_t days) {
    if (days == kNullInt) return Null{};
    if (days == kInfiniteInt || days == -kInfiniteInt) return Date{days};
    if (days > kInfiniteInt - kEpochDays - 1) return std::nullopt;
    return Date{days + kEpochDays};
}

MaybeValue first_of_month(std::int32_t months) {
    if (months == kNullInt) return Null{};
    if (months == kInfiniteInt || months == -kInfiniteInt) return Date{months};
    const auto year = floor_div(months, 12) + 2000;
    if (year < static_cast<int>(std::chrono::year::min()) ||
        year > static_cast<int>(std::chrono::year::max()))
        return std::nullopt;
    const auto month = static_cast<unsigned>(months - (year - 2000) * 12) + 1;
    const std::chrono::sys_days day =
        std::chrono::year(static_cast<int>(year)) / std::chrono::month(month) / std::chrono::day(1);
    return Date{static_cast<std::int32_t>(day.time_since_epoch().count())};
}

void append_digits(std::string& out, std::int64_t value, std::size_t width) {
    const std::string digits = std::to_string(value);
    if (digits.size() < width) out.append(width - digits.size(), '0');
    out += digits;
}

// "2024-01-08 09:30:00.000000123"
std::string nanosecond_text(std::int64_t nanos) {
    const auto seconds = floor_div(nanos, kNanosPerSecond);
    const auto day = floor_div(seconds, kSecondsPerDay);
    const auto of_day = seconds - day * kSecondsPerDay;
    const std::chrono::year_month_day date{
        std::chrono::sys_days{std::chrono::days{day + kEpochDays}}};
    std::string text = std::to_string(static_cast<int>(date.year()));
    const auto append = [&](char before, std::int64_t value, std::size_t width) {
        text += before;
        append_digits(text, value, width);
    };
    append('-', static_cast<unsigned>(date.month()), 2);
    append('-', static_cast<unsigned>(date.day()), 2);
    append(' ', of_day / 3600, 2);
    append(':', of_day / 60 % 60, 2);
    append(':', of_day % 60, 2);
    const auto fraction = nanos % kNanosPerSecond;
    append('.', fraction < 0 ? fraction + kNanosPerSecond : fraction, 9);
    return text;
}

// A parameter of the engine has microseconds. A text takes the type that it is compared with.
MaybeValue timestamp_of(std::int64_t nanos) {
    if (nanos == kNullLong) return Null{};
    if (nanos == kInfiniteLong || nanos == -kInfiniteLong) return Timestamp{nanos};
    if (nanos % 1000 != 0) return nanosecond_text(nanos);
    return Timestamp{nanos / 1000 + kEpochMicros};
}

MaybeValue timestamp_of_days(double days) {
    if (std::isnan(days)) return Null{};
    if (std::isinf(days)) return Timestamp{days > 0 ? kInfiniteLong : -kInfiniteLong};
    const double micros = std::round(days * static_cast<double>(kSecondsPerDay * kMicrosPerSecond));
    if (std::fabs(micros) > 8e18) return std::nullopt;
    return Timestamp{static_cast<std::int64_t>(micros) + kEpochMicros};
}

// ---- times: texts that cast to TIME, or to INTERVAL if they are none of a day ----

// Pre: not the least number.
MaybeValue time_of(std::int64_t nanos) {
    std::string text = nanos < 0 ? "-" : "";
    if (nanos < 0) nanos = -nanos;
    const std::int64_t seconds = nanos / kNanosPerSecond;
    append_digits(text, seconds / 3600, 2);
    text += ':';
    append_digits(text, seconds / 60 % 60, 2);
    text += ':';
    append_digits(text, seconds % 60, 2);
    if (const std::int64_t fraction = nanos % kNanosPerSecond; fraction != 0) {
        text += '.';
        append_digits(text, fraction, 9);
        while (text.back() == '0') text.pop_back();
    }
    return text;
}

// A count of `unit` nanoseconds. There is no infinite time of day.
MaybeValue time_of(std::int32_t count, std::int64_t unit) {
    if (count == kNullInt) return Null{};
    if (count == kInfiniteInt || count == -kInfiniteInt) return std::nullopt;
    std::int64_t nanos = 0;
    if (__builtin_mul_overflow(std::int64_t{count}, unit, &nanos)) return std::nullopt;
    return time_of(nanos);
}

MaybeValue timespan_of(std::int64_t nanos) {
    if (nanos == kNullLong) return Null{};
    if (nanos == kInfiniteLong || nanos == -kInfiniteLong) return std::nullopt;
    return time_of(nanos);
}

// ---- the rest ----

template <class T>
MaybeValue whole(T value) {
    if (value == std::numeric_limits<T>::min()) return Null{};
    return std::int64_t{value};
}

MaybeValue real(double value) {
    if (std::isnan(value)) return Null{};
    return value;
}

MaybeValue text(std::string_view text) {
    if (!proto::is_utf8(text)) return std::nullopt;
    return std::string(text);
}

MaybeValue guid_text(std::span<const std::byte> bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    bool any = false;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        const auto byte = std::to_integer<unsigned>(bytes[i]);
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 15U];
        any = any || byte != 0;
    }
    return any ? MaybeValue(std::move(text)) : Null{};
}

std::string_view as_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// What became of an object.
struct Taken {
    bool complete = false;  // Else the bytes end before it does.
    MaybeValue value{};
};

template <class T, class Convert>
Taken take(ByteReader& reader, Convert convert) {
    T raw{};
    if (!reader.number(raw)) return {};
    return {true, convert(raw)};
}

Taken take_guid(ByteReader& reader) {
    std::span<const std::byte> bytes;
    if (!reader.items(1, sizeof(std::array<std::byte, 16>), bytes)) return {};
    return {true, guid_text(bytes)};
}

Taken take_symbol(ByteReader& reader) {
    std::string_view symbol;
    if (!reader.symbol(symbol)) return {};
    return {true, text(symbol)};
}

// A char vector or a byte vector.
Taken take_bytes(ByteReader& reader, bool is_text) {
    std::uint8_t attribute = 0;
    std::size_t count = 0;
    std::span<const std::byte> bytes;
    if (!reader.vector_head(attribute, count) || !reader.items(count, 1, bytes)) return {};
    if (is_text) return {true, text(as_text(bytes))};
    return {true, Blob{std::string(as_text(bytes))}};
}

Taken take_atom(ByteReader& reader, Type type) {
    const auto times = [](std::int64_t unit) {
        return [unit](std::int32_t count) { return time_of(count, unit); };
    };
    switch (type) {
        case Type::kBoolean:
            return take<std::uint8_t>(reader, [](auto raw) { return MaybeValue(raw != 0); });
        case Type::kGuid:
            return take_guid(reader);
        case Type::kByte:
            return take<std::uint8_t>(reader,
                                      [](auto raw) { return MaybeValue(std::int64_t{raw}); });
        case Type::kShort:
            return take<std::int16_t>(reader, whole<std::int16_t>);
        case Type::kInt:
            return take<std::int32_t>(reader, whole<std::int32_t>);
        case Type::kLong:
            return take<std::int64_t>(reader, whole<std::int64_t>);
        case Type::kReal:
            return take<float>(reader, [](float raw) { return real(raw); });
        case Type::kFloat:
            return take<double>(reader, real);
        case Type::kChar:
            return take<char>(reader, [](char c) { return text({&c, 1}); });
        case Type::kSymbol:
            return take_symbol(reader);
        case Type::kTimestamp:
            return take<std::int64_t>(reader, timestamp_of);
        case Type::kMonth:
            return take<std::int32_t>(reader, first_of_month);
        case Type::kDate:
            return take<std::int32_t>(reader, date_of);
        case Type::kDatetime:
            return take<double>(reader, timestamp_of_days);
        case Type::kTimespan:
            return take<std::int64_t>(reader, timespan_of);
        case Type::kMinute:
            return take<std::int32_t>(reader, times(60 * kNanosPerSecond));
        case Type::kSecond:
            return take<std::int32_t>(reader, times(kNanosPerSecond));
        case Type::kTime:
            return take<std::int32_t>(reader, times(kNanosPerSecond / 1000));
        default:
            return {true, std::nullopt};
    }
}

// The type has been taken.
Taken take_object(ByteReader& reader, std::int8_t type) {
    if (type < 0 && type != static_cast<std::int8_t>(Type::kError))
        return take_atom(reader, static_cast<Type>(-type));
    if (type == static_cast<std::int8_t>(Type::kChar)) return take_bytes(reader, true);
    if (type == static_cast<std::int8_t>(Type::kByte)) return take_bytes(reader, false);
    if (type != static_cast<std::int8_t>(Type::kUnary)) return {true, std::nullopt};
    return take<std::uint8_t>(
        reader, [](auto raw) { return raw == 0 ? MaybeValue(Null{}) : std::nullopt; });
}

bool is_text(std::int8_t type) {
    return type == static_cast<std::int8_t>(Type::kChar) ||
           type == -static_cast<std::int8_t>(Type::kChar) ||
           type == -static_cast<std::int8_t>(Type::kSymbol);
}

std::string_view why_not(std::int8_t type) {
    if (is_text(type)) return "is not UTF-8";
    if (type < 0 && type >= -static_cast<std::int8_t>(Type::kTime))
        return "is out of the range of the engine's type";
    return "cannot be a statement's parameter: send atoms, char vectors or byte vectors";
}

}  // namespace

Result<Value> read_parameter(ByteReader& reader, std::size_t number) {
    std::int8_t type = 0;
    Taken taken;
    if (reader.number(type)) taken = take_object(reader, type);
    const std::string which = "parameter " + std::to_string(number);
    if (!taken.complete) {
        return fail(ErrorCode::kBadRequest,
                    "malformed kdb+ message: " + which + " is cut short or broken");
    }
    if (!taken.value) {
        return fail(ErrorCode::kBadRequest, which + ", of kdb+ type " + std::to_string(type) +
                                                " (" + name_of_type(type) + "), " +
                                                std::string(why_not(type)));
    }
    return std::move(*taken.value);
}

}  // namespace shortq::kdb
