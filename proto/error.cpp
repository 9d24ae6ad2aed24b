// proto/error.cpp: names and numbers of the error codes.
#include "proto/error.h"

#include <array>
#include <cstddef>

namespace shortq {
namespace {

// By number; number 0 is no code.
constexpr std::array<std::string_view, 16> kNames = {
    "unknown",         "bad_request", "query_error",     "not_found",   "read_only", "timeout",
    "cancelled",       "overloaded",  "worker_lost",     "unavailable", "denied",    "too_large",
    "unknown_service", "internal",    "unknown_session", "connection"};
static_assert(kNames.size() == static_cast<std::size_t>(ErrorCode::kConnection) + 1);

}  // namespace

std::string_view name_of(ErrorCode code) noexcept {
    const auto number = static_cast<std::size_t>(code);
    return number < kNames.size() ? kNames[number] : kNames[0];
}

std::optional<ErrorCode> error_code_from(std::uint64_t number) noexcept {
    if (number == 0 || number >= kNames.size()) {
        return std::nullopt;
    }
    return static_cast<ErrorCode>(number);
}

}  // namespace shortq
