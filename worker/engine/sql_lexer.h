// worker/engine/sql_lexer.h: cuts SQL text into tokens and statements as DuckDB's parser does, so
// that the gate judges what will run and a script's errors name their line. Pure code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shortq::engine {

enum class TokenKind : std::uint8_t {
    kWord,        // Keyword or plain identifier.
    kQuotedWord,  // "identifier", quotes included.
    kString,      // '..', E'..', X'..', $tag$..$tag$, with prefix and quotes.
    kNumber,
    kParameter,  // ?, $1, $name
    kSymbol,     // Any other single byte.
};

// Small, for a query may be megabytes of them.
struct Token {
    const char* begin = nullptr;  // Points into the tokenized text.
    std::uint32_t length = 0;
    TokenKind kind = TokenKind::kSymbol;

    [[nodiscard]] std::string_view text() const { return {begin, length}; }
};

// Text between two top-level semicolons, from its first token to its last.
struct Statement {
    std::string_view text;
    std::size_t line = 1;       // Of its first token.
    std::vector<Token> tokens;  // Never empty; no comments, no semicolon.
};

// Splits `sql` into its statements; those without a token (blank, only comments) are left out.
// Pre: less than 4 GiB. Unterminated quotes and comments reach to the end of the text; the parser
// reports them. Owns: the result points into `sql`.
[[nodiscard]] std::vector<Statement> split_statements(std::string_view sql);

// `sql` with each Unicode space between its tokens made a plain one; nothing if there is none.
// DuckDB does the same, but loses count of dollar quotes, and then takes such a space for a part of
// a name: what has been judged must be what it sees.
[[nodiscard]] std::optional<std::string> with_plain_spaces(std::string_view sql);

// ASCII lower case, as catalogs and keywords compare names.
[[nodiscard]] std::string lower(std::string_view text);

// A word token as the catalog knows it: lower case, quotes and doubled quotes removed.
[[nodiscard]] std::string word_of(const Token& token);

// "name" with quotes doubled, safe to put into a statement; and the same for 'text'.
[[nodiscard]] std::string quote_identifier(std::string_view name);
[[nodiscard]] std::string quote_literal(std::string_view text);

}  // namespace shortq::engine
