#include "worker/engine/statement_gate.h"

#include <duckdb.h>

#include <algorithm>
#include <iterator>
#include <string>

namespace shortq::engine {
namespace {

using Words = std::vector<std::string_view>;

bool contains(const Words& sorted, std::string_view word) {
    return std::ranges::binary_search(sorted, word);
}

// First words of statements that only read, judged further by where they lead.
const Words& reading_verbs() {
    static const Words kWords{"desc",         "describe",    "explain", "from",   "pivot",
                              "pivot_longer", "pivot_wider", "pragma",  "select", "show",
                              "summarize",    "table",       "unpivot", "values", "with"};
    return kWords;
}

// First words of statements that change the engine's own memory or the session, and nothing else.
const Words& changing_verbs() {
    static const Words kWords{"abort",   "alter",  "analyze",    "begin",   "call",  "comment",
                              "commit",  "create", "deallocate", "delete",  "drop",  "end",
                              "execute", "insert", "merge",      "prepare", "reset", "rollback",
                              "set",     "start",  "truncate",   "update",  "use",   "vacuum"};
    return kWords;
}

// First words of statements that reach files, other databases, extensions or the configuration.
const Words& outside_verbs() {
    static const Words kWords{"attach", "checkpoint", "copy",    "detach", "export",
                              "force",  "import",     "install", "load"};
    return kWords;
}

constexpr std::string_view kReadOnlyAllows =
    "allowed are SELECT, FROM, VALUES, WITH, TABLE, PIVOT, EXPLAIN of those, DESCRIBE, SHOW, "
    "SUMMARIZE and reading PRAGMAs";
constexpr std::string_view kWritableAllows =
    "allowed is what stays in this engine's memory: queries, DDL, INSERT/UPDATE/DELETE, SET "
    "VARIABLE, PREPARE and transactions; no files, databases, extensions or settings";

std::string upper(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return out;
}

// Where names are looked up belongs to the one session that all clients of an engine share: who
// changed it would hide everybody's tables, or make the same text mean something else at each
// worker. The message replaces the list of what is allowed.
constexpr std::string_view kSharedSession =
    "clients share this session, and would no longer find their tables; write schema.table";

tl::unexpected<Error> refuse_because(std::string_view what, std::string_view why) {
    return fail(ErrorCode::kReadOnly, std::string(what) + " is refused: " + std::string(why));
}

tl::unexpected<Error> refuse(std::string_view what, Access access) {
    std::string message(what);
    message += " is refused: ";
    if (access == Access::kReadOnly) {
        message += "workers are read-only; ";
        message += kReadOnlyAllows;
    } else {
        message += kWritableAllows;
    }
    return fail(ErrorCode::kReadOnly, std::move(message));
}

class Judge {
public:
    Judge(const Statement& statement, Access access, const std::vector<std::string>& unjudged)
        : text_(statement.text), tokens_(statement.tokens), access_(access), unjudged_(unjudged) {}

    Result<Judgement> run() {
        if (auto calls = judge_calls(); !calls) return tl::unexpected(calls.error());
        if (auto verb = judge_verb(0); !verb) return tl::unexpected(verb.error());
        return judgement_;
    }

private:
    bool read_only() const { return access_ == Access::kReadOnly; }

    bool is_symbol(std::size_t i, char c) const {
        return i < tokens_.size() && tokens_[i].kind == TokenKind::kSymbol &&
               *tokens_[i].begin == c;
    }
    bool is_any_word(std::size_t i) const {
        return i < tokens_.size() &&
               (tokens_[i].kind == TokenKind::kWord || tokens_[i].kind == TokenKind::kQuotedWord);
    }
    // The unquoted word at `i` in lower case; empty if there is none.
    std::string word(std::size_t i) const {
        if (i >= tokens_.size() || tokens_[i].kind != TokenKind::kWord) return {};
        return lower(tokens_[i].text());
    }

    // Every `name (` in the text, wherever it stands, is taken for a call.
    Result<void> judge_calls() {
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            if (!is_any_word(i)) continue;
            const std::string name = word_of(tokens_[i]);
            if (name.starts_with("pivot")) judgement_.pivot = true;
            if (!is_symbol(i + 1, '(')) continue;
            if (contains(refused_functions(), name) ||
                (read_only() && contains(stateful_functions(), name))) {
                return refuse("the function " + name + "()", access_);
            }
            if (std::ranges::binary_search(unjudged_, name)) {
                return refuse_because("the function " + name + "()",
                                      "it came with an extension, and may do more than read; the "
                                      "startup script can offer it as a view or macro");
            }
        }
        return {};
    }

