// proto/kdb/query.h: what a kdb+ client asks for: SQL text and the parameters of the statement.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "proto/error.h"
#include "proto/kdb/types.h"
#include "proto/value.h"

namespace shortq::kdb {

struct Query {
    std::string_view text;  // UTF-8, inside the body that was read.
    Parameters parameters;  // All positional.

    // Nothing but white space, and no parameters: a q process does nothing and answers (::). h"" is
    // how its users wait until what they have sent before has arrived.
    [[nodiscard]] bool is_blank() const;
};

// Reads the body of a message as a query:
//   - a char vector, or a char atom (qPython's texts of one character);
//   - a list that begins with one of those or a symbol: the rest are the parameters, in order. A
//     general list as the only one of them holds the parameters (KX's JDBC driver);
//   - (".o.ex"; sql...) and (function; ".o.ex"; sql...): what KX's JDBC driver puts around SQL.
// Parameters are atoms, char vectors (VARCHAR) and byte vectors (BLOB). Nulls, (::) among them,
// become NULL, but an empty symbol is an empty text and a blank char a blank. Infinite dates and
// timestamps stay infinite. A timestamp with nanoseconds below a microsecond is a text that casts
// to TIMESTAMP_NS. A month is its first day, a guid its text; times of day and timespans are texts
// that cast to TIME and INTERVAL: "01:02:03.004".
// Returns nothing for an error object: clients send one when a message puzzles them; ignore it.
// Errors: kBadRequest: bad bytes, or not one of the above: names the kdb+ type and says what is
//         accepted. kTooLarge: over kParametersMax parameters. `body` is untrusted.
[[nodiscard]] Result<std::optional<Query>> read_query(std::span<const std::byte> body,
                                                      ByteOrder order);

}  // namespace shortq::kdb
