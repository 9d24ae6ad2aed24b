#include "tools/cli/completion.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include "tools/cli/commands.h"
#include "tools/cli/lexer.h"
#include "tools/cli/options.h"

namespace shortq::cli {
namespace {

constexpr auto kBeforeRelations = std::to_array<std::string_view>(
    {"from", "join", "into", "table", "describe", "summarize", "update", "pivot", "unpivot"});
constexpr auto kClauses = std::to_array<std::string_view>(
    {"select", "from",  "join",    "on",       "where",     "group", "having",
     "order",  "limit", "qualify", "set",      "values",    "using", "call",
     "reset",  "into",  "table",   "describe", "summarize", "update"});
constexpr auto kCalls = std::to_array<std::string_view>(
    {"shortq_cancel(", "shortq_drain(", "shortq_kill(", "shortq_reload()"});

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

bool begins_with(std::string_view text, std::string_view beginning) {
    return lower(text.substr(0, beginning.size())) == lower(beginning);
}

// The name without quotes.
std::string bare(std::string_view name) {
    if (!name.starts_with('"')) return lower(name);
    name.remove_prefix(1);
    if (name.ends_with('"')) name.remove_suffix(1);
    return std::string(name);
}

// The words and signs of the code, without spaces and comments; names bare.
std::vector<std::string> code_of(std::string_view text) {
    std::vector<std::string> code;
    for (const auto& token : tokenize(text)) {
        if (token.kind == TokenKind::kSemicolon) {
            code.clear();  // Another statement.
        } else if (token.kind == TokenKind::kWord || token.kind == TokenKind::kQuotedName) {
            code.push_back(bare(token.in(text)));
        } else if (token.is_code()) {
            code.emplace_back(token.in(text));
        }
    }
    return code;
}

// What goes in front of the cursor decides what may follow.
enum class Place : std::uint8_t { kRelation, kCall, kSetting, kExpression };

Place place_after(const std::vector<std::string>& code) {
    std::string_view clause;
    for (const auto& word : code) {
        if (contains(kClauses, word) || contains(kBeforeRelations, word)) clause = word;
    }
    if (code.empty()) return Place::kExpression;
    const auto& last = code.back();
    if (contains(kBeforeRelations, last)) return Place::kRelation;
    if (clause == "from" && last == ",") return Place::kRelation;
    if (last == "call") return Place::kCall;
    if (code.size() == 1 && (last == "set" || last == "reset")) return Place::kSetting;
    return Place::kExpression;
}

class Completer {
public:
    Completer(const Catalogue& catalogue, const Typing& typing)
        : catalogue_(catalogue), typing_(typing) {
        find_aliases();
    }

    std::vector<std::string> run() {
        const auto code = code_of(typing_.before);
        const auto dot = typing_.word.rfind('.');
        if (dot != std::string_view::npos) {
            add_members(typing_.word.substr(0, dot));
            return finish();
        }
        switch (place_after(code)) {
            case Place::kRelation:
                add_relations({});
                add_schemas();
                break;
            case Place::kCall:
                if (typing_.sync) {
                    for (const auto& call : kCalls) add(call);
                }
                break;
            case Place::kSetting:
                for (const auto& setting : catalogue_.settings) add(setting);
                add_keyword("variable");
                break;
            case Place::kExpression:
                add_expressions(code.empty());
                break;
        }
        return finish();
    }

private:
    void add(std::string_view candidate) {
        if (begins_with(candidate, typing_.word)) found_.emplace(candidate);
    }

    // "SEL" becomes "SELECT", "Sel" and "sel" become "select".
    void add_keyword(std::string_view keyword) {
        const bool any_lower = std::ranges::any_of(
            typing_.word, [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; });
        std::string word(keyword);
        if (!typing_.word.empty() && !any_lower) {
            std::ranges::transform(word, word.begin(), [](char c) {
                return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            });
        }
        add(word);
    }

    void add_relations(std::string_view schema) {
        for (const auto& relation : catalogue_.relations) {
            if (relation.schema != schema) continue;
            auto name = quoted_name(relation.name);
            if (!schema.empty()) name = std::string(prefix_) + name;
            add(name);
        }
    }

    void add_schemas() {
        for (const auto& relation : catalogue_.relations) {
            if (!relation.schema.empty()) add(relation.schema + ".");
        }
    }

