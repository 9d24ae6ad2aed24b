// proto/error.h: the project's error values: one list of codes, and Result<T>.
// The numbers and names are part of the wire format (PROTOCOL.md#errors).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace shortq {

// A code exists only because some caller acts differently on it. On the wire: append only, never
// renumber or reuse.
enum class ErrorCode : std::uint8_t {
    kBadRequest = 1,   // The caller's bytes or arguments are wrong. Fix the caller; do not retry.
    kQueryError = 2,   // The engine's verdict; its text is passed on whole. Do not retry.
    kNotFound = 3,     // The named request, worker or object does not exist. Do not retry.
    kReadOnly = 4,     // The statement would write, or change state. Do not retry.
    kTimeout = 5,      // The deadline passed; the query was interrupted. Retry with more time.
    kCancelled = 6,    // Somebody cancelled the request. Do not retry.
    kOverloaded = 7,   // Refused before any work began. Retry with backoff.
    kWorkerLost = 8,   // Its worker died: mid-stream (retry) or twice (do not); see `retryable`.
    kUnavailable = 9,  // No worker can answer, or the primary is going away. Retry later.
    kDenied = 10,      // Authentication or authorisation failed. Do not retry.
    kTooLarge = 11,    // Over a limit, which the message names. Do not retry.
    kUnknownService = 12,  // No such service. Do not retry.
    kInternal = 13,        // A fault of shortq or of the engine. Report it.
    kUnknownSession = 14,  // The primary does not know this session: say hello again, then resend.
    kConnection = 15,      // Client side only: no connection, or it broke with a sync request open.
};

// The wire, log and command-line name of a code: "query_error". Never empty.
[[nodiscard]] std::string_view name_of(ErrorCode code) noexcept;

// The code with that number, if this version knows it.
[[nodiscard]] std::optional<ErrorCode> error_code_from(std::uint64_t number) noexcept;

struct Error {
    ErrorCode code = ErrorCode::kInternal;
    std::string message;     // For people. Programs read only `code` and `retryable`.
    std::string where;       // The place: "worker 2", "startup.sql:14", "--port". May be empty.
    bool retryable = false;  // Whether the same request, sent again, may succeed.

    bool operator==(const Error&) const = default;
};

// Discarding a Result gives no warning, so every function that returns one is [[nodiscard]].
template <class T>
using Result = tl::expected<T, Error>;

// Whether errors of this code are worth retrying unless the sender says otherwise.
[[nodiscard]] constexpr bool retryable_by_default(ErrorCode code) noexcept {
    return code == ErrorCode::kTimeout || code == ErrorCode::kOverloaded ||
           code == ErrorCode::kUnavailable || code == ErrorCode::kUnknownSession;
}

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message,
                                                std::string where = {}) {
    return tl::unexpected<Error>(
        Error{code, std::move(message), std::move(where), retryable_by_default(code)});
}

}  // namespace shortq
