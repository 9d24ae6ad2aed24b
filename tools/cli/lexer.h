// tools/cli/lexer.h: cuts SQL into tokens: enough to find where statements end, what to colour, and
// what is being typed. It never fails: what it does not know is kOther.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shortq::cli {

enum class TokenKind : std::uint8_t {
    kSpace,
    kComment,     // To the end of the line (without it), or nested /* */.
    kWord,        // Keyword or name.
    kQuotedName,  // "..."
    kString,      // '...', e'...', $tag$...$tag$
    kNumber,
    kSemicolon,
    kOther,  // One character each.
};

struct Token {
    TokenKind kind = TokenKind::kOther;
    std::size_t begin = 0;
    std::size_t end = 0;
    bool closed = true;  // False: a quote or comment that the text ends in.

    [[nodiscard]] std::string_view in(std::string_view text) const {
        return text.substr(begin, end - begin);
    }
    [[nodiscard]] bool is_code() const {
        return kind != TokenKind::kSpace && kind != TokenKind::kComment &&
               kind != TokenKind::kSemicolon;
    }
};

// ASCII letters in lower case: how SQL compares words.
[[nodiscard]] std::string lower(std::string_view text);

// The tokens of `text`, one after the other without gaps.
[[nodiscard]] std::vector<Token> tokenize(std::string_view text);

}  // namespace shortq::cli
