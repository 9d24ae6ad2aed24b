// Goal: error codes keep their numbers and names, which are part of the wire format.
// Method: both lists, written out once more.
#include "proto/error.h"

#include <gmock/gmock.h>

#include <limits>
#include <vector>

namespace shortq {
namespace {

TEST(ErrorTest, NumbersAndNamesAreFixed) {
    const std::vector<std::string_view> names = {
        "bad_request", "query_error",     "not_found",   "read_only",       "timeout",
        "cancelled",   "overloaded",      "worker_lost", "unavailable",     "denied",
        "too_large",   "unknown_service", "internal",    "unknown_session", "connection"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto code = error_code_from(i + 1);
        ASSERT_TRUE(code);
        EXPECT_EQ(static_cast<std::size_t>(*code), i + 1);
        EXPECT_EQ(name_of(*code), names[i]);
    }
}

TEST(ErrorTest, OtherNumbersAreNoCodes) {
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{16}, std::uint64_t{256 + 1},
                                       std::numeric_limits<std::uint64_t>::max()}) {
        EXPECT_FALSE(error_code_from(number)) << number;
    }
    EXPECT_EQ(name_of(static_cast<ErrorCode>(200)), "unknown");
}

TEST(ErrorTest, OnlyFaultsThatPassAreRetryableByDefault) {
    std::vector<ErrorCode> retryable;
    for (std::uint64_t number = 1; const auto code = error_code_from(number); ++number) {
        if (fail(*code, "").value().retryable) {
            retryable.push_back(*code);
        }
    }
    EXPECT_THAT(retryable,
                testing::ElementsAre(ErrorCode::kTimeout, ErrorCode::kOverloaded,
                                     ErrorCode::kUnavailable, ErrorCode::kUnknownSession));
}

}  // namespace
}  // namespace shortq