    // EXPLAIN, PREPARE and WITH lead from one verb to the next.
    Result<void> judge_verb(std::size_t at) {
        if (++verbs_ > kVerbsMax) {
            return fail(ErrorCode::kBadRequest,
                        "EXPLAIN, PREPARE and WITH are nested too deeply in each other");
        }
        while (is_symbol(at, '(')) ++at;
        const std::string verb = word(at);
        if (contains(outside_verbs(), verb)) return refuse(upper(verb), access_);
        if (contains(changing_verbs(), verb)) {
            if (read_only()) return refuse(upper(verb), access_);
            return judge_change(verb, at);
        }
        if (!contains(reading_verbs(), verb)) {
            judgement_.known = false;
            return {};
        }
        if (verb == "explain") return judge_explain(at + 1);
        if (verb == "pragma") return judge_pragma(at + 1);
        if (verb == "with") return judge_with(at + 1);
        return {};
    }

    // EXPLAIN [ANALYZE] [(option [value], ...)] statement
    Result<void> judge_explain(std::size_t at) {
        if (word(at) == "analyze") ++at;
        // A parenthesis may also open the statement: EXPLAIN (SELECT 1).
        if (is_symbol(at, '(') && !is_statement_word(at + 1) && !is_symbol(at + 1, '(')) {
            while (at < tokens_.size() && !is_symbol(at, ')')) ++at;
            ++at;
        }
        return judge_inner(at);
    }

    bool is_statement_word(std::size_t at) const {
        const std::string verb = word(at);
        return verb != "analyze" &&
               (contains(reading_verbs(), verb) || contains(changing_verbs(), verb) ||
                contains(outside_verbs(), verb));
    }

    Result<void> judge_inner(std::size_t at) {
        if (at >= tokens_.size()) return {};  // The parser reports it.
        const auto begin = static_cast<std::size_t>(tokens_[at].begin - text_.data());
        judgement_.inner = text_.substr(begin);
        return judge_verb(at);
    }

    Result<void> judge_pragma(std::size_t at) {
        const std::string name = is_any_word(at) ? word_of(tokens_[at]) : std::string();
        const bool assigns = is_symbol(at + 1, '=');
        if (!assigns && contains(reading_pragmas(), name)) return {};
        return refuse("PRAGMA " + name + (assigns ? " =" : ""), access_);
    }

    // The verb is the first statement word at depth 0 behind a closing parenthesis.
    Result<void> judge_with(std::size_t at) {
        std::size_t depth = 0;
        for (; at < tokens_.size(); ++at) {
            if (is_symbol(at, '(')) ++depth;
            if (is_symbol(at, ')') && depth > 0) --depth;
            if (depth == 0 && is_symbol(at, ')') && is_statement_word(at + 1)) {
                return judge_verb(at + 1);
            }
        }
        return {};  // The parser, or the statement's class, has the word.
    }

    Result<void> judge_change(const std::string& verb, std::size_t at) {
        if (verb == "set" || verb == "reset") return judge_set(verb, at + 1);
        if (verb == "call") return {};  // Its function has been judged.
        if (verb == "use") return refuse_because("USE", kSharedSession);
        if (verb == "alter" && word(at + 1) == "database") {
            return refuse_because("ALTER DATABASE", kSharedSession);
        }
        if (verb == "create" || verb == "drop") return judge_secret(verb, at + 1);
        if (verb == "update" && word(at + 1) == "extensions") {
            return refuse("UPDATE EXTENSIONS", access_);
        }
        judgement_.transaction = verb == "begin" || verb == "start" || verb == "commit" ||
                                 verb == "end" || verb == "rollback" || verb == "abort" ||
                                 verb == "execute";
        if (verb == "prepare") return judge_prepare(at + 1);
        return {};
    }

    Result<void> judge_set(const std::string& verb, std::size_t at) {
        const std::string scope = word(at);
        const bool scoped = scope == "session" || scope == "local" || scope == "global";
        if (word(at + (scoped ? 1 : 0)) == "variable") return {};
        if (verb == "set" && (scope == "schema" || scope == "search_path")) {
            return refuse_because("SET " + upper(scope), kSharedSession);
        }
        return refuse(upper(verb) + " of a setting", access_);
    }

