#include "tools/cli/statements.h"

#include "tools/cli/lexer.h"

namespace shortq::cli {
namespace {

std::string trimmed(std::string_view text) {
    constexpr std::string_view kSpaces = " \t\n\v\f\r";
    const auto first = text.find_first_not_of(kSpaces);
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(kSpaces) + 1 - first));
}

}  // namespace

Cut cut_statements(std::string_view script) {
    Cut cut;
    std::size_t begin = 0;
    bool has_code = false;
    bool open = false;  // Ends inside a comment that may go on.
    for (const auto& token : tokenize(script)) {
        if (token.kind == TokenKind::kSemicolon) {
            if (has_code)
                cut.statements.push_back(trimmed(script.substr(begin, token.begin - begin)));
            begin = token.end;
            has_code = false;
        }
        has_code = has_code || token.is_code();
        open = !token.closed;
    }
    if (has_code || open) cut.rest = trimmed(script.substr(begin));
    return cut;
}

std::vector<std::string> split_statements(std::string_view script) {
    auto cut = cut_statements(script);
    bool has_code = false;
    for (const auto& token : tokenize(cut.rest)) has_code = has_code || token.is_code();
    if (has_code) cut.statements.push_back(std::move(cut.rest));
    return std::move(cut.statements);
}

}  // namespace shortq::cli
