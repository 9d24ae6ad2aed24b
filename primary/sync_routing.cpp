// primary/sync_routing.cpp: looks at tokens only; the engine remains the judge of what a text
// means.
#include "primary/sync_routing.h"

#include <algorithm>
#include <string>
#include <vector>

#include "worker/engine/sql_lexer.h"
#include "worker/engine/statement_gate.h"

namespace shortq::primary {
namespace {

using engine::Token;
using engine::TokenKind;

bool is_word(const Token& token) {
    return token.kind == TokenKind::kWord || token.kind == TokenKind::kQuotedWord;
}

bool is_symbol(const Token& token, std::string_view symbol) {
    return token.kind == TokenKind::kSymbol && token.text() == symbol;
}

// "shortq_reload" of `call shortq_reload()`; empty: no such call.
std::string called(const std::vector<Token>& tokens) {
    if (tokens.size() < 2 || engine::lower(tokens[0].text()) != "call" || !is_word(tokens[1]))
        return {};
    auto name = engine::word_of(tokens[1]);
    return name.starts_with("shortq_") ? name : std::string();
}

// What follows `from` or `join`: a table of ours, or a sub-query, which has a `from` of its own.
bool reads_ours(const std::vector<Token>& tokens, std::size_t after) {
    if (after < tokens.size() && is_symbol(tokens[after], "(")) return true;
    return after + 2 < tokens.size() && engine::word_of(tokens[after]) == "shortq" &&
           is_symbol(tokens[after + 1], ".") && is_word(tokens[after + 2]);
}

bool only_looks(const std::vector<Token>& tokens) {
    const auto first = engine::lower(tokens.front().text());
    if (first != "select" && first != "from") return false;
    bool ours = false;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (!is_word(tokens[i])) continue;
        const auto word = engine::word_of(tokens[i]);
        // Session state lives in the main engine.
        if (word == "getvariable" || word == "current_setting" || word == "nextval") return false;
        if (word != "from" && word != "join") continue;
        if (!reads_ours(tokens, i + 1)) return false;
        ours = true;
    }
    return ours;
}

// A procedure's name, of `call shortq_cancel(1)`, or the function behind a view.
bool is_ours(std::string_view function) {
    return function.starts_with("shortq_") || function.starts_with("__shortq_");
}

// The object that DDL names stands before any definition of it.
bool changes_ours(const std::vector<Token>& tokens) {
    const auto first = engine::lower(tokens.front().text());
    if (first != "create" && first != "drop" && first != "alter" && first != "comment")
        return false;
    bool function = false;
    for (const auto& token : tokens) {
        if (is_symbol(token, "(")) return false;
        if (!is_word(token)) continue;
        const auto word = engine::word_of(token);
        if (word == "as") return false;
        if (word == "shortq" || (function && is_ours(word))) return true;
        function = function || word == "macro" || word == "function";
    }
    return false;
}

// Also what EXPLAIN ANALYZE runs and PREPARE keeps for later.
bool changes_ours_anywhere(const engine::Statement& statement) {
    if (changes_ours(statement.tokens)) return true;
    const auto judgement = engine::judge(statement, engine::Access::kSync);
    if (!judgement || judgement->inner.empty()) return false;  // If refused: by the engine, too.
    return std::ranges::any_of(engine::split_statements(judgement->inner), changes_ours_anywhere);
}

}  // namespace

LaneName lane_for(std::string_view text) {
    constexpr std::size_t kTextBytesMax = 16384;  // A longer text is not worth a look.
    if (text.size() > kTextBytesMax) return LaneName::kMain;
    const auto statements = engine::split_statements(text);
    if (statements.empty()) return LaneName::kMain;
    bool reload = false;
    for (const auto& statement : statements) {
        const auto call = called(statement.tokens);
        if (call.empty() && !only_looks(statement.tokens)) return LaneName::kMain;
        reload = reload || call == "shortq_reload";
    }
    return reload ? LaneName::kReload : LaneName::kLook;
}

Result<void> check_sync_text(std::string_view text) {
    for (const auto& statement : engine::split_statements(text)) {
        if (changes_ours_anywhere(statement))
            return fail(ErrorCode::kReadOnly,
                        "the schema shortq and functions called shortq_* belong to the primary; "
                        "use another name",
                        "primary");
    }
    return {};
}

std::string missing_table(std::string_view message) {
    constexpr std::string_view kBegin = "Catalog Error: Table with name ";
    constexpr std::string_view kEnd = " does not exist";
    if (!message.starts_with(kBegin)) return {};
    const auto end = message.find(kEnd, kBegin.size());
    if (end == std::string_view::npos) return {};
    return std::string(message.substr(kBegin.size(), end - kBegin.size()));
}

std::string exists_on_workers(std::string_view table) {
    return std::string(table) + " exists on the workers; send it as a deferred request";
}

std::string has_table_query(std::string_view table) {
    return "select 1 from (select table_name as name from duckdb_tables() union all "
           "select view_name from duckdb_views()) where lower(name) = lower(" +
           engine::quote_literal(table) + ") limit 1";
}

}  // namespace shortq::primary
