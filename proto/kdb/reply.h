// proto/kdb/reply.h: the replies that are not tables, whole messages each.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "proto/error.h"
#include "proto/kdb/types.h"

namespace shortq::kdb {

// (::): the statement gave no result.
void append_nothing(Kind kind, std::vector<std::byte>& out);

// An error object, which clients turn into an exception of their own. A NUL would end the text
// early, so a blank takes its place; texts over proto::kErrorTextBytesMax are cut and end in "...".
void append_error(Kind kind, std::string_view text, std::vector<std::byte>& out);

// What to answer with when a result of so many rows does not fit in one message (kTooLarge).
[[nodiscard]] Error result_too_large(std::uint64_t rows, std::uint64_t bytes);

}  // namespace shortq::kdb
