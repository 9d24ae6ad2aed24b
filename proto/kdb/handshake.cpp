#include "proto/kdb/handshake.h"

#include <algorithm>

#include "proto/kdb/types.h"
#include "proto/utf8.h"

namespace shortq::kdb {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

tl::unexpected<Error> refused(std::string why) {
    return fail(ErrorCode::kBadRequest, "not a kdb+ handshake: " + std::move(why));
}

Result<std::optional<Handshake>> taken_apart(std::string text) {
    Handshake handshake;
    if (!text.empty() && is_control(text.back())) {
        handshake.capability = static_cast<std::uint8_t>(text.back());
        text.pop_back();
    }
    if (std::ranges::any_of(text, is_control)) return refused("control characters in its text");
    const auto colon = std::min(text.find(':'), text.size());
    handshake.user = text.substr(0, colon);
    if (colon < text.size()) handshake.password = text.substr(colon + 1);
    if (!proto::is_utf8(handshake.user)) return refused("the user is not UTF-8");
    return handshake;
}

}  // namespace

Result<std::optional<Handshake>> HandshakeReader::read(std::span<const std::byte>& input) {
    while (!input.empty()) {
        const char c = static_cast<char>(input.front());
        input = input.subspan(1);
        if (c == 0) return taken_apart(std::move(text_));
        if (!text_.empty() && is_control(text_.back()))
            return refused("control characters in its text");
        if (text_.size() + 1 == kHandshakeBytesMax)
            return refused("over " + std::to_string(kHandshakeBytesMax) + " bytes");
        text_ += c;
    }
    return std::nullopt;
}

}  // namespace shortq::kdb
