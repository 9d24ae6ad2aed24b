#include "tools/cli/lexer.h"

#include <algorithm>
#include <cctype>

namespace shortq::cli {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// Bytes of characters beyond ASCII belong to names.
bool begins_word(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}
bool continues_word(char c) { return begins_word(c) || is_digit(c) || c == '$'; }

class Lexer {
public:
    explicit Lexer(std::string_view text) : text_(text) {}

    std::vector<Token> run() {
        while (at_ < text_.size()) {
            const auto begin = at_;
            closed_ = true;
            const auto kind = step();
            tokens_.push_back({kind, begin, at_, closed_});
        }
        return std::move(tokens_);
    }

private:
    // Advances over one token.
    TokenKind step() {
        const char c = text_[at_];
        const auto two = text_.substr(at_, 2);
        if (is_space(c)) return skip_while(is_space), TokenKind::kSpace;
        if (two == "--") {
            at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
            return TokenKind::kComment;
        }
        if (two == "/*") return block_comment();
        if (c == '\'') return quoted(c, false), TokenKind::kString;
        if (c == '"') return quoted(c, false), TokenKind::kQuotedName;
        if ((two == "e'" || two == "E'")) {
            ++at_;
            return quoted('\'', true), TokenKind::kString;
        }
        if (begins_word(c)) return skip_while(continues_word), TokenKind::kWord;
        if (is_digit(c) || (c == '.' && two.size() == 2 && is_digit(two[1]))) return number();
        if (c == '$') return dollar();
        ++at_;
        return c == ';' ? TokenKind::kSemicolon : TokenKind::kOther;
    }

    template <class Predicate>
    void skip_while(Predicate holds) {
        while (at_ < text_.size() && holds(text_[at_])) ++at_;
    }

    // A doubled quote begins the next quoted token at once: close enough.
    void quoted(char quote, bool backslashes) {
        for (++at_; at_ < text_.size(); ++at_) {
            if (backslashes && text_[at_] == '\\') {
                ++at_;
            } else if (text_[at_] == quote) {
                ++at_;
                return;
            }
        }
        at_ = text_.size();
        closed_ = false;
    }

    TokenKind block_comment() {
        for (int depth = 0; at_ < text_.size();) {
            const auto two = text_.substr(at_, 2);
            if (two == "/*") ++depth;
            if (two == "*/") --depth;
            at_ += two == "/*" || two == "*/" ? 2 : 1;
            if (depth == 0) return TokenKind::kComment;
        }
        closed_ = false;
        return TokenKind::kComment;
    }

    // 12, 1_000, 1.5e-3, .5. Other letters begin a word: to the engine 0xff is 0 and xff.
    TokenKind number() {
        skip_digits(".");
        const auto rest = text_.substr(at_);
        const std::size_t sign = rest.size() > 1 && (rest[1] == '+' || rest[1] == '-') ? 1 : 0;
        const bool exponent = rest.size() > 1 + sign && (rest[0] == 'e' || rest[0] == 'E') &&
                              is_digit(rest[1 + sign]);
        if (exponent) {
            at_ += 1 + sign;
            skip_digits("");
        }
        return TokenKind::kNumber;
    }
    void skip_digits(std::string_view others) {
        for (; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            const bool joins = c == '_' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]);
            if (!is_digit(c) && !joins && others.find(c) == std::string_view::npos) return;
        }
    }

    // $tag$...$tag$, or a parameter such as $1.
    TokenKind dollar() {
        auto end = at_ + 1;
        if (end < text_.size() && is_digit(text_[end])) {
            ++at_;
            skip_while(is_digit);
            return TokenKind::kOther;
        }
        while (end < text_.size() && continues_word(text_[end]) && text_[end] != '$') ++end;
        if (end >= text_.size() || text_[end] != '$') {
            ++at_;
            return TokenKind::kOther;
        }
        const auto tag = text_.substr(at_, end + 1 - at_);
        const auto close = text_.find(tag, end + 1);
        closed_ = close != std::string_view::npos;
        at_ = closed_ ? close + tag.size() : text_.size();
        return TokenKind::kString;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool closed_ = true;
    std::vector<Token> tokens_;
};

}  // namespace

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
    }
    return out;
}

std::vector<Token> tokenize(std::string_view text) { return Lexer(text).run(); }

}  // namespace shortq::cli
