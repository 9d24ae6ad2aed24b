#include "worker/engine/sql_lexer.h"

#include <algorithm>
#include <utility>

namespace shortq::engine {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}
bool is_word_part(char c) { return is_word_start(c) || is_digit(c) || c == '$'; }

// Length of the white space at the start of `text`; 0 if there is none. DuckDB turns Unicode spaces
// into plain ones before it parses; a name followed by one must not look like a longer name.
std::size_t space_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first == ' ' || (first >= '\t' && first <= '\r')) return 1;
    if (text.size() >= 2 && first == 0xC2 && byte(1) == 0xA0) return 2;
    if (text.size() < 3) return 0;
    const auto is = [&](unsigned a, unsigned b, unsigned low, unsigned high) {
        return first == a && byte(1) == b && byte(2) >= low && byte(2) <= high;
    };
    const bool space = is(0xE2, 0x80, 0x80, 0x8F) || is(0xE2, 0x80, 0xA8, 0xAF) ||
                       is(0xE2, 0x81, 0x9F, 0xA0) || is(0xE3, 0x80, 0x80, 0x80) ||
                       is(0xE1, 0x9A, 0x80, 0x80) || is(0xEF, 0xBB, 0xBF, 0xBF);
    return space ? 3 : 0;
}

class Lexer {
public:
    explicit Lexer(std::string_view sql) : sql_(sql) {}

    std::vector<Statement> run() {
        while (skip_blank(), at_ < sql_.size()) {
            if (sql_[at_] == ';') {
                ++at_;
                finish();
            } else {
                next();
            }
        }
        finish();
        return std::move(statements_);
    }