    // Behind a dot: columns of a table or alias, or tables of a schema.
    void add_members(std::string_view qualifier) {
        const std::string prefix = std::string(qualifier) + ".";
        prefix_ = prefix;
        const auto name = bare(qualifier);
        add_relations(name);
        const auto alias = aliases_.find(name);
        for (const auto& relation : catalogue_.relations) {
            const bool meant =
                alias != aliases_.end() ? alias->second == &relation : is_called(relation, name);
            if (!meant) continue;
            for (const auto& column : relation.columns) add(prefix + quoted_name(column));
        }
    }

    static bool is_called(const Catalogue::Relation& relation, std::string_view name) {
        return relation.name == name ||
               (!relation.schema.empty() && relation.schema + "." + relation.name == name);
    }

    void add_expressions(bool at_start) {
        for (const auto& keyword : catalogue_.keywords) add_keyword(keyword);
        if (at_start) return;
        for (const auto& [alias, relation] : aliases_) {
            add(quoted_name(alias));
            for (const auto& column : relation->columns) add(quoted_name(column));
        }
        if (aliases_.empty() && !typing_.word.empty()) {  // FROM is still to come.
            for (const auto& relation : catalogue_.relations) {
                for (const auto& column : relation.columns) add(quoted_name(column));
            }
        }
        if (typing_.word.empty()) return;  // Thousands of functions help nobody.
        for (const auto& function : catalogue_.functions) add(function + "(");
    }

    // Every table that the statement mentions, under its name and its alias.
    void find_aliases() {
        const auto code = code_of(std::string(typing_.before) + " " + std::string(typing_.after));
        for (std::size_t i = 0; i < code.size(); ++i) {
            auto name = code[i];
            auto next = i + 1;
            while (next + 1 < code.size() && code[next] == ".") {
                name += "." + code[next + 1];
                next += 2;
            }
            for (const auto& relation : catalogue_.relations) {
                const bool full = relation.schema.empty()
                                      ? relation.name == name
                                      : relation.schema + "." + relation.name == name;
                if (!full || !follows_relation_word(code, i)) continue;
                aliases_[relation.name] = &relation;
                if (next < code.size() && code[next] == "as") ++next;
                if (next < code.size() && is_alias(code[next])) aliases_[code[next]] = &relation;
            }
        }
    }

    static bool follows_relation_word(const std::vector<std::string>& code, std::size_t at) {
        return at > 0 && (contains(kBeforeRelations, code[at - 1]) || code[at - 1] == ",");
    }

    [[nodiscard]] bool is_alias(const std::string& word) const {
        const bool name = std::isalpha(static_cast<unsigned char>(word[0])) != 0 || word[0] == '_';
        return name && std::ranges::find(catalogue_.keywords, word) == catalogue_.keywords.end();
    }

    std::vector<std::string> finish() { return {found_.begin(), found_.end()}; }

    const Catalogue& catalogue_;
    const Typing& typing_;
    std::string_view prefix_;
    std::map<std::string, const Catalogue::Relation*> aliases_;
    std::set<std::string> found_;
};

std::vector<std::string> complete_command(const Catalogue& catalogue, const Typing& typing) {
    std::vector<std::string> all;
    const auto command = typing.before.substr(0, typing.before.find(' '));
    if (typing.before.empty()) {
        for (const auto& known : commands()) all.emplace_back(known.name);
    } else if (command == "\\format") {
        all = format_names();
    } else if (command == "\\d") {
        for (const auto& relation : catalogue.relations) {
            const auto schema = relation.schema.empty() ? "" : relation.schema + ".";
            all.push_back(schema + quoted_name(relation.name));
        }
    }
    std::erase_if(all, [&](const std::string& name) { return !begins_with(name, typing.word); });
    std::ranges::sort(all);
    return all;
}

}  // namespace

std::vector<std::string> complete(const Catalogue& catalogue, const Typing& typing) {
    const bool command =
        typing.before.starts_with('\\') || (typing.before.empty() && typing.word.starts_with('\\'));
    if (command && !typing.before.starts_with("\\sync ")) {
        return complete_command(catalogue, typing);
    }
    return Completer(catalogue, typing).run();
}

}  // namespace shortq::cli
