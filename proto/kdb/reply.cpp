#include "proto/kdb/reply.h"

#include <algorithm>
#include <string>

#include "proto/kdb/bytes.h"
#include "proto/kdb/message.h"
#include "proto/limits.h"

namespace shortq::kdb {

void append_nothing(Kind kind, std::vector<std::byte>& out) {
    append_header(kind, kHeaderBytes + 2, out);
    append_number(static_cast<std::int8_t>(Type::kUnary), ByteOrder::kLittle, out);
    append_number(std::uint8_t{0}, ByteOrder::kLittle, out);
}

void append_error(Kind kind, std::string_view text, std::vector<std::byte>& out) {
    const bool cut = text.size() > proto::kErrorTextBytesMax;
    const std::string_view dots = cut ? "..." : "";
    if (cut) text = text.substr(0, proto::kErrorTextBytesMax - dots.size());
    append_header(kind, kHeaderBytes + 1 + text.size() + dots.size() + 1, out);
    append_number(static_cast<std::int8_t>(Type::kError), ByteOrder::kLittle, out);
    const std::size_t begin = out.size();
    append_text(text, out);
    std::replace(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), std::byte{0},
                 std::byte{' '});
    append_text(dots, out);
    out.push_back(std::byte{0});
}

Error result_too_large(std::uint64_t rows, std::uint64_t bytes) {
    return Error{ErrorCode::kTooLarge,
                 "the result has " + std::to_string(rows) + " rows, a kdb+ message of " +
                     std::to_string(bytes) + " bytes; at most " + std::to_string(kMessageBytesMax) +
                     " can be sent: ask for fewer rows or columns",
                 {},
                 false};
}

}  // namespace shortq::kdb