    // Begin and length of each white space of several bytes between the tokens. Call after run().
    const std::vector<std::pair<std::size_t, std::size_t>>& wide_spaces() const {
        return wide_spaces_;
    }

private:
    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < sql_.size() ? sql_[at_ + ahead] : '\0';
    }

    void skip_blank() {
        while (at_ < sql_.size()) {
            if (const std::size_t space = space_length(sql_.substr(at_)); space > 0) {
                if (space > 1) wide_spaces_.emplace_back(at_, space);
                advance(space);
            } else if (peek() == '-' && peek(1) == '-') {
                const std::size_t end = sql_.find_first_of("\r\n", at_);
                advance((end == std::string_view::npos ? sql_.size() : end) - at_);
            } else if (peek() == '/' && peek(1) == '*') {
                skip_block_comment();
            } else {
                return;
            }
        }
    }

    void skip_block_comment() {  // They nest.
        std::size_t depth = 0;
        do {
            if (peek() == '/' && peek(1) == '*') {
                ++depth;
                advance(2);
            } else if (peek() == '*' && peek(1) == '/') {
                --depth;
                advance(2);
            } else {
                advance(1);
            }
        } while (depth > 0 && at_ < sql_.size());
    }

    void advance(std::size_t bytes) {
        const std::string_view skipped = sql_.substr(at_, bytes);
        line_ += static_cast<std::size_t>(std::ranges::count(skipped, '\n'));
        at_ = std::min(at_ + bytes, sql_.size());
    }

    void take(TokenKind kind, std::size_t bytes) {
        const std::string_view text = sql_.substr(at_, bytes);
        if (tokens_.empty()) {
            start_ = at_;
            start_line_ = line_;
        }
        tokens_.push_back({text.data(), static_cast<std::uint32_t>(text.size()), kind});
        advance(text.size());
        end_ = at_;
    }

    void next() {
        const char c = peek();
        if (c == '\'') return take(TokenKind::kString, quoted_length(0, '\'', false));
        if (c == '"') return take(TokenKind::kQuotedWord, quoted_length(0, '"', false));
        if (peek(1) == '\'' && std::string_view("eE").find(c) != std::string_view::npos) {
            return take(TokenKind::kString, quoted_length(1, '\'', true));
        }
        if (peek(1) == '\'' && std::string_view("xXbBnN").find(c) != std::string_view::npos) {
            return take(TokenKind::kString, quoted_length(1, '\'', false));
        }
        if (c == '$') return take_dollar();
        if (c == '?') return take(TokenKind::kParameter, 1 + digits_at(1));
        if (is_word_start(c)) return take(TokenKind::kWord, word_length());
        if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
            return take(TokenKind::kNumber, number_length());
        }
        take(TokenKind::kSymbol, 1);
    }

    std::size_t word_length() const {
        std::size_t n = 1;
        while (at_ + n < sql_.size() && is_word_part(sql_[at_ + n]) &&
               space_length(sql_.substr(at_ + n)) == 0) {
            ++n;
        }
        return n;
    }

    std::size_t digits_at(std::size_t from) const {
        std::size_t n = 0;
        while (is_digit(peek(from + n))) ++n;
        return n;
    }

    // Digits with `_` and points, and an exponent. Other letters after them start a word (0x1f is 0
    // and x1f): a function name glued to a number must not hide in it.
    std::size_t number_length() const {
        const auto skip_digits = [this](std::size_t n, bool points) {
            while (is_digit(peek(n)) || (points && peek(n) == '.') ||
                   (peek(n) == '_' && is_digit(peek(n + 1)))) {
                ++n;
            }
            return n;
        };
        const std::size_t n = skip_digits(1, true);
        const std::size_t sign = peek(n + 1) == '+' || peek(n + 1) == '-' ? 1 : 0;
        const bool exponent = (peek(n) == 'e' || peek(n) == 'E') && is_digit(peek(n + 1 + sign));
        return exponent ? skip_digits(n + 2 + sign, false) : n;
    }

    // Bytes from at_ to behind the closing quote, which a doubled quote is not.
    std::size_t quoted_length(std::size_t prefix, char quote, bool backslashes) const {
        std::size_t i = at_ + prefix + 1;
        while (i < sql_.size()) {
            if (backslashes && sql_[i] == '\\') {
                i += 2;
            } else if (sql_[i] != quote) {
                ++i;
            } else if (i + 1 < sql_.size() && sql_[i + 1] == quote) {
                i += 2;
            } else {
                return i + 1 - at_;
            }
        }
        return sql_.size() - at_;
    }

    void take_dollar() {
        std::size_t n = 1;
        while ((is_word_start(peek(n)) || (n > 1 && is_digit(peek(n)))) &&
               space_length(sql_.substr(at_ + n)) == 0) {
            ++n;
        }
        if (peek(n) == '$') {
            const std::string_view tag = sql_.substr(at_, n + 1);
            const std::size_t close = sql_.find(tag, at_ + tag.size());
            const std::size_t end =
                close == std::string_view::npos ? sql_.size() : close + tag.size();
            return take(TokenKind::kString, end - at_);
        }
        if (n == 1) n += digits_at(1);
        take(n == 1 ? TokenKind::kSymbol : TokenKind::kParameter, n);
    }

    void finish() {
        if (tokens_.empty()) return;
        Statement statement;
        statement.text = sql_.substr(start_, end_ - start_);
        statement.line = start_line_;
        statement.tokens = std::move(tokens_);
        statements_.push_back(std::move(statement));
        tokens_.clear();
    }

    std::string_view sql_;
    std::size_t at_ = 0;
    std::size_t line_ = 1;
    std::size_t start_ = 0;
    std::size_t start_line_ = 1;
    std::size_t end_ = 0;
    std::vector<Token> tokens_;
    std::vector<Statement> statements_;
    std::vector<std::pair<std::size_t, std::size_t>> wide_spaces_;
};

std::string quote(std::string_view text, char mark) {
    std::string out(1, mark);
    for (const char c : text) {
        if (c == mark) out += mark;
        out += c;
    }
    return out += mark;
}

}  // namespace

std::vector<Statement> split_statements(std::string_view sql) { return Lexer(sql).run(); }

std::optional<std::string> with_plain_spaces(std::string_view sql) {
    if (std::ranges::none_of(sql, [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
        return std::nullopt;
    }
    Lexer lexer(sql);
    (void)lexer.run();
    if (lexer.wide_spaces().empty()) return std::nullopt;
    std::string out;
    std::size_t copied = 0;
    for (const auto& [begin, length] : lexer.wide_spaces()) {
        out.append(sql.substr(copied, begin - copied)).append(1, ' ');
        copied = begin + length;
    }
    return out.append(sql.substr(copied));
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

std::string word_of(const Token& token) {
    const std::string_view text = token.text();
    if (token.kind != TokenKind::kQuotedWord) return lower(text);
    std::string out;
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (text[i] == '"' && (++i >= text.size() || text[i] != '"')) break;
        out += text[i];
    }
    return lower(out);
}

std::string quote_identifier(std::string_view name) { return quote(name, '"'); }
std::string quote_literal(std::string_view text) { return quote(text, '\''); }

}  // namespace shortq::engine
