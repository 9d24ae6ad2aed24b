// tools/cli/json_text.h: texts, numbers and bytes as JSON.
#pragma once

#include <string>
#include <string_view>

namespace shortq::cli {

// In quotes; bytes that are no UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);
// Digit for digit. NaN and the infinities, which JSON does not have, are null.
void append_json_number(std::string& out, std::string_view text);
// What is JSON already, on one line; a string if it is not.
void append_json_document(std::string& out, std::string_view text);
// In quotes, base64 with padding (RFC 4648, section 4).
void append_json_bytes(std::string& out, std::string_view bytes);

}  // namespace shortq::cli