    // CREATE [OR REPLACE] [PERSISTENT | TEMPORARY] SECRET keeps credentials, maybe in a file.
    Result<void> judge_secret(const std::string& verb, std::size_t at) {
        for (std::size_t i = at; i < std::min(at + 4, tokens_.size()); ++i) {
            if (word(i) == "secret") return refuse(upper(verb) + " SECRET", access_);
            if (word(i) == "table" || word(i) == "view" || word(i) == "schema") return {};
        }
        return {};
    }

    // PREPARE name [(types)] AS statement
    Result<void> judge_prepare(std::size_t at) {
        while (at < tokens_.size() && word(at) != "as") ++at;
        return judge_inner(at + 1);
    }

    static constexpr int kVerbsMax = 8;  // Valid SQL has three.

    std::string_view text_;
    const std::vector<Token>& tokens_;
    int verbs_ = 0;
    Access access_;
    const std::vector<std::string>& unjudged_;
    Judgement judgement_;
};

}  // namespace

const std::vector<std::string_view>& refused_functions() {
    static const Words kWords = [] {
        Words words{
            // Take addresses of memory as arguments, or expect the planner's own.
            "arrow_scan", "arrow_scan_dumb", "seq_scan",
            // Take SQL as text, out of the gate's sight.
            "json_execute_serialized_sql", "json_serialize_plan", "query", "read_duckdb",
            // Change the engine for every later query: its log, profile, parser and storage.
            "checkpoint", "disable_logging", "disable_peg_parser", "disable_profiling",
            "enable_logging", "enable_peg_parser", "enable_profiling", "force_checkpoint",
            "truncate_duckdb_logs", "write_log"};
        std::ranges::sort(words);
        return words;
    }();
    return kWords;
}

const std::vector<std::string_view>& stateful_functions() {
    static const Words kWords{"nextval", "setseed"};
    return kWords;
}

const std::vector<std::string_view>& reading_pragmas() {
    static const Words kWords{"collations",
                              "database_list",
                              "database_size",
                              "extension_versions",
                              "functions",
                              "metadata_info",
                              "platform",
                              "show",
                              "show_databases",
                              "show_tables",
                              "show_tables_expanded",
                              "storage_info",
                              "table_info",
                              "user_agent",
                              "version"};
    return kWords;
}

Result<Judgement> judge(const Statement& statement, Access access,
                        const std::vector<std::string>& unjudged) {
    return Judge(statement, access, unjudged).run();
}

Result<void> judge_pivot_part(int statement_class) {
    switch (statement_class) {
        case DUCKDB_STATEMENT_TYPE_CREATE:
        case DUCKDB_STATEMENT_TYPE_TRANSACTION:
        case DUCKDB_STATEMENT_TYPE_SELECT:
        case DUCKDB_STATEMENT_TYPE_EXPLAIN:
            return {};
        default:
            break;
    }
    return refuse("a part of class " + std::to_string(statement_class) + " of a PIVOT",
                  Access::kReadOnly);
}

Result<void> judge_class(int statement_class, Access access) {
    constexpr int kMergeInto = 30;  // Outside the C enum.
    switch (statement_class) {
        case DUCKDB_STATEMENT_TYPE_SELECT:
        case DUCKDB_STATEMENT_TYPE_EXPLAIN:
            return {};
        case DUCKDB_STATEMENT_TYPE_INSERT:
        case DUCKDB_STATEMENT_TYPE_UPDATE:
        case DUCKDB_STATEMENT_TYPE_DELETE:
        case kMergeInto:
        case DUCKDB_STATEMENT_TYPE_PREPARE:
        case DUCKDB_STATEMENT_TYPE_EXECUTE:
        case DUCKDB_STATEMENT_TYPE_CREATE:
        case DUCKDB_STATEMENT_TYPE_CREATE_FUNC:
        case DUCKDB_STATEMENT_TYPE_ALTER:
        case DUCKDB_STATEMENT_TYPE_DROP:
        case DUCKDB_STATEMENT_TYPE_TRANSACTION:
        case DUCKDB_STATEMENT_TYPE_ANALYZE:
        case DUCKDB_STATEMENT_TYPE_VACUUM:
        case DUCKDB_STATEMENT_TYPE_CALL:
        case DUCKDB_STATEMENT_TYPE_VARIABLE_SET:
        case DUCKDB_STATEMENT_TYPE_SET:  // The tokens said which.
            if (access != Access::kReadOnly) return {};
            break;
        default:
            break;
    }
    return refuse("a statement of class " + std::to_string(statement_class), access);
}

}  // namespace shortq::engine
