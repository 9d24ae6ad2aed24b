// tests/fuzz/sql_targets.cpp: startup scripts and queries as the engine's side takes them apart:
// statements with their lines, and the gate.
#include <algorithm>

#include "tests/fuzz/fuzz.h"
#include "worker/engine/source.h"
#include "worker/engine/sql_lexer.h"
#include "worker/engine/statement_gate.h"

namespace shortq::fuzz {
namespace {

using engine::Statement;

// ---- script: tokens lie in their statement, in order; the line is where the text says.

void check_tokens(const Statement& statement) {
    const char* at = statement.text.data();
    SHORTQ_FUZZ_CHECK(!statement.tokens.empty());
    SHORTQ_FUZZ_CHECK(statement.tokens.front().begin == at);
    for (const auto& token : statement.tokens) {
        SHORTQ_FUZZ_CHECK(token.length > 0 && token.begin >= at);
        SHORTQ_FUZZ_CHECK(token.text() != ";");
        at = token.begin + token.length;
    }
    SHORTQ_FUZZ_CHECK(at == statement.text.data() + statement.text.size());
}

void run_script(Input input) {
    const auto sql = text_of(input);
    const auto statements = engine::split_statements(sql);
    const char* at = sql.data();
    for (const auto& statement : statements) {
        SHORTQ_FUZZ_CHECK(statement.text.data() >= at);
        const std::string_view before(sql.data(),
                                      static_cast<std::size_t>(statement.text.data() - sql.data()));
        SHORTQ_FUZZ_CHECK(statement.line ==
                          1 + static_cast<std::size_t>(std::ranges::count(before, '\n')));
        check_tokens(statement);
        at = statement.text.data() + statement.text.size();
        SHORTQ_FUZZ_CHECK(at <= sql.data() + sql.size());
        // A statement by itself is that statement.
        const auto alone = engine::split_statements(statement.text);
        SHORTQ_FUZZ_CHECK(alone.size() == 1 && alone.front().text == statement.text);
    }
    if (const auto plain = engine::with_plain_spaces(sql)) {
        SHORTQ_FUZZ_CHECK(!engine::with_plain_spaces(*plain));
        SHORTQ_FUZZ_CHECK(engine::split_statements(*plain).size() == statements.size());
    }
}

std::vector<std::string> script_seeds() {
    return {"create table t as select 42 as a; -- end\nselect * from t;",
            "select 'it''s; one', \"a;b\", e'\\'', x'00ff', $$a;b$$, $tag$ ; $$ $tag$;\n\nselect 2",
            "/* a /* nested; */ */ select $1, $name, ? where 1.5e-3 > 0x1f;\r\nvalues (1);",
            "select\xc2\xa0"
            "1;\xe2\x80\x83select\xe3\x80\x80"
            "2",
            "attach 'x.db' (read_only); use x;"};
}

// ---- names: quoting is undone by the lexer.

void run_names(Input input) {
    const auto name = text_of(input);
    const auto quoted = engine::quote_identifier(name);
    const auto statements = engine::split_statements(quoted);
    SHORTQ_FUZZ_CHECK(statements.size() == 1 && statements.front().tokens.size() == 1);
    const auto& token = statements.front().tokens.front();
    SHORTQ_FUZZ_CHECK(token.kind == engine::TokenKind::kQuotedWord);
    SHORTQ_FUZZ_CHECK(engine::word_of(token) == engine::lower(name));
    const auto literal = engine::quote_literal(name);
    const auto texts = engine::split_statements(literal);
    SHORTQ_FUZZ_CHECK(texts.size() == 1 && texts.front().tokens.size() == 1);
    SHORTQ_FUZZ_CHECK(texts.front().tokens.front().kind == engine::TokenKind::kString);
    static_cast<void>(engine::data_format(std::filesystem::path(std::string(name))));
}

std::vector<std::string> names_seeds() {
    return {"trade", "a\"b", "it's", "hdb/trade.parquet", "x.csv.gz", "\xc3\x84rger"};
}

// ---- gate: what a reader may do, a writer may.

void run_gate(Input input) {
    const auto sql = text_of(input);
    for (const auto& statement : engine::split_statements(sql)) {
        const auto reader = engine::judge(statement, engine::Access::kReadOnly);
        const auto writer = engine::judge(statement, engine::Access::kWritable);
        const auto sync = engine::judge(statement, engine::Access::kSync);
        for (const auto* judged : {&reader, &writer, &sync}) {
            if (!*judged) {
                SHORTQ_FUZZ_CHECK(!judged->error().message.empty());
                continue;
            }
            const auto inner = (*judged)->inner;
            SHORTQ_FUZZ_CHECK(inner.empty() ||
                              (inner.data() >= sql.data() &&
                               inner.data() + inner.size() <= sql.data() + sql.size()));
        }
        SHORTQ_FUZZ_CHECK(!reader || writer);
    }
}

std::vector<std::string> gate_seeds() {
    return {"select 1",
            "with a as (select 1) from a",
            "explain analyze select getenv('x')",
            "explain explain copy (select 1) to 'x'",
            "pivot t on a using sum(b)",
            "prepare p as select nextval('s')",
            "describe t; show tables; summarize t; pragma database_list; pragma enable_profiling",
            "set variable x = 7; begin; insert into t values (1); commit",
            "copy t to 'x.csv'; attach 'y'; export database 'z'; call enable_logging()",
            "select * from \"ENABLE_LOGGING\"(storage='file')",
            "execute p(1); use x; merge into t using s on true when matched then delete"};
}

}  // namespace

std::vector<Target> sql_targets() {
    return {
        {"script", "SQL cut into statements and tokens", 512, run_script, script_seeds},
        {"names", "quoted names and texts, endings of files", 128, run_names, names_seeds},
        {"gate", "statements judged", 512, run_gate, gate_seeds},
    };
}

}  // namespace shortq::fuzz
