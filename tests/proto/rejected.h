// tests/proto/rejected.h: one row of a table of bytes that a decoder refuses, and the check of it.
#pragma once

#include <gtest/gtest.h>

#include <ostream>

#include "proto/error.h"
#include "tests/proto/bytes.h"

namespace shortq::test {

inline constexpr auto kBad = ErrorCode::kBadRequest;
inline constexpr auto kLarge = ErrorCode::kTooLarge;

struct Rejected {
    const char* name;
    const char* hex;
    ErrorCode code;
    const char* message;
};

// Names instead of bytes in GoogleTest's output.
inline void PrintTo(const Rejected& rejected, std::ostream* out) { *out << rejected.name; }

// `decode` takes the bytes and returns a Result.
template <class Decode>
void expect_rejected(const Rejected& rejected, Decode decode) {
    const Bytes bytes = from_hex(rejected.hex);  // A decoded message may point into them.
    const auto decoded = decode(bytes);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, rejected.code);
    EXPECT_EQ(decoded.error().message, rejected.message);
}

}  // namespace shortq::test
