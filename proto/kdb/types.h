// proto/kdb/types.h: the numbers of the kdb+ IPC format that everybody here uses: types, kinds of
// message, byte orders, nulls, limits.
// Source: code.kx.com/q/basics/datatypes, code.kx.com/q/basics/ipc, code.kx.com/q/kb/serialization.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace shortq::kdb {

// A vector's type; an atom's is the same number, negative.
enum class Type : std::int8_t {
    kError = -128,  // A text that ends in a NUL.
    kList = 0,      // A general list: each item has a type of its own.
    kBoolean = 1,
    kGuid = 2,
    kByte = 4,
    kShort = 5,
    kInt = 6,
    kLong = 7,
    kReal = 8,
    kFloat = 9,
    kChar = 10,
    kSymbol = 11,
    kTimestamp = 12,  // Nanoseconds since 2000-01-01, int64.
    kMonth = 13,      // Months since 2000-01, int32.
    kDate = 14,       // Days since 2000-01-01, int32.
    kDatetime = 15,   // Days since 2000-01-01, a float.
    kTimespan = 16,   // Nanoseconds, int64.
    kMinute = 17,     // int32
    kSecond = 18,     // int32
    kTime = 19,       // Milliseconds, int32.
    kTable = 98,
    kDictionary = 99,
    kLambda = 100,
    kUnary = 101,  // Number 0 is (::), the value of a statement that has none.
    kBinary = 102,
    kIterator = 103,
    kProjection = 104,
    kComposition = 105,
    kEach = 106,  // 106 to 111: a function that an iterator made of another.
    kEachLeft = 111,
    kSortedDictionary = 127,
};

// "long", "long vector", "table"; "type 44" for numbers that the format does not have.
[[nodiscard]] std::string name_of_type(std::int8_t type);

// The first byte of a message: the order of every number in it.
enum class ByteOrder : std::uint8_t { kBig = 0, kLittle = 1 };

enum class Kind : std::uint8_t { kAsync = 0, kSync = 1, kResponse = 2 };

inline constexpr std::int16_t kNullShort = std::numeric_limits<std::int16_t>::min();
inline constexpr std::int32_t kNullInt = std::numeric_limits<std::int32_t>::min();   // And dates.
inline constexpr std::int64_t kNullLong = std::numeric_limits<std::int64_t>::min();  // And times.
// 0W and 0Wp; the other one is its negative.
inline constexpr std::int32_t kInfiniteInt = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int64_t kInfiniteLong = std::numeric_limits<std::int64_t>::max();

// kdb+'s epoch, 2000-01-01, on the clock that begins in 1970.
inline constexpr std::int32_t kEpochDays = 10'957;
inline constexpr std::int64_t kEpochSeconds = std::int64_t{kEpochDays} * 86'400;

inline constexpr std::size_t kHeaderBytes = 8;
// A message's length is an int32: all that can be sent at capability 3.
inline constexpr std::uint64_t kMessageBytesMax = std::numeric_limits<std::int32_t>::max();
inline constexpr std::uint64_t kCountMax = std::numeric_limits<std::int32_t>::max();
// Only larger messages are worth compressing (code.kx.com/q/basics/ipc, "Compression").
inline constexpr std::size_t kCompressOverBytes = 2000;
inline constexpr std::size_t kHandshakeBytesMax = 1024;
inline constexpr std::size_t kDepthMax = 64;  // Of nested lists and dictionaries that come in.

}  // namespace shortq::kdb
