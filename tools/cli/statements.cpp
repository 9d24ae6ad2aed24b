#include "tools/cli/statements.h"

#include <algorithm>
#include <cctype>

namespace shortq::cli {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// Each returns the place after the part that starts at `at`; the end if it is never closed.
std::size_t after_quoted(std::string_view text, std::size_t at, bool backslashes) {
    const char quote = text[at];
    for (++at; at < text.size(); ++at) {
        if (backslashes && text[at] == '\\') {
            ++at;
        } else if (text[at] == quote) {
            return at + 1;  // A doubled quote begins the next quoted part at once.
        }
    }
    return text.size();
}

std::size_t after_line_comment(std::string_view text, std::size_t at) {
    return std::min(text.find('\n', at), text.size());
}

std::size_t after_block_comment(std::string_view text, std::size_t at) {
    int depth = 0;
    while (at < text.size()) {
        const auto two = text.substr(at, 2);
        if (two == "/*") {
            ++depth;
            at += 2;
        } else if (two == "*/") {
            at += 2;
            if (--depth == 0) return at;
        } else {
            ++at;
        }
    }
    return text.size();
}

// `at` is a dollar sign: of $tag$...$tag$, or of a parameter such as $1.
std::size_t after_dollar(std::string_view text, std::size_t at) {
    auto end = at + 1;
    while (end < text.size() && is_word(text[end])) ++end;
    const bool parameter =
        at + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[at + 1]));
    if (end >= text.size() || text[end] != '$' || parameter) return at + 1;
    const auto tag = text.substr(at, end + 1 - at);
    const auto close = text.find(tag, end + 1);
    return close == std::string_view::npos ? text.size() : close + tag.size();
}

class Splitter {
public:
    explicit Splitter(std::string_view text) : text_(text) {}

    std::vector<std::string> run() {
        while (at_ < text_.size()) step();
        finish();
        return std::move(statements_);
    }

private:
    void step() {
        const char c = text_[at_];
        const auto two = text_.substr(at_, 2);
        if (two == "--") {
            at_ = after_line_comment(text_, at_);
        } else if (two == "/*") {
            at_ = after_block_comment(text_, at_);
        } else if (c == ';') {
            finish();
            begin_ = ++at_;
        } else if (is_space(c)) {
            ++at_;
        } else {
            has_code_ = true;
            at_ = after_code(c);
        }
    }

    std::size_t after_code(char c) const {
        if (c == '\'') return after_quoted(text_, at_, is_escape_string());
        if (c == '"') return after_quoted(text_, at_, false);
        if (c == '$' && (at_ == 0 || !is_word(text_[at_ - 1]))) return after_dollar(text_, at_);
        return at_ + 1;
    }

    // e'...': the letter is a word of its own.
    bool is_escape_string() const {
        return at_ > begin_ && (text_[at_ - 1] | 0x20) == 'e' &&
               (at_ < 2 || !is_word(text_[at_ - 2]));
    }

    void finish() {
        auto statement = text_.substr(begin_, at_ - begin_);
        while (!statement.empty() && is_space(statement.front())) statement.remove_prefix(1);
        while (!statement.empty() && is_space(statement.back())) statement.remove_suffix(1);
        if (has_code_) statements_.emplace_back(statement);
        has_code_ = false;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t begin_ = 0;
    bool has_code_ = false;
    std::vector<std::string> statements_;
};

}  // namespace

std::vector<std::string> split_statements(std::string_view script) {
    return Splitter(script).run();
}

}  // namespace shortq::cli
