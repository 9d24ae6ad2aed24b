#include "tools/cli/highlight.h"

#include <algorithm>
#include <array>
#include <string>

#include "tools/cli/lexer.h"

namespace shortq::cli {
namespace {

// Words that are rarely names. In order.
constexpr auto kKeywords = std::to_array<std::string_view>(
    {"all",       "alter",     "analyze",    "and",          "anti",      "any",     "as",
     "asc",       "asof",      "attach",     "between",      "by",        "call",    "case",
     "cast",      "copy",      "create",     "cross",        "cube",      "current", "default",
     "delete",    "desc",      "describe",   "distinct",     "drop",      "else",    "end",
     "escape",    "except",    "exclude",    "execute",      "exists",    "explain", "false",
     "filter",    "following", "for",        "from",         "full",      "group",   "grouping",
     "having",    "if",        "ilike",      "in",           "inner",     "insert",  "intersect",
     "interval",  "into",      "is",         "join",         "lambda",    "lateral", "left",
     "like",      "limit",     "macro",      "materialized", "natural",   "not",     "null",
     "nulls",     "offset",    "on",         "or",           "order",     "outer",   "over",
     "partition", "pivot",     "positional", "pragma",       "preceding", "prepare", "qualify",
     "recursive", "replace",   "reset",      "returning",    "right",     "rollup",  "rows",
     "sample",    "select",    "semi",       "set",          "sets",      "show",    "similar",
     "some",      "summarize", "table",      "temp",         "then",      "to",      "true",
     "try_cast",  "unbounded", "union",      "unnest",       "unpivot",   "update",  "using",
     "values",    "variable",  "view",       "when",         "where",     "window",  "with",
     "within"});
static_assert(std::ranges::is_sorted(kKeywords));

// Before a bracket, these are functions.
constexpr auto kAlsoFunctions =
    std::to_array<std::string_view>({"if", "left", "replace", "right", "unnest"});

bool is_keyword(std::string_view word, bool before_bracket) {
    const auto name = lower(word);
    if (before_bracket && std::ranges::find(kAlsoFunctions, name) != kAlsoFunctions.end()) {
        return false;
    }
    return std::ranges::binary_search(kKeywords, std::string_view(name));
}

Style style_of(const Token& token, std::string_view text) {
    switch (token.kind) {
        case TokenKind::kComment:
            return Style::kComment;
        case TokenKind::kString:
            return Style::kString;
        case TokenKind::kNumber:
            return Style::kNumber;
        case TokenKind::kWord: {
            // a.select is a name.
            const bool member = token.begin > 0 && text[token.begin - 1] == '.';
            const bool before_bracket = text.substr(token.end).starts_with('(');
            return !member && is_keyword(token.in(text), before_bracket) ? Style::kKeyword
                                                                         : Style::kPlain;
        }
        default:
            return Style::kPlain;
    }
}

}  // namespace

std::vector<Style> highlight(std::string_view before, std::string_view line) {
    std::vector<Style> styles(line.size(), Style::kPlain);
    if (before.empty() && line.starts_with('\\')) {
        const auto end = std::min(line.find(' '), line.size());
        std::fill_n(styles.begin(), end, Style::kCommand);
        return styles;
    }
    const auto text = std::string(before) + std::string(line);
    for (const auto& token : tokenize(text)) {
        const auto style = style_of(token, text);
        for (auto at = std::max(token.begin, before.size()); at < token.end; ++at) {
            styles[at - before.size()] = style;
        }
    }
    return styles;
}

std::string_view sequence_of(Style style) noexcept {
    switch (style) {
        case Style::kKeyword:
            return "\x1b[1;34m";
        case Style::kString:
            return "\x1b[32m";
        case Style::kNumber:
            return "\x1b[36m";
        case Style::kComment:
            return "\x1b[90m";
        case Style::kCommand:
            return "\x1b[35m";
        case Style::kPlain:
            break;
    }
    return "\x1b[0m";
}

}  // namespace shortq::cli
