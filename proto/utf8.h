// proto/utf8.h: whether bytes are well-formed UTF-8. Used on both ends, not part of the public API.
// Source: The Unicode Standard, table 3-7 "Well-Formed UTF-8 Byte Sequences".
#pragma once

#include <string_view>

namespace shortq::proto {

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace shortq::proto
