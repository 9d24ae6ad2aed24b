#include "tools/cli/hints.h"

#include <algorithm>
#include <numeric>

#include "tools/cli/lexer.h"

namespace shortq::cli {
namespace {

// How many letters have to be typed, taken away or changed.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        auto diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const auto changed = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

// `shortq.` or a call of ours in the code, not in a text or comment.
bool speaks_of_the_primary(std::string_view query) {
    const auto tokens = tokenize(query);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].kind != TokenKind::kWord) continue;
        const auto word = lower(tokens[i].in(query));
        if (word == "shortq" && i + 1 < tokens.size() && tokens[i + 1].in(query) == ".")
            return true;
        if (word.starts_with("shortq_")) return true;
    }
    return false;
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
    std::string nearest;
    auto best = std::max<std::size_t>(name.size() / 3, 1) + 1;
    for (const auto& candidate : known) {
        const auto far = distance(name, candidate);
        const bool begins = name.size() >= 3 && candidate.starts_with(name);
        const auto cost = begins ? std::min<std::size_t>(far, 1) : far;
        if (cost >= best) continue;
        best = cost;
        nearest = candidate;
    }
    return nearest;
}

std::string hint_for_deferred(const Error& error, std::string_view query, std::string_view advice) {
    const bool may_be = error.code == ErrorCode::kQueryError || error.code == ErrorCode::kReadOnly;
    if (!may_be || !speaks_of_the_primary(query)) return {};
    return "the views and calls of shortq are at the primary: " + std::string(advice);
}

}  // namespace shortq::cli
