#include "tools/cli/json_text.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace shortq::cli {
namespace {

bool is_plain(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
    if (std::ranges::all_of(text, is_plain)) {
        out.append(1, '"').append(text).append(1, '"');
        return;
    }
    out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void append_json_number(std::string& out, std::string_view text) {
    if (text.find_first_of("0123456789") == std::string_view::npos) {
        out += "null";
        return;
    }
    // The engine prints DECIMAL(2,2) as ".50"; JSON wants a digit before the point.
    if (text.starts_with('-')) {
        out += '-';
        text.remove_prefix(1);
    }
    if (text.starts_with('.')) out += '0';
    out += text;
}

void append_json_document(std::string& out, std::string_view text) {
    if (!nlohmann::json::accept(text)) {
        append_json_string(out, text);
        return;
    }
    // Inside its strings, line ends are escaped: these are between the values.
    for (const char c : text) out += c == '\n' || c == '\r' ? ' ' : c;
}

void append_json_bytes(std::string& out, std::string_view bytes) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    out += '"';
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const auto three = bytes.substr(at, 3);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            bits = bits << 8 | (i < three.size() ? static_cast<unsigned char>(three[i]) : 0U);
        }
        for (std::size_t i = 0; i < 4; ++i) {
            out += i > three.size() ? '=' : kDigits[bits >> (18 - 6 * i) & 63];
        }
    }
    out += '"';
}

}  // namespace shortq::cli
